package uniform

import (
	"slices"

	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "UniformQuantizedAdd", In: "lhs: T; rhs: T; " + scalingsIn, Out: "output: T",
		Attrs: threeLevels + "; T: {qint32}", Shape: core.BroadcastShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", byType{tf.QInt32: add}),
	})
}

const scalingsIn = "lhs_scales: float; lhs_zero_points: int32; rhs_scales: float; rhs_zero_points: int32; output_scales: float; output_zero_points: int32"

var threeLevels = levels("lhs_") + "; " + levels("rhs_") + "; " + levels("output_")

// Of are the numbers of two operands and of what is computed from them.
type Of struct{ Left, Right, Out Numbers }

func (o Of) options(opts []tf.Option, own ...tf.Option) []tf.Option {
	return tf.Join(opts, slices.Concat(own, []tf.Option{o.Left.of("lhs_"), o.Right.of("rhs_"), o.Out.of("output_")})...)
}

// UniformQuantizedAdd returns x + y, of 32 bits and broadcast, in the given
// scales and zero points. Quantization axes have to be the same dimension, and
// nothing is repeated along that of the result. All are qint32. Shapes that do not broadcast are refused with INVALID_ARGUMENT,
// when the graph is built if they are known, else in the step; so are, in the
// step, other axes, scales that are not positive, and scales of other shapes
// than UniformQuantize takes.
func UniformQuantizedAdd(x, y Quantized, scales, zeroPoints tf.Output, by Of, opts ...tf.Option) Quantized {
	sum := apply("UniformQuantizedAdd", by.options(opts), x.Values, y.Values, x.Scales, x.ZeroPoints, y.Scales, y.ZeroPoints, scales, zeroPoints)
	return Quantized{sum, scales, zeroPoints}
}

// axes are the quantization axes of two operands and the result.
type axes struct{ left, right, out int }

func axesOf(n *core.Node) axes {
	return axes{n.Int("lhs_quantization_axis"), n.Int("rhs_quantization_axis"), n.Int("output_quantization_axis")}
}

// A sum is what UniformQuantizedAdd has checked.
type sum struct {
	shape           tf.Shape
	left, right, to scaling
}

// plan checks the inputs.
func (a axes) plan(c *core.OpContext) (s sum, err error) {
	x, y := c.Input(0).Shape(), c.Input(1).Shape()
	if s.left, err = scalingAt(c, 2, x, a.left); err != nil {
		return s, err
	}
	if s.right, err = scalingAt(c, 4, y, a.right); err != nil {
		return s, err
	}
	var ok bool
	if s.shape, ok = tf.BroadcastShapes(x, y); !ok {
		return s, invalid("Cannot Add tensors of shapes: %s%s", x.String(), y.String())
	}
	if s.to, err = scalingAt(c, 6, s.shape, a.out); err != nil {
		return s, err
	}
	const text = "If %s and output is both per-axis quantized, the quantization axis must match."
	switch last := len(s.shape) - a.out; {
	case a.left >= 0 && a.out >= 0 && len(x)-a.left != last:
		return s, invalid(text, "lhs")
	case a.right >= 0 && a.out >= 0 && len(y)-a.right != last:
		return s, invalid(text, "rhs")
	case !s.left.positive() || !s.right.positive() || !s.to.positive():
		return s, invalid("lhs/rhs/output scales elements must be all positive.")
	}
	return s, nil
}

// rescaledTo returns an operand in the scaling of the result, but for its zero
// point.
func (s *sum) rescaledTo(c *core.OpContext, x *core.Tensor, axis int, from scaling) ([]int32, error) {
	to := scaling{s.to.scales, make([]int32, len(s.to.zeros)), s.to.shape}
	n := x.Len()
	if axis >= 0 {
		n = x.Shape()[axis]
	}
	if len(to.shape) > 0 && (axis < 0 || len(to.scales) != n) { // numbers that are repeated would need several scales
		return nil, invalid("The quantization axis of the output is dimension of size %d, that of an operand of size %d", len(to.scales), n)
	}
	y := core.Make[int32](x.Len())
	return y, rescaled(c, y, core.Data[int32](x), x.Shape(), axis, from, to, math.MinInt32, math.MaxInt32)
}

func add(n *core.Node) (core.Kernel, error) {
	a := axesOf(n)
	if a.left < -1 || a.right < -1 || a.out < -1 {
		return nil, invalid("lhs, rhs and output quantization_axis must be -1 or within [0, dims)")
	}
	least, most := bounds(n, "output_")
	return core.Compute(func(c *core.OpContext) error {
		s, err := a.plan(c)
		if err != nil {
			return err
		}
		x, err := s.rescaledTo(c, c.Input(0), s.axis(a, c.Input(0), a.left), s.left)
		if err != nil {
			return err
		}
		y, err := s.rescaledTo(c, c.Input(1), s.axis(a, c.Input(1), a.right), s.right)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, tf.QInt32, s.shape)
		if err != nil {
			return err
		}
		z := core.Data[int32](out)
		if err := s.join(z, x, y, c.Input(0).Shape(), c.Input(1).Shape()); err != nil {
			return err
		}
		runsOf(s.shape, a.out).each(c, func(slice, lo, hi int) {
			_, zero := s.to.at(slice)
			for i := lo; i < hi; i++ {
				z[i] = min(max(z[i]+zero, least), most)
			}
		})
		return nil
	}), nil
}

// axis returns the dimension of operand x that has scales of its own, or that
// the result's are for.
func (s *sum) axis(a axes, x *core.Tensor, own int) int {
	if own >= 0 || a.out < 0 {
		return own
	}
	return a.out - (len(s.shape) - x.Rank())
}

var addLoops = elementwise.AddLoops[int32]()

// join adds up x and y, broadcast.
func (s *sum) join(z, x, y []int32, xs, ys tf.Shape) error {
	b, ok := elementwise.NewBroadcast(xs, ys)
	if !ok {
		return invalid("Cannot Add tensors of shapes: %s%s", xs.String(), ys.String())
	}
	elementwise.ZipBroadcast(kernel.Serial, b, z, x, y, addLoops)
	return nil
}
