package step

import (
	"context"
	"sync"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/executor"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
)

// Runtime is what the graphs of one session share in one task.
type Runtime struct {
	Devices  *device.Set
	Kernels  Kernels
	Pool     *memory.Pool
	Parallel func(n, grain int, f func(lo, hi int))
}

// A Graph is ready to run: an executor for each device that has a part in it.
type Graph struct {
	rt    *Runtime
	execs []*executor.Executor
	parts []*graph.Graph
}

// Build splits g, which is placed on devices of this task, by device, and
// prepares an executor for each part.
func (rt *Runtime) Build(g *graph.Graph) (*Graph, error) {
	parts, err := pass.Partition(g, pass.PartitionOptions{
		NodeToLoc:   func(n *graph.Node) string { return n.Device },
		NewName:     pass.Names("G"),
		Incarnation: rt.incarnation,
	})
	if err != nil {
		return nil, err
	}
	out := &Graph{rt: rt}
	for _, d := range rt.Devices.List() {
		part := parts[d.Spec().String()]
		if part == nil {
			continue
		}
		delete(parts, d.Spec().String())
		e, err := executor.New(part, executor.Params{Device: d, Kernel: rt.Kernels.For(d), Pool: rt.Pool})
		if err != nil {
			return nil, err
		}
		out.execs, out.parts = append(out.execs, e), append(out.parts, part)
	}
	for name := range parts {
		return nil, tf.Errorf(tf.InvalidArgument, "nodes must be placed on devices of this task, one is on %q", name)
	}
	return out, nil
}

func (rt *Runtime) incarnation(name string) uint64 {
	if d := rt.Devices.Lookup(name); d != nil {
		return d.Incarnation()
	}
	return 0
}

// Partitions returns the graphs by device, for those who ask to see them.
func (g *Graph) Partitions() []*graph.Graph { return g.parts }

// Rendezvous is what a step needs of its rendezvous: to end it.
type Rendezvous interface {
	tf.Rendezvous
	Abort(err error)
}

// Args is what one step brings along.
type Args struct {
	ID         int64
	Rendezvous Rendezvous
	Frame      tf.CallFrame
}

// Run runs one step and waits for its end. The first error of any part ends
// all of them; so does the end of ctx.
func (g *Graph) Run(ctx context.Context, a Args) error {
	r := &run{rendezvous: a.Rendezvous, left: len(g.execs), done: make(chan struct{})}
	step := tf.Step{ID: a.ID, Context: ctx, Rendezvous: a.Rendezvous, Frame: a.Frame, Parallel: g.rt.Parallel}
	step.Container = stepContainer(a.ID)
	if ctx.Done() != nil {
		if err := context.Cause(ctx); err != nil {
			return stepEnded(err)
		}
		var cancel context.CancelFunc
		step.Context, cancel = context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(ctx, func() { r.fail(stepEnded(context.Cause(ctx))) })()
	}
	for i, e := range g.execs {
		step.Resources = g.rt.Devices.Lookup(g.partDevice(i)).Resources()
		r.add(e.Start(step, r.fail, r.end))
	}
	<-r.done
	g.clearStep(step.Container)
	return r.err
}

func (g *Graph) partDevice(i int) string { return g.parts[i].Nodes[0].Device }

// clearStep drops what lives as long as a step.
func (g *Graph) clearStep(container string) {
	for i := range g.parts {
		g.rt.Devices.Lookup(g.partDevice(i)).Resources().Clear(container)
	}
}

// stepEnded says why a step was ended from outside.
func stepEnded(cause error) error {
	if tf.CodeOf(cause) == tf.DeadlineExceeded {
		return &tf.Error{Code: tf.DeadlineExceeded, Msg: "Timed out waiting for the step to finish", Err: cause}
	}
	return &tf.Error{Code: tf.Canceled, Msg: "Step was cancelled", Err: cause}
}

// run is one step in progress.
type run struct {
	rendezvous Rendezvous
	mu         sync.Mutex
	left       int
	err        error
	runs       []*executor.Run
	done       chan struct{}
}

// add takes note of a part that has been started; if the step has failed
// meanwhile, so does the part.
func (r *run) add(x *executor.Run) {
	r.mu.Lock()
	r.runs = append(r.runs, x)
	err := r.err
	r.mu.Unlock()
	if err != nil {
		x.Fail(err)
	}
}

// fail ends the whole step.
func (r *run) fail(err error) {
	r.mu.Lock()
	first := r.err == nil
	if first {
		r.err = err
	}
	runs := r.runs
	r.mu.Unlock()
	if !first {
		return
	}
	r.rendezvous.Abort(err)
	for _, x := range runs {
		x.Fail(err)
	}
}

// end counts the parts that have ended.
func (r *run) end(error) {
	r.mu.Lock()
	r.left--
	over := r.left == 0
	r.mu.Unlock()
	if over {
		close(r.done)
	}
}
