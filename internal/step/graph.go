package step

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/executor"
	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/recompute"
	"github.com/gorge-tf/gorge/tf/core"
)

// Runtime is what the graphs of one session share in one task.
type Runtime struct {
	Devices  *device.Set
	Kernels  Kernels
	Pool     *memory.Pool
	Parallel func(n, grain int, f func(lo, hi int))
	Begin    func(n, grain int, f func(lo, hi int)) (ended func(wait bool) bool) // see core.Step
	// Alone is what Parallel is on the caller alone; nil: steps do not try whether that
	// is better.
	Alone func(n, grain int, f func(lo, hi int))
	// Workers bounds the nodes of one part that are computed at once; 0: as
	// many as there are cores.
	Workers int
	// Remote runs functions on devices of other tasks; nil: that is not possible.
	Remote Remote
	// Collectives does what several devices do together; nil: that is not possible.
	Collectives core.Collectives
	// Kept are the tensors that the session keeps; nil: it keeps none.
	Kept *Kept
	// InProcess says that no other task takes part in the session's steps.
	InProcess bool
	// Limits bound planning and calls of functions.
	Limits graph.Limits
	edges  atomic.Int64 // nodes that partitions have added, in process
}

// sessionTensors keeps a nil Kept from becoming something that is not nil.
func (rt *Runtime) sessionTensors() core.SessionTensors {
	if rt.Kept == nil {
		return nil
	}
	return rt.Kept
}

// Remote runs functions on other tasks.
type Remote interface {
	// CallRemote runs f, of the given library, on a device, and waits for its
	// results. The arguments stay the caller's.
	CallRemote(ctx context.Context, device string, library *core.Library, f core.Func, in []*core.Tensor) ([]*core.Tensor, error)
}

// A Graph is ready to run, any number of steps at once: an executor for each
// device that has a part in it.
type Graph struct {
	rt        *Runtime
	parts     []part
	functions *functions
	sharing   sharing
}

type part struct {
	graph  *graph.Graph
	device core.Device
	exec   *executor.Executor
}

// Build optimizes g, which is placed on devices of this task, splits it by
// device, and prepares an executor for each part. It takes over g. The passes
// named disabled are left out, for g and the functions that it calls.
func (rt *Runtime) Build(g *graph.Graph, o BuildOptions) (*Graph, error) {
	of := o
	of.FoldNorms, of.Spare = false, nil // functions are made ready later, by any goroutine
	if !calls(g) {
		return rt.build(g, nil, o)
	}
	return rt.build(g, newFunctions(rt, g.Library, of), o)
}

// calls reports whether nodes of g may call functions: those of its library, their
// own bodies, or what their kernels compose.
func calls(g *graph.Graph) bool {
	return g.Library != nil || slices.ContainsFunc(g.Nodes, func(n *graph.Node) bool { return n.Def.Body != nil || n.Def.Composes })
}

// BuildOptions are what a session's configuration says of its graphs.
type BuildOptions struct {
	Disabled []string // passes to leave out
	// Soft lets operations in functions that ask for a device that is not there run
	// elsewhere. Those of the graph itself have been placed.
	Soft bool
	// Recompute says which values gradients have computed again.
	Recompute recompute.Options
	// LogFusion is told which nodes were fused; nil: nothing is told.
	LogFusion func(string)
	// FoldNorms and Spare are those of pass.Options, for the graph without the
	// functions that it calls.
	FoldNorms bool
	Spare     *int
}

// build is Build for a graph whose nodes call the given functions.
func (rt *Runtime) build(g *graph.Graph, fs *functions, o BuildOptions) (*Graph, error) {
	if err := pass.CheckCalls(g); err != nil {
		return nil, err
	}
	if err := pass.Optimize(g, pass.Options{Disabled: o.Disabled, FoldNorms: o.FoldNorms, Spare: o.Spare, Eval: rt.evaluator(g.Budget.Context()).eval}); err != nil {
		return nil, err
	}
	if err := pass.FetchLate(g); err != nil {
		return nil, err
	}
	graphs, err := pass.Partition(g, pass.PartitionOptions{
		NodeToLoc:   func(n *graph.Node) string { return n.Device },
		NewName:     rt.names(),
		Incarnation: rt.incarnation,
	})
	if err != nil {
		return nil, err
	}
	out := &Graph{rt: rt, functions: fs}
	out.sharing.left.Store(firstTrial)
	for _, d := range rt.Devices.List() {
		name := d.Spec().String()
		if graphs[name] == nil {
			continue
		}
		if err := out.add(graphs[name], d, o); err != nil {
			return nil, err
		}
		delete(graphs, name)
	}
	for name := range graphs {
		return nil, core.Errorf(core.InvalidArgument, "nodes must be placed on devices of this task, one is on %q", name)
	}
	return out, nil
}

func (g *Graph) add(p *graph.Graph, d core.Device, o BuildOptions) error {
	if err := pass.ReadLate(p); err != nil {
		return err
	}
	if err := pass.MarkConstantFilters(p); err != nil {
		return err
	}
	kernels := g.rt.Kernels.For(d)
	if pass.Enabled(pass.Recomputation, o.Disabled) {
		if err := recomputed(p, kernels, o.Recompute); err != nil {
			return err
		}
	}
	kernels, err := inBlocks(p, d, kernels, o)
	if err != nil {
		return err
	}
	if d.Spec().Type == "CPU" && pass.Enabled(pass.Fusion, o.Disabled) {
		if kernels, err = fused(p, kernels, o); err != nil {
			return err
		}
	} else if o.LogFusion != nil {
		o.LogFusion(notFused(p, d))
	}
	e, err := executor.New(p, executor.Params{
		Device: d, Kernel: kernels, Pool: g.rt.Pool, Workers: cmp.Or(g.rt.Workers, runtime.GOMAXPROCS(0)),
	})
	g.parts = append(g.parts, part{p, d, e})
	return err
}

// names returns what names the nodes that a partition adds. Readers of traces know
// those of a session in one process by "/_".
func (rt *Runtime) names() func(string) string {
	if !rt.InProcess {
		return pass.Names("G")
	}
	return func(old string) string { return fmt.Sprintf("%s/_%d", old, rt.edges.Add(1)-1) }
}

func (rt *Runtime) incarnation(name string) uint64 {
	if d := rt.Devices.Lookup(name); d != nil {
		return d.Incarnation()
	}
	return 0
}

// Partitions returns the graphs by device, for steps that report them.
func (g *Graph) Partitions() []*graph.Graph {
	out := make([]*graph.Graph, len(g.parts))
	for i := range g.parts {
		out[i] = g.parts[i].graph
	}
	return out
}
