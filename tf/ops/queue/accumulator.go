package queue

import (
	"context"

	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/queue"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// An accumulator collects gradients until there are enough of them. Gradients
// of a step before the accumulator's are dropped: they are stale.
type accumulator struct {
	queue.Line
	dtype tf.DType
	shape tf.Shape
	mean  bool

	step  int64
	count int
	sum   gradients
}

// gradients is the sum of what was collected, in the form of the gradients.
type gradients interface {
	// check refuses a gradient that does not fit the shape, or the sum if
	// there is one.
	check(shape tf.Shape, begun bool, g []*core.Tensor) error
	// begin makes g, of which it must not keep memory, the sum.
	begin(g []*core.Tensor)
	add(g []*core.Tensor)
	// take gives the sum, or the mean of count gradients, away.
	take(shape tf.Shape, mean bool, count int) []*core.Tensor
}

var _ = resource.Declare[*accumulator]("tensorflow::ConditionalAccumulatorBase")

// Close ends an accumulator that cannot be found any more.
func (a *accumulator) Close() {
	a.Line.Close(tf.Errorf(tf.Canceled, "TakeGrad operation was cancelled"))
}

// apply adds the gradient g of a step, unless it is stale.
func (a *accumulator) apply(step int64, g []*core.Tensor) error {
	return a.Change(func() error {
		if step < a.step {
			return nil
		}
		if err := a.sum.check(a.shape, a.count > 0, g); err != nil {
			return err
		}
		if a.count == 0 {
			a.sum.begin(g)
		} else {
			a.sum.add(g)
		}
		a.count++
		return nil
	})
}

// take waits for n gradients and gives them, as one, to done. Then the
// accumulator is empty, and at the next step.
func (a *accumulator) take(ctx context.Context, n int, done func([]*core.Tensor, error)) {
	if n <= 0 {
		done(nil, tf.Errorf(tf.InvalidArgument, "Argument num_required must be positive, but was %d", n))
		return
	}
	var out []*core.Tensor
	a.Wait(ctx, "TakeGrad", func() (bool, error) {
		if a.count < n {
			return false, nil
		}
		out = a.sum.take(a.shape, a.mean, a.count)
		a.step++
		a.count = 0
		return true, nil
	}, func(err error) { done(out, err) })
}

// wants reports why a node that has slices, or a tensor, cannot use the accumulator.
func (a *accumulator) wants(slices bool) error {
	if _, sparse := a.sum.(*sparseSum); sparse != slices {
		form := map[bool]string{false: "a tensor", true: "slices"}
		return tf.Errorf(tf.InvalidArgument, "a gradient must have the form of its accumulator, which is %s, got %s", form[sparse], form[slices])
	}
	return nil
}

// newAccumulator returns the factory of the kernels that give out an
// accumulator's handle.
func newAccumulator(sum func() gradients) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		d, shape, mean := n.Type("dtype"), n.ShapeAttr("shape"), n.Str("reduction_type") != "SUM"
		if d != tf.Float16 && d != tf.Float32 && d != tf.Float64 {
			return nil, tf.Errorf(tf.NotFound, "No OpKernel was registered to support Op '%s' with attr dtype = %v; types supported: float16, float32, float64", n.OpName(), d)
		}
		return handle.Kernel(n, handle.Maker[*accumulator]{New: func(string) (*accumulator, error) {
			return &accumulator{Line: queue.Line{InOrder: true}, dtype: d, shape: shape, mean: mean, sum: sum()}, nil
		}}), nil
	}
}

// applyGradient is the kernel of the ops whose inputs are a handle, a step, and
// a gradient.
func applyGradient(n *core.Node) (core.Kernel, error) {
	at := len(n.InTypes) - 1 // of the dense gradient
	sparse := n.Def.Attr("has_known_shape") != nil
	if sparse {
		at--
	}
	return core.Compute(func(c *core.OpContext) error {
		a, err := handle.Find[*accumulator](c, 0)
		if err == nil {
			err = a.wants(sparse)
		}
		if err != nil {
			return err
		}
		if got := c.Input(at).DType(); got != a.dtype {
			want := append([]tf.DType{}, c.Node.InTypes...)
			want[at] = a.dtype
			return tf.Errorf(tf.InvalidArgument, "Signature mismatch, have: %s-> expected: %s->", typeNames(c.Node.InTypes), typeNames(want))
		}
		if c.Input(1).Rank() != 0 {
			return tf.Errorf(tf.InvalidArgument, "Argument local_step must be scalar, but had bad shape %s", c.Input(1).Shape().String())
		}
		g := c.Tensors(2, c.Inputs())
		if sparse && !n.Bool("has_known_shape") {
			g = g[:2]
		}
		return a.apply(core.Data[int64](c.Input(1))[0], g)
	}), nil
}

func takeGradient(n *core.Node) (core.Kernel, error) {
	want := n.Type("dtype")
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		a, err := handle.Find[*accumulator](c, 0)
		if err == nil {
			err = a.wants(len(n.OutTypes) > 1)
		}
		switch {
		case err != nil:
		case a.dtype != want:
			err = tf.Errorf(tf.InvalidArgument, "Signature mismatch, have: %s->%s expected: %s->%s", typeNames(c.Node.InTypes), want.CName(), typeNames(c.Node.InTypes), a.dtype.CName())
		case c.Input(1).Rank() != 0:
			err = tf.Errorf(tf.InvalidArgument, "Argument num_required must be scalar, but had bad shape %s", c.Input(1).Shape().String())
		}
		if err != nil {
			done(err)
			return
		}
		a.take(c.StepContext(), int(core.Data[int32](c.Input(1))[0]), func(out []*core.Tensor, err error) {
			if err == nil {
				err = c.SetAll(out)
			}
			done(err)
		})
	}), nil
}

func setGlobalStep(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		a, err := handle.Find[*accumulator](c, 0)
		if err != nil {
			return err
		}
		if c.Input(1).Rank() != 0 {
			return tf.Errorf(tf.InvalidArgument, "Argument num_required must be scalar, but had bad shape %s", c.Input(1).Shape().String())
		}
		return a.Change(func() error { a.step = core.Data[int64](c.Input(1))[0]; return nil })
	}), nil
}

func numAccumulated(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		a, err := handle.Find[*accumulator](c, 0)
		if err != nil {
			return err
		}
		return a.Change(func() error { c.Set(0, core.Scalar(int32(a.count))); return nil })
	}), nil
}
