// Package clampedsum is an operation of one's own: a sum with limits.
package clampedsum

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	core.Register(core.OpDef{
		Name:  "ExampleClampedSum",
		In:    "x: T; y: T",
		Out:   "z: T",
		Attrs: "limit: float = 1; T: {float, double}",
		Shape: shape,
		Kernels: core.ByType("T", map[tf.DType]core.NewKernel{
			tf.Float32: kernel[float32],
			tf.Float64: kernel[float64],
		}),
		Grad: tf.GradFunc(gradient),
	})
}

// shape requires both inputs to have one shape, which is that of the output.
func shape(c *core.Infer) error {
	s, ok := c.In(0).Merge(c.In(1))
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "x and y must have the same shape, got %v and %v", c.In(0), c.In(1))
	}
	c.Set(0, s)
	return nil
}

// kernel makes the computation of a node for elements of type T.
func kernel[T float32 | float64](n *core.Node) (core.Kernel, error) {
	limit := T(n.Float("limit"))
	if !(limit >= 0) {
		return nil, tf.Errorf(tf.InvalidArgument, "limit must be at least 0, got %v", limit)
	}
	return core.Compute(func(c *core.OpContext) error {
		x, y := c.Input(0), c.Input(1)
		if !x.Shape().Equal(y.Shape()) {
			return tf.Errorf(tf.InvalidArgument, "x and y must have the same shape, got %v and %v", x.Shape(), y.Shape())
		}
		z, err := c.Alloc(0, x.DType(), x.Shape())
		if err != nil {
			return err
		}
		a, b, out := core.Data[T](x), core.Data[T](y), core.Data[T](z)
		c.ParallelFor(len(out), 1<<14, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				out[i] = max(-limit, min(limit, a[i]+b[i]))
			}
		})
		return nil
	}), nil
}

// gradient lets the gradient through where the sum is within the limits.
func gradient(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	sum := op.Input(0).Add(op.Input(1))
	inside := sum.Abs().LessEqual(float64(op.Float("limit")))
	d := ops.SelectV2(inside, dy[0], dy[0].ZerosLike())
	return tf.Grads(d, d)
}

// ClampedSum returns x + y, limited to [-limit, limit], element by element. Both are
// of type Float32 or Float64 and have one shape.
func ClampedSum(x, y tf.Output, limit float64, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "ExampleClampedSum", []tf.Output{x, y}, tf.Join(opts, tf.Attr("limit", limit))...).Output(0)
}
