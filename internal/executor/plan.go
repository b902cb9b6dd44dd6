// Package executor runs one partition of a graph on one device: each node once
// all its inputs are there, dead inputs making dead outputs, until nothing is
// left to do or an error ends it.
//
// An Executor is prepared once per graph: slots for all outputs, what each
// node waits for, whom it wakes. A step then works in a State that is taken
// from a free list, so that in a steady state a step allocates only what
// leaves it.
package executor

import (
	"sync"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
)

// An Executor runs one graph, any number of times, at once if need be.
type Executor struct {
	items  []item
	roots  []int32
	slots  int // outputs of all nodes together
	device tf.Device
	pool   *memory.Pool

	mu   sync.Mutex
	free []*state
}

// item is a node as the executor sees it.
type item struct {
	node   *tf.Node
	sync   tf.Compute
	async  tf.AsyncCompute
	in     []int32 // slot that each input comes from
	deref  []bool  // the input is the value of a reference
	out    int32   // slot of output 0
	wakes  []wake  // whom the node's end concerns
	waits  int32   // inputs to wait for
	input0 int32   // where the node's inputs begin in State.in
	kind   kind
}

// wake is an edge out of a node.
type wake struct {
	to  int32
	out int16 // output it carries, or control
	arg int16 // input of the consumer
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
)

var kinds = map[string]kind{
	"Merge": merge, "RefMerge": merge,
	"_Send": transfer, "_Recv": transfer, "_HostSend": transfer, "_HostRecv": transfer, "Send": transfer, "Recv": transfer,
	"Switch": switching, "RefSwitch": switching, "_SwitchN": switching, "ControlTrigger": trigger,
}

// loops are the ops that only make sense with frames.
var loops = map[string]bool{"Enter": true, "Exit": true, "NextIteration": true, "RefEnter": true, "RefExit": true, "RefNextIteration": true}

// Params is what an executor needs to know besides its graph.
type Params struct {
	Device tf.Device
	// Kernel returns the kernel of a node: stateful ones are shared by all
	// executors of a session.
	Kernel func(*tf.Node) (tf.Kernel, error)
	Pool   *memory.Pool
}

// New prepares g, all of whose nodes are on the device of p.
func New(g *graph.Graph, p Params) (*Executor, error) {
	order, err := g.Sorted()
	if err != nil {
		return nil, err
	}
	e := &Executor{items: make([]item, len(order)), device: p.Device, pool: p.Pool}
	place := make([]int32, len(order)) // by node ID: position in items
	for i, n := range order {
		place[n.ID] = int32(i)
	}
	inputs := int32(0)
	for i, n := range order {
		if err := e.items[i].init(n, &p); err != nil {
			return nil, tf.AtNode(err, &n.Node, describe(n))
		}
		e.items[i].out, e.items[i].input0 = int32(e.slots), inputs
		e.slots += len(n.OutTypes)
		inputs += int32(len(n.In))
	}
	for i, n := range order {
		e.connect(int32(i), n, place)
	}
	return e, nil
}

func describe(n *graph.Node) []string {
	out := make([]string, len(n.In))
	for i, e := range n.In {
		out[i] = e.Name() + " " + e.Type().String()
	}
	return out
}

// init finds the kernel of n.
func (it *item) init(n *graph.Node, p *Params) error {
	if loops[n.OpName()] {
		return tf.Errorf(tf.Unimplemented, "loops (%s) are not run yet", n.OpName())
	}
	k, err := p.Kernel(&n.Node)
	if err != nil {
		return err
	}
	it.node, it.kind = &n.Node, kinds[n.OpName()]
	switch k := k.(type) {
	case tf.Compute:
		it.sync = k
	case tf.AsyncCompute:
		it.async = k
	default:
		return tf.Errorf(tf.Internal, "a kernel must be a Compute or an AsyncCompute, got %T", k)
	}
	return nil
}

// connect fills in the edges into node i.
func (e *Executor) connect(i int32, n *graph.Node, place []int32) {
	it := &e.items[i]
	it.in, it.deref = make([]int32, len(n.In)), make([]bool, len(n.In))
	for k, x := range n.In {
		src := &e.items[place[x.Node.ID]]
		it.in[k] = src.out + int32(x.Out)
		it.deref[k] = x.Type().IsRef() && !n.InTypes[k].IsRef()
		src.wakes = append(src.wakes, wake{i, int16(x.Out), int16(k)})
	}
	for _, c := range n.Control {
		src := &e.items[place[c.ID]]
		src.wakes = append(src.wakes, wake{i, control, 0})
	}
	it.waits = int32(len(n.In) + len(n.Control))
	if it.kind == merge {
		// Control inputs count double, so that the lowest bit tells
		// whether a live data input has come.
		it.waits = 1 + 2*int32(len(n.Control))
	}
	if len(n.In)+len(n.Control) == 0 {
		e.roots = append(e.roots, i)
	}
}
