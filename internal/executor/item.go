package executor

import (
	"strings"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf/core"
)

// item is a node as the executor sees it. Slots are numbered within a frame.
type item struct {
	node     *core.Node
	sync     core.Compute
	untimed  core.Compute // what sync calls, if that measures it
	async    core.AsyncCompute
	in       []int32      // slot that each input comes from
	deref    []bool       // the input is the value of a reference; nil: none is
	last     []int32      // slots that are not read after this node, when all run in order
	wakes    []wake       // nodes that wait for this one
	out      int32        // slot of output 0, in frame target
	local    int32        // number of the node within its frame
	waits    int32        // inputs to wait for
	first    int32        // where the node's inputs begin among those of its frame
	frame    int32        // where it runs
	target   int32        // where its outputs go; frame but for Enter and Exit
	types    []core.DType // of the outputs, without what makes references
	kind     kind
	refs     bool // takes references as they are
	constant bool // an Enter of what is the same in all iterations
	heavy    bool // may take long, and other nodes could run meanwhile
	reads    bool // reads a variable: runs before others that are ready
	late     bool // runs when all others have

	time atomic.Int64 // nanoseconds that a heavy kernel takes, 0 before its first run
}

// wake is an edge out of a node.
type wake struct {
	to  int32
	out int32 // output it carries, or control
	arg int32 // input of the consumer
}

const control = -1

// kind tells the nodes that treat dead inputs in a way of their own.
type kind uint8

const (
	ordinary  kind = iota
	merge          // runs with its first live input
	transfer       // runs even if dead: a peer waits for it
	switching      // may leave outputs unset, which makes them dead
	trigger        // ControlTrigger: never dead
	enter          // puts its input into a new loop
	exit           // puts its input where the loop was entered
	next           // puts its input into the loop's next iteration
)

var kinds = map[core.Role]kind{
	core.Merges: merge, core.Sends: transfer, core.Receives: transfer, core.Switches: switching, core.NeverDies: trigger,
	core.Enters: enter, core.Exits: exit, core.Repeats: next,
}

// init finds the kernel of n.
func (it *item) init(n *graph.Node, p *Params) error {
	n.SetSources(func(i int) string { return strings.TrimSuffix(n.In[i].Name(), ":0") })
	k, err := p.Kernel(&n.Node)
	if err != nil {
		return err
	}
	it.node, it.kind = &n.Node, kinds[n.Role()]
	for _, d := range n.OutTypes {
		it.types = append(it.types, d.Base())
	}
	it.constant = it.kind == enter && n.Bool("is_constant")
	it.late, it.reads = pass.IsLate(n), n.Def.Has(core.ReadsVariable)
	var sync bool
	if it.sync, sync = core.AsCompute(k); sync {
		return nil
	}
	switch k := k.(type) {
	case core.AsyncCompute:
		it.async = k
	default:
		return core.Errorf(core.Internal, "a kernel must be a Compute or an AsyncCompute, got %T", k)
	}
	return nil
}

// initInputs says where the inputs come from.
func (it *item) initInputs(n *graph.Node, slot func(graph.Edge) int32) {
	it.in = make([]int32, len(n.In))
	for k, x := range n.In {
		it.in[k] = slot(x)
		switch {
		case n.InTypes[k].IsRef():
			it.refs = true
		case x.Type().IsRef():
			if it.deref == nil {
				it.deref = make([]bool, len(n.In))
			}
			it.deref[k] = true
		}
	}
	it.waits = int32(len(n.In) + len(n.Control))
	if it.kind == merge {
		// Control inputs count double, so that the lowest bit tells
		// whether a live data input has come.
		it.waits = 1 + 2*int32(len(n.Control))
	}
}

// follows reports whether the node can be run in a fixed order with others:
// it never waits and is never skipped.
func (it *item) follows() bool {
	return it.async == nil && !it.heavy && (it.kind == ordinary || it.kind == transfer || it.kind == trigger)
}
