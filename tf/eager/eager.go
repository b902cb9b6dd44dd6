// Package eager computes operations as they are added to a graph: the same
// functions of package ops, the values at once.
//
//	g := eager.New()
//	x := ops.Const(g, []float32{1, 2}, 2)
//	v, err := x.Add(x).Value()
package eager

import (
	"context"
	"fmt"
	"sync"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/threads"
	"github.com/gorge-tf/gorge/tf"
	_ "github.com/gorge-tf/gorge/tf/ops" // the operations
)

// New returns a graph that computes each operation as it is added. Its
// variables live as long as the graph. It is for one goroutine at a time.
func New(opts ...tf.GraphOption) *tf.Graph {
	e := &evaluator{step: tf.Step{
		Context: context.Background(),
		Device:  device.NewCPU(tf.DeviceSpec{Job: "localhost", Task: 0, Replica: 0, Type: "CPU"}),
		// Small work stays on the caller; helpers for the rest end when idle.
		Parallel: threads.Acquire(0).ParallelFor,
	}}
	e.step.Resources = e.step.Device.Resources()
	return tf.NewGraph(append(opts, tf.Eager(e))...)
}

// evaluator runs nodes on the CPU, one at a time.
type evaluator struct {
	step     tf.Step
	mu       sync.Mutex
	stateful map[string]tf.Kernel
}

// Eval computes one node.
func (e *evaluator) Eval(n *tf.Node, in []*tf.Tensor) ([]*tf.Tensor, error) {
	k, err := e.kernel(n)
	if err != nil {
		return nil, err
	}
	c := &tf.OpContext{Step: &e.step, Node: n, In: make([]tf.Slot, len(in)), Out: make([]tf.Slot, len(n.OutTypes))}
	for i, t := range in {
		c.In[i].T = t
	}
	if err := run(k, c); err != nil {
		return nil, err
	}
	return results(c)
}

// run calls k and waits for it.
func run(k tf.Kernel, c *tf.OpContext) error {
	switch k := k.(type) {
	case tf.Compute:
		return k(c)
	case tf.AsyncCompute:
		done := make(chan error, 1)
		k(c, func(err error) { done <- err })
		return <-done
	}
	return tf.Errorf(tf.Internal, "a kernel must be a Compute or an AsyncCompute, got %T", k)
}

func results(c *tf.OpContext) ([]*tf.Tensor, error) {
	out := make([]*tf.Tensor, len(c.Out))
	for k, s := range c.Out {
		if s.T == nil {
			return nil, tf.Errorf(tf.Unimplemented, "%s gives a reference or no value, which eager graphs do not hold; use resource variables", c.Node.OpName())
		}
		out[k] = s.T.Escape()
	}
	return out, nil
}

// kernel returns the kernel of n. Stateful ones (random streams) are kept, so
// that a repeated call goes on where the one before it ended.
func (e *evaluator) kernel(n *tf.Node) (tf.Kernel, error) {
	find, err := tf.FindKernel("CPU", n)
	if err != nil {
		return nil, err
	}
	if !n.Def.Stateful {
		return find(n)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	key := n.OpName() + fmt.Sprint(n.Attrs)
	if k := e.stateful[key]; k != nil {
		return k, nil
	}
	k, err := find(n)
	if err == nil {
		if e.stateful == nil {
			e.stateful = map[string]tf.Kernel{}
		}
		e.stateful[key] = k
	}
	return k, err
}

// Record calls f and returns a tape of the operations that f added to g, an
// eager graph, through which gradients can be taken.
func Record(g *tf.Graph, f func()) *tf.Tape { return g.Record(f) }
