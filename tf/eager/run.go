package eager

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

// runner runs a kernel.
type runner struct {
	step   *core.Step
	kernel core.Kernel
	spare  *core.OpContext // of the last run, for the next one
}

// eval computes one node and appends the values of its outputs to dst.
func (r *runner) eval(n *core.Node, in []tf.Output, dst []*core.Tensor) ([]*core.Tensor, error) {
	c := r.context(n, len(in))
	for i, x := range in {
		t, err := author.Computed(x)
		if err != nil {
			return nil, err
		}
		c.In[i].T = t
	}
	if err := r.run(c); err != nil {
		return nil, err
	}
	dst, err := results(c, dst)
	r.recycle(c)
	return dst, err
}

// context returns the context of a run. A kernel may run within another run of
// itself: it finds no spare one.
func (r *runner) context(n *core.Node, inputs int) *core.OpContext {
	if c := r.spare; c != nil {
		r.spare = nil
		return c
	}
	return &core.OpContext{Step: r.step, Node: n, In: make([]core.Slot, inputs), Out: make([]core.Slot, len(n.OutTypes))}
}

// recycle keeps c, but none of the tensors of its run.
func (r *runner) recycle(c *core.OpContext) {
	clear(c.In)
	clear(c.Out)
	r.spare = c
}

// run calls the kernel and waits for it. A kernel that panics has failed.
func (r *runner) run(c *core.OpContext) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = core.Panicked("the kernel of "+c.Node.OpName(), v)
		}
	}()
	if k, ok := core.AsCompute(r.kernel); ok {
		return k(c)
	}
	if k, ok := r.kernel.(core.AsyncCompute); ok {
		done := make(chan error, 1)
		k(c, func(err error) { done <- err })
		return <-done
	}
	return tf.Errorf(tf.Internal, "a kernel must be a Compute or an AsyncCompute, got %T", r.kernel)
}

func results(c *core.OpContext, dst []*core.Tensor) ([]*core.Tensor, error) {
	for i := range c.Out {
		t := c.Out[i].T
		switch {
		case t == nil && c.Node.OutTypes[i].IsRef():
			return nil, tf.Errorf(tf.Unimplemented, "%s gives a reference, which eager graphs do not hold: make a variable of the resource kind, and run other operations on references in a session", c.Node.OpName())
		case t == nil:
			return nil, tf.Errorf(tf.Internal, "%s gave no value", c.Node.OpName())
		}
		dst = append(dst, t.Escape())
	}
	return dst, nil
}
