package uniform

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const in = "input: Tin; scales: float; zero_points: int32"
	core.Register(core.OpDef{
		Name: "UniformQuantize", In: in, Out: "output: Tout", Attrs: "Tin: {float}; Tout: {qint8, quint8, qint32}; " + levels(""),
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("Tout", byType{tf.QInt8: quantizeKernel[int8], tf.QUint8: quantizeKernel[uint8], tf.QInt32: quantizeKernel[int32]}),
	})
	core.Register(core.OpDef{
		Name: "UniformDequantize", In: in, Out: "output: Tout", Attrs: "Tin: {qint8, quint8, qint32}; Tout: {float}; " + levels(""),
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("Tin", byType{tf.QInt8: dequantizeKernel[int8], tf.QUint8: dequantizeKernel[uint8], tf.QInt32: dequantizeKernel[int32]}),
	})
}

// UniformQuantize returns float32 numbers x in the quantized type d. The
// scheme is the affine one of Jacob et al. (CVPR 2018, arXiv:1712.05877). d
// is qint8, quint8 or qint32, and the result has the shape of x. Scales,
// float32, and zero points, int32, are scalars, or with PerAxis vectors as
// long as the axis; other shapes and an axis that x does not have are refused
// with INVALID_ARGUMENT in the step.
func UniformQuantize(x, scales, zeroPoints tf.Output, d tf.DType, by Numbers, opts ...tf.Option) Quantized {
	return Quantized{apply("UniformQuantize", tf.Join(opts, tf.Attr("Tout", d), by.of("")), x, scales, zeroPoints), scales, zeroPoints}
}

// UniformDequantize returns what x stands for, as float32. x is qint8, quint8
// or qint32, and the result has its shape. Scales that are not positive, and
// those of other shapes than UniformQuantize takes, are refused with
// INVALID_ARGUMENT in the step.
func UniformDequantize(x Quantized, by Numbers, opts ...tf.Option) tf.Output {
	return apply("UniformDequantize", tf.Join(opts, tf.Attr("Tout", tf.Float32), by.of("")), x.Values, x.Scales, x.ZeroPoints)
}

// quantize sets y to numbers x quantized: halves are rounded up.
func quantize[Q quantum](y []Q, x []float32, perUnit float32, zero, least, most int32) {
	for i, v := range x {
		q := rounded(float32(math.Floor(float64(v*perUnit+0.5)))) + zero
		y[i] = Q(max(min(q, most), least))
	}
}

// bounds returns the least and the greatest number that attributes allow.
func bounds(n *core.Node, prefix string) (least, most int32) {
	return int32(n.Int(prefix + "quantization_min_val")), int32(n.Int(prefix + "quantization_max_val"))
}

func quantizeKernel[Q quantum](n *core.Node) (core.Kernel, error) {
	axis, err := axisOf(n, "quantization_axis")
	if err != nil {
		return nil, err
	}
	least, most := bounds(n, "")
	return core.Compute(func(c *core.OpContext) error {
		in := c.Input(0)
		by, err := scalingAt(c, 1, in.Shape(), axis)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, c.Node.OutTypes[0], in.Shape())
		if err != nil {
			return err
		}
		x, y := core.Data[float32](in), core.Data[Q](out)
		runsOf(in.Shape(), axis).each(c, func(slice, lo, hi int) {
			scale, zero := by.at(slice)
			quantize(y[lo:hi], x[lo:hi], 1/scale, zero, least, most)
		})
		return nil
	}), nil
}

func dequantizeKernel[Q quantum](n *core.Node) (core.Kernel, error) {
	axis := n.Int("quantization_axis")
	return core.Compute(func(c *core.OpContext) error {
		in := c.Input(0)
		by, err := scalingAt(c, 1, in.Shape(), axis)
		if err != nil {
			return err
		}
		if !by.positive() {
			return invalid("rhs scales elements must be all positive.")
		}
		out, err := c.Alloc(0, tf.Float32, in.Shape())
		if err != nil {
			return err
		}
		x, y := core.Data[Q](in), core.Data[float32](out)
		runsOf(in.Shape(), axis).each(c, func(slice, lo, hi int) {
			scale, zero := by.at(slice)
			for i := lo; i < hi; i++ {
				y[i] = float32(int32(x[i])-zero) * scale
			}
		})
		return nil
	}), nil
}
