package linalg

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Cross", In: "a: T; b: T", Out: "product: T",
		Attrs: "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}",
		Shape: crossShape, Grad: tf.GradFunc(crossGrad),
		Kernels: core.ByType("T", map[tf.DType]core.NewKernel{
			tf.Float32: cross[float32], tf.Float64: cross[float64], tf.Int8: cross[int8], tf.Int16: cross[int16], tf.Int32: cross[int32], tf.Int64: cross[int64],
			tf.Uint8: cross[uint8], tf.Uint16: cross[uint16], tf.Uint32: cross[uint32], tf.Uint64: cross[uint64],
			tf.Float16: halfCross[tf.Half], tf.BFloat16: halfCross[tf.BF16],
		}),
	})
}

// Cross returns the cross products of the vectors of three elements in the
// last dimension of a and b, which have the same shape. The result has that
// shape and the type of a and b, any integer or floating-point type. Other
// shapes are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step, where vectors of other lengths fail with
// FAILED_PRECONDITION.
func Cross(a, b tf.Output, opts ...tf.Option) tf.Output { return apply("Cross", opts, a, b) }

func crossShape(c *core.Infer) error {
	s, ok := c.In(0).Merge(c.In(1))
	if !ok {
		return invalid("Shapes must be equal, but are %v and %v", c.In(0), c.In(1))
	}
	if s != nil && len(s) == 0 {
		return invalid("Shape must be at least rank 1 but is rank 0")
	}
	if n := len(s); n > 0 && s[n-1] >= 0 && s[n-1] != 3 {
		return invalid("Dimension must be 3 but is %d", s[n-1])
	}
	c.Set(0, s)
	return nil
}

// crossArgs checks the vectors and makes the output.
func crossArgs(c *core.OpContext) (*core.Tensor, error) {
	a, b := c.Input(0).Shape(), c.Input(1).Shape()
	switch {
	case !a.Equal(b):
		return nil, invalid("Both inputs must be of same shape: %s vs. %s", a.String(), b.String())
	case len(a) < 1:
		return nil, invalid("Input must be at least 1D%s", a.String())
	case a[len(a)-1] != 3:
		return nil, tf.Errorf(tf.FailedPrecondition, "Cross-products are only defined for 3-element vectors.")
	}
	return c.Alloc(0, c.Input(0).DType(), a)
}

func cross[T interface {
	numeric.Real
	tf.Elem
}](*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		out, err := crossArgs(c)
		if err != nil {
			return err
		}
		crossAll(c, core.Data[T](out), core.Data[T](c.Input(0)), core.Data[T](c.Input(1)))
		return nil
	}), nil
}

func halfCross[H interface {
	numeric.HalfFloat
	tf.Elem
}](*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		out, err := crossArgs(c)
		if err != nil {
			return err
		}
		n := out.Len()
		z, x, y := core.Borrow[float32](c, n), core.Borrow[float32](c, n), core.Borrow[float32](c, n)
		elementwise.Cast(x, core.Data[H](c.Input(0)))
		elementwise.Cast(y, core.Data[H](c.Input(1)))
		crossAll(c, z, x, y)
		elementwise.Cast(core.Data[H](out), z)
		return nil
	}), nil
}

func crossAll[T numeric.Real](c *core.OpContext, z, x, y []T) {
	c.ParallelFor(len(z)/3, grain/8, func(lo, hi int) {
		for i := 3 * lo; i < 3*hi; i += 3 {
			a, b, v := x[i:i+3], y[i:i+3], z[i:i+3]
			v[0], v[1], v[2] = a[1]*b[2]-a[2]*b[1], a[2]*b[0]-a[0]*b[2], a[0]*b[1]-a[1]*b[0]
		}
	})
}

func crossGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	a, b := op.Input(0), op.Input(1)
	return tf.Grads(Cross(b, dy[0]), Cross(dy[0], a))
}
