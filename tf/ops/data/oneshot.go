package data

import (
	"sync"

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
	o := &once{f: n.FuncAttr("dataset_factory")}
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		if err := cursor(c); err != nil {
			done(err)
			return
		}
		if o.begun() {
			done(nil)
			return
		}
		c.Apart(func() error { return o.begin(c) }, done)
	}), nil
}

// once begins an iterator once, whatever the number of steps that want it.
type once struct {
	f    core.Func
	mu   sync.Mutex
	done bool
}

func (o *once) begun() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.done
}

// begin calls the function. One that fails is called again by the next step.
func (o *once) begin(c *core.OpContext) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done {
		return nil
	}
	h := c.Out[0].T.Handles()[0]
	it, err := resource.Lookup[*dataset.Cursor](c.Resources, h.Container, h.Name)
	if err != nil || it.Started() {
		o.done = err == nil
		return err
	}
	d, err := o.dataset(c)
	if err == nil {
		err = start(c, it, d)
	}
	o.done = err == nil
	return err
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
