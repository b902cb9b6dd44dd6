package debug

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// apply adds an operation to the graph of its inputs and returns its output.
func apply(op string, opts []tf.Option, in ...tf.Output) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

func passGrad(_ *tf.Operation, dy []tf.Output) []tf.Gradient { return tf.Grads(dy...) }

// passOnKernel makes the kernel that hands its input on.
func passOnKernel(*core.Node) (core.Kernel, error) { return core.Compute(passOn), nil }

// passOn makes output 0 input 0, be it a value or a reference.
func passOn(c *core.OpContext) error {
	if c.In[0].T == nil {
		c.Out[0] = c.In[0]
		return nil
	}
	c.Forward(0, 0)
	return nil
}
