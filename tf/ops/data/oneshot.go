package data

import (
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// oneShot makes the kernel of an iterator that is over the dataset which a
// function returns, from the first run on.
func oneShot(n *core.Node) (core.Kernel, error) {
	cursor, ok := handle.Kernel(n, newCursor(n)).(core.Compute)
	if !ok {
		return nil, tf.Errorf(tf.Internal, "an iterator's handle is made at once")
	}
	o := &once{f: n.FuncAttr("dataset_factory"), turn: make(chan struct{}, 1)}
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		if err := cursor(c); err != nil {
			done(err)
			return
		}
		if o.begun.Load() {
			done(nil)
			return
		}
		c.Apart(func() error { return o.begin(c) }, done)
	}), nil
}

// once begins an iterator once, whatever the number of steps that want it.
type once struct {
	f     core.Func
	turn  chan struct{} // full while a step calls f; others wait for it as long as they are wanted
	begun atomic.Bool
}

// begin calls the function. One that fails is called again by the next step.
func (o *once) begin(c *core.OpContext) error {
	select {
	case o.turn <- struct{}{}:
		defer func() { <-o.turn }()
	case <-c.StepContext().Done():
		return tf.Errorf(tf.Canceled, "the step was cancelled while another one made the dataset")
	}
	if o.begun.Load() {
		return nil
	}
	h := c.Out[0].T.Handles()[0]
	it, err := resource.Lookup[*dataset.Cursor](c.Resources, h.Container, h.Name)
	if err == nil && !it.Started() {
		err = o.start(c, it)
	}
	o.begun.Store(err == nil)
	return err
}

// start begins an iterator over what the function returns.
func (o *once) start(c *core.OpContext, it *dataset.Cursor) error {
	d, err := o.dataset(c)
	if err != nil {
		return err
	}
	return start(c, it, d)
}

func (o *once) dataset(c *core.OpContext) (*core.Tensor, error) {
	if c.Step == nil || c.Functions == nil {
		return nil, tf.Errorf(tf.Internal, "No function library is provided.")
	}
	var out []*core.Tensor
	var err error
	ended := make(chan struct{})
	// The function's nodes ask for a caller of their own, which lasts.
	c.Functions.Lasting().Call(c.StepContext(), o.f, nil, func(ts []*core.Tensor, e error) {
		out, err = ts, e
		close(ended)
	})
	<-ended
	if err != nil {
		return nil, err
	}
	if len(out) != 1 || out[0].DType() != tf.Variant || out[0].Rank() != 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "The `dataset_factory` function must return a single scalar of dtype DT_VARIANT.")
	}
	return out[0], nil
}
