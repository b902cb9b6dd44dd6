// Package eager computes operations as they are added to a graph: the same
// functions of package ops, the values at once.
//
//	g := eager.New()
//	x := ops.Const(g, []float32{1, 2}, 2)
//	v, err := x.Add(x).Value()
//
// A mistake is an error of the operation and of what is computed from it:
// Output.Value and Operation.Err return it. Later operations that do not depend
// on it are computed, so look at Err after an operation without outputs, such as
// Variable.Assign.
package eager

import (
	"context"
	"runtime"
	"slices"

	"github.com/gorge-tf/gorge/internal/collective"
	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/internal/threads"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops" // the operations
)

// New returns a graph that computes each operation as it is added. Its
// variables live as long as the graph. It is for one goroutine at a time.
func New(opts ...tf.GraphOption) *tf.Graph {
	pool := threads.Acquire(0)
	cpu := device.NewCPU(tf.DeviceSpec{Job: "localhost", Task: 0, Replica: 0, Type: "CPU"})
	e := &evaluator{step: core.Step{Context: context.Background(), Device: cpu, Resources: cpu.Resources(), Parallel: pool.ParallelFor}}
	e.step.Collectives = alone{collective.New(collective.Env{})}
	// An eager graph is dropped, not closed: the workers go with it.
	runtime.AddCleanup(e, (*threads.Pool).Release, pool)
	rt := &step.Runtime{InProcess: true, Devices: device.NewSet(cpu), Pool: memory.NewSessionPool(poolLimit, "eager graph"), Parallel: pool.ParallelFor}
	var g *tf.Graph
	calls := rt.NewCalls(cpu.Spec().String(), func() *core.Library {
		library, _ := g.Library()
		return library
	})
	e.step.Functions = calls
	g = tf.NewGraph(slices.Concat(opts, []tf.GraphOption{author.Eager(e.prepare), author.OnSetSeed(calls.ForgetAll)})...)
	return g
}

// poolLimit bounds the memory that functions keep for their next call.
const poolLimit = 64 << 20

// evaluator runs nodes on the CPU, one at a time.
type evaluator struct{ step core.Step }

// prepare makes the kernel of nodes like n.
func (e *evaluator) prepare(n *core.Node) (author.EvalFunc, error) {
	find, err := core.FindKernel("CPU", n)
	if err != nil {
		return nil, err
	}
	k, err := find(n)
	if err != nil {
		return nil, err
	}
	r := &runner{step: &e.step, kernel: k}
	return r.eval, nil
}

// Record calls f and returns a tape of the operations that f added to g, an
// eager graph, through which gradients can be taken.
func Record(g *tf.Graph, f func()) *tf.Tape { return g.Record(f) }
