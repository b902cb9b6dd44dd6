package step

import (
	"context"
	"runtime/debug"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/tf"
)

// evaluator computes nodes before any step runs, for constant folding.
type evaluator struct{ step tf.Step }

func (rt *Runtime) evaluator() *evaluator {
	d := device.NewCPU(tf.DeviceSpec{Job: "localhost", Type: "CPU"})
	return &evaluator{tf.Step{Context: context.Background(), Device: d, Resources: d.Resources(), Parallel: rt.Parallel}}
}

// eval computes n, whose kernel must not wait.
func (e *evaluator) eval(n *tf.Node, in []*tf.Tensor) (out []*tf.Tensor, err error) {
	find, err := tf.FindKernel("CPU", n)
	if err != nil {
		return nil, err
	}
	k, err := find(n)
	if err != nil {
		return nil, err
	}
	compute, ok := k.(tf.Compute)
	if !ok {
		return nil, tf.Errorf(tf.Unimplemented, "%s waits, it cannot be computed in advance", n.OpName())
	}
	c := &tf.OpContext{Step: &e.step, Node: n, In: make([]tf.Slot, len(in)), Out: make([]tf.Slot, len(n.OutTypes))}
	for i, t := range in {
		c.In[i].T = t
	}
	return results(c, compute)
}

func results(c *tf.OpContext, compute tf.Compute) (out []*tf.Tensor, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = tf.Errorf(tf.Internal, "the kernel of %s panicked: %v\n%s", c.Node.OpName(), v, debug.Stack())
		}
	}()
	if err := compute(c); err != nil {
		return nil, err
	}
	out = make([]*tf.Tensor, len(c.Out))
	for k, s := range c.Out {
		if s.T == nil || s.T.DType() != c.Node.OutTypes[k].Base() {
			return nil, tf.Errorf(tf.Internal, "Missing %d-th output from {{node %s}}", k, c.Node.Name)
		}
		out[k] = s.T
	}
	return out, nil
}
