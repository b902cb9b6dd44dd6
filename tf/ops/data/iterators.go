package data

import (
	"errors"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	const shared = "shared_name: string; container: string; " + outputs
	iterator := func(name, in, out, attrs string, shape func(*core.Infer) error, k core.NewKernel) {
		core.Register(core.OpDef{Name: name, In: in, Out: out, Attrs: attrs, Stateful: true, Shape: shape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(k)})
	}
	iterator("Iterator", "", "handle: resource", shared, core.ScalarShape, newIterator)
	iterator("IteratorV2", "", "handle: resource", shared, core.ScalarShape, newIterator)
	iterator("OneShotIterator", "", "handle: resource", "dataset_factory: func; "+outputs+"; container: string = ''; shared_name: string = ''", core.ScalarShape, oneShot)
	iterator("MakeIterator", "dataset: variant; iterator: resource", "", "", noShape, makeIterator)
	for _, op := range []string{"IteratorGetNext", "IteratorGetNextSync"} {
		iterator(op, "iterator: resource", "components: output_types", outputs, declaredShapes, getNext)
	}
	iterator("IteratorGetNextAsOptional", "iterator: resource", "optional: variant", outputs, core.ScalarShape, getNextAsOptional)
}

func noShape(*core.Infer) error { return nil }

// declaredShapes gives the outputs the shapes that the node promises.
func declaredShapes(c *core.Infer) error {
	shapes, _ := c.Attr("output_shapes").([]tf.Shape)
	if len(shapes) != c.NumOut() {
		return tf.Errorf(tf.InvalidArgument, "`output_shapes` must be the same length as `output_types` (%d vs. %d)", len(shapes), c.NumOut())
	}
	for i, s := range shapes {
		c.Set(i, s)
	}
	return nil
}

func newCursor(n *core.Node) handle.Maker[*dataset.Cursor] {
	want := declared(n)
	return handle.Maker[*dataset.Cursor]{
		New:     func(string) (*dataset.Cursor, error) { return dataset.NewCursor(want), nil },
		Matches: func(c *dataset.Cursor) error { return want.Admits(c.Spec()) },
	}
}

func newIterator(n *core.Node) (core.Kernel, error) { return handle.Kernel(n, newCursor(n)), nil }

// async makes the kernel of what is done with an iterator, which may take a
// while, on a goroutine that ends with it.
func async[T any](at int, f func(c *core.OpContext, it T) error) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
			it, err := handle.Find[T](c, at)
			if err != nil {
				done(err)
				return
			}
			c.Apart(func() error { return f(c, it) }, done)
		}), nil
	}
}

var makeIterator = async(1, func(c *core.OpContext, it *dataset.Cursor) error {
	return start(c, it, c.Input(0))
})

// start puts an iterator on the dataset of a tensor.
func start(c *core.OpContext, it *dataset.Cursor, t *core.Tensor) error {
	t, err := optimized(t)
	if err != nil {
		return err
	}
	if err := asserted(t, "Root"); err != nil {
		return err
	}
	return it.StartOn(c.StepContext(), t)
}

var getNext = async(0, func(c *core.OpContext, it *dataset.Cursor) error {
	e, err := it.Next(c.StepContext())
	if err != nil {
		return err
	}
	return give(c, e)
})

// getNextAsOptional tells by an optional without a value that there is no next
// element.
var getNextAsOptional = async(0, func(c *core.OpContext, it *dataset.Cursor) error {
	e, err := it.Next(c.StepContext())
	switch {
	case errors.Is(err, dataset.End):
		e = nil
	case err != nil:
		return err
	}
	values := make([]*core.Tensor, len(e))
	for i, t := range e {
		values[i] = t.Share()
	}
	if e == nil {
		values = nil
	}
	c.Set(0, ops.OptionalOf(values))
	return nil
})

// give makes an element, which others may have as well, the outputs.
func give(c *core.OpContext, e dataset.Element) error {
	out := make([]*core.Tensor, len(e))
	for i, t := range e {
		out[i] = t.Share()
	}
	return c.SetAll(out)
}
