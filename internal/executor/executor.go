package executor

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// An Executor runs one graph, any number of times, at once if need be. All
// methods may be called from any goroutine.
type Executor struct {
	items  []item
	frames []layout // of the root, and of each loop
	roots  []int32  // nodes without inputs
	device core.Device
	pool   *memory.Pool
	inline bool
	// workers bounds the goroutines that compute heavy nodes; 0: there are none.
	workers int
	short   time.Duration // kernels that take less are not run apart

	nodes     []*graph.Node // by item
	labelling sync.Once
	labels    []string // by item, for traces

	mu   sync.Mutex
	free []*run
}

// Params is what an executor needs to know besides its graph.
type Params struct {
	Device core.Device
	// Kernel returns the kernel of a node: stateful ones are shared by all
	// executors of a session.
	Kernel func(*core.Node) (core.Kernel, error)
	// Pool is where kernels get the memory of tensors from.
	Pool *memory.Pool
	// Workers bounds the nodes that are computed at once; 0 and 1: one after
	// the other, though kernels may use more threads.
	Workers int
	// Short is the time of kernels below which they are not worth a goroutine
	// of their own; 0: about what it takes to wake one.
	Short time.Duration
}

// New prepares g, all of whose nodes are on the device of p.
func New(g *graph.Graph, p Params) (*Executor, error) {
	order, err := g.Sorted()
	if err != nil {
		return nil, err
	}
	if order, err = thrifty(g, order); err != nil {
		return nil, err
	}
	order = lateLast(order)
	b := builder{Executor: &Executor{items: make([]item, len(order)), nodes: order, device: p.Device, pool: p.Pool, short: cmp.Or(p.Short, shortKernel)}, order: order}
	if err := b.assignFrames(g); err != nil {
		return nil, err
	}
	for i, n := range order {
		if err := g.Budget.Visit(1); err != nil {
			return nil, err
		}
		if err := b.items[i].init(n, &p); err != nil {
			return nil, core.AtNode(err, &n.Node, describe(n))
		}
	}
	b.assignSlots()
	for i := range order {
		if err := g.Budget.Visit(1); err != nil {
			return nil, err
		}
		b.connect(int32(i))
	}
	b.findHeavy(p.Workers)
	b.finish()
	return b.Executor, nil
}

func describe(n *graph.Node) []string {
	out := make([]string, len(n.In))
	for i, e := range n.In {
		out[i] = e.Name() + " " + e.Type().String()
	}
	return out
}

// Inline reports whether no node ever waits and none is skipped: then all
// nodes run one after the other on the goroutine that calls Run.
func (e *Executor) Inline() bool { return e.inline }

// Run runs an executor that is Inline. The end of the step's context ends the
// run after the node that is being computed.
func (e *Executor) Run(step *core.Step) error {
	r := e.take(step)
	err := r.runInOrder()
	r.recycle(err != nil)
	return err
}

// Hooks are what a run calls.
type Hooks struct {
	Done func(error) // once, when everything has ended
	Fail func(error) // before, at the first error, so that what waits elsewhere for this run can be told
	// Resume has work, which runs what has become ready, called once, and does
	// not wait for that; nil: a new goroutine does so.
	Resume func(work func())
	// Pieces says that the client waits for fetches before it feeds the rest:
	// no node is put off until the others have run.
	Pieces bool
}

// Start runs the graph. Nodes that need not wait run before Start returns, on
// the calling goroutine. The end of the step's context is an error; kernels that
// wait have to hear of it by themselves.
func (e *Executor) Start(step *core.Step, h Hooks) {
	if e.inline {
		err := e.Run(step)
		if err != nil {
			h.Fail(err)
		}
		h.Done(err)
		return
	}
	r := e.take(step)
	r.hooks, r.running = h, true
	r.begin()
	r.work()
}

// take returns a run's memory, ready for its first node.
func (e *Executor) take(step *core.Step) *run {
	e.mu.Lock()
	var r *run
	if n := len(e.free); n > 0 {
		r, e.free = e.free[n-1], e.free[:n-1]
	}
	e.mu.Unlock()
	if r == nil {
		r = e.newRun()
	}
	r.step = *step
	r.step.Device = e.device
	if step.Context != nil {
		r.ended = step.Context.Done()
	}
	return r
}

// String describes e for debugging.
func (e *Executor) String() string {
	return fmt.Sprintf("executor of %d nodes on %v", len(e.items), e.device.Spec())
}
