package uniform

import (
	"fmt"
	"math"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "UniformRequantize", In: "input: Tin; input_scales: float; input_zero_points: int32; output_scales: float; output_zero_points: int32", Out: "output: Tout",
		Attrs: "Tin: {qint8, qint32}; Tout: {qint8, qint32}; " + levels("input_") + "; " + levels("output_"),
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("Tin", byType{tf.QInt8: requantizeKernel[int8], tf.QInt32: requantizeKernel[int32]}),
	})
	core.Register(core.OpDef{
		Name: "UniformQuantizedClipByValue", In: "operand: T; min: T; max: T; scales: float; zero_points: int32", Out: "output: T",
		Attrs: "T: {qint32}; " + levels(""), Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", byType{tf.QInt32: clip}),
	})
}

// UniformRequantize returns x, of 8 or 32 bits, in 8 bits of other scales and
// zero points. If both have a quantization axis it has to be the same. x is
// qint8 or qint32, the result qint8. Different axes, scales that are not
// positive, and scales or zero points of other shapes than UniformQuantize
// takes are refused with INVALID_ARGUMENT in the step.
func UniformRequantize(x Quantized, by Numbers, scales, zeroPoints tf.Output, to Numbers, opts ...tf.Option) Quantized {
	own := []tf.Option{tf.Attr("Tout", tf.QInt8), by.of("input_"), to.of("output_")}
	return Quantized{apply("UniformRequantize", tf.Join(opts, own...), x.Values, x.Scales, x.ZeroPoints, scales, zeroPoints), scales, zeroPoints}
}

// UniformQuantizedClipByValue returns x, of 32 bits, with min for what is less
// and max for what is greater: numbers, or vectors for the quantization axis.
// x, min and max are qint32. min and max have the shape of the scales; other
// shapes are refused with INVALID_ARGUMENT in the step.
func UniformQuantizedClipByValue(x Quantized, min, max tf.Output, by Numbers, opts ...tf.Option) Quantized {
	x.Values = apply("UniformQuantizedClipByValue", tf.Join(opts, by.of("")), x.Values, min, max, x.Scales, x.ZeroPoints)
	return x
}

// A multiplier is a factor as a whole number times a power of 2.
type multiplier struct {
	factor int32
	down   int // bits to shift the product by
}

// numberText writes a number as messages do.
func numberText(x float64) string {
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%.6g", x), "+"))
}

// multiplierOf returns the multiplier next to x.
func multiplierOf(x float64) (multiplier, error) {
	if math.IsInf(x, 0) || !(x > 0) {
		return multiplier{}, invalid("double_multiplier must be a poisitive finite number. Given %s", numberText(x))
	}
	fraction, exponent := math.Frexp(x)
	factor := int64(math.Round(fraction * (1 << 31)))
	if factor == 1<<31 {
		factor, exponent = factor/2, exponent+1
	}
	switch {
	case exponent < -31:
		return multiplier{0, 31}, nil
	case exponent > 30:
		return multiplier{math.MaxInt32, 1}, nil
	}
	return multiplier{int32(factor), 31 - exponent}, nil
}

// times multiplies x, rounded to the nearest.
func (m multiplier) times(x int32) int32 {
	y := (int64(x)*int64(m.factor) + 1<<(m.down-1)) >> m.down
	return int32(min(max(y, math.MinInt32), math.MaxInt32))
}

// A rescaling takes numbers to another scaling.
type rescaling struct {
	multiplier
	from, to    int32 // zero points
	least, most int32
}

func (r rescaling) of(x int32) int32 { return max(min(r.times(x-r.from)+r.to, r.most), r.least) }

// rescaled sets y to numbers x, of shape s, of another scaling.
func rescaled[P, Q quantum](c *core.OpContext, y []P, x []Q, s tf.Shape, axis int, from, to scaling, least, most int32) error {
	r := runsOf(s, axis)
	by := core.Make[rescaling](r.n)
	for i := range by {
		scaleFrom, zeroFrom := from.at(i)
		scaleTo, zeroTo := to.at(i)
		m, err := multiplierOf(float64(scaleFrom) / float64(scaleTo))
		if err != nil {
			return err
		}
		by[i] = rescaling{m, zeroFrom, zeroTo, least, most}
	}
	r.each(c, func(slice, lo, hi int) {
		f := by[slice]
		for i := lo; i < hi; i++ {
			y[i] = P(f.of(int32(x[i])))
		}
	})
	return nil
}

func requantizeKernel[Q int8 | int32](n *core.Node) (core.Kernel, error) {
	if d := n.Type("Tout"); d != tf.QInt8 {
		return nil, tf.Errorf(tf.NotFound, "No OpKernel was registered to support Op '%s' with attr Tout = %v; types supported: qint8", n.OpName(), d)
	}
	from, err := axisOf(n, "input_quantization_axis")
	if err != nil {
		return nil, err
	}
	to, err := axisOf(n, "output_quantization_axis")
	if err != nil {
		return nil, err
	}
	if from >= 0 && to >= 0 && from != to {
		return nil, invalid("If input and output is both per-axis quantized, the quantization axis must be same.")
	}
	least, most := bounds(n, "output_")
	return core.Compute(func(c *core.OpContext) error {
		in := c.Input(0)
		own, err := scalingAt(c, 1, in.Shape(), from)
		if err != nil {
			return err
		}
		other, err := scalingAt(c, 3, in.Shape(), to)
		if err != nil {
			return err
		}
		if !own.positive() || !other.positive() {
			return invalid("input/output scales elements must be all positive.")
		}
		out, err := c.Alloc(0, tf.QInt8, in.Shape())
		if err != nil {
			return err
		}
		return rescaled(c, core.Data[int8](out), core.Data[Q](in), in.Shape(), max(from, to), own, other, least, most)
	}), nil
}

func clip(n *core.Node) (core.Kernel, error) {
	axis := n.Int("quantization_axis")
	return core.Compute(func(c *core.OpContext) error {
		in := c.Input(0)
		by, err := scalingAt(c, 3, in.Shape(), axis)
		if err != nil {
			return err
		}
		for i, name := range []string{"min", "max"} {
			if s := c.Input(1 + i).Shape(); !s.Equal(by.shape) {
				return invalid("Input %[1]s shape must be same as scales/zero_points. Given %[1]s of shape %[2]s and scales/zero_points of shape %[3]s", name, s.String(), by.shape.String())
			}
		}
		least, most := core.Data[int32](c.Input(1)), core.Data[int32](c.Input(2))
		out, err := c.Alloc(0, tf.QInt32, in.Shape())
		if err != nil {
			return err
		}
		x, y := core.Data[int32](in), core.Data[int32](out)
		runsOf(in.Shape(), axis).each(c, func(slice, lo, hi int) {
			for i := lo; i < hi; i++ {
				y[i] = min(max(x[i], least[slice]), most[slice])
			}
		})
		return nil
	}), nil
}
