package quantize

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const (
		in  = "input: Tinput; input_min: float; input_max: float"
		out = "output: out_type; output_min: float; output_max: float"
	)
	core.Register(core.OpDef{
		Name: "QuantizeDownAndShrinkRange", In: in, Out: out, Attrs: "Tinput: " + quantizedTypes + "; out_type: " + quantizedTypes,
		Shape: withSpan(1, core.UnchangedShape), NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("out_type", byType{tf.QUint8: from32(shrinkRange)}),
	})
	core.Register(core.OpDef{
		Name: "Requantize", In: in + "; requested_output_min: float; requested_output_max: float", Out: out, Attrs: "Tinput: " + quantizedTypes + "; out_type: " + quantizedTypes,
		Shape: withSpan(1, core.UnchangedShape), NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("out_type", byType{tf.QUint8: from32(requantize(tf.QUint8, fixedPoint)), tf.QInt8: from32(requantize(tf.QInt8, throughFloat[int8]))}),
	})
	core.Register(core.OpDef{
		Name: "RequantizationRange", In: in, Out: "output_min: float; output_max: float", Attrs: "Tinput: " + quantizedTypes,
		Shape: rangesShape(0), NoGrad: core.NoGradientDefined, Kernels: core.ByType("Tinput", byType{tf.QInt32: requantizationRange}),
	})
}

// QuantizeDownAndShrinkRange returns x, of 32 bits, in 8 bits without sign,
// and the range of the numbers that it has, with 0. The values are qint32 and
// become quint8; others are refused with NOT_FOUND in the step. Bounds that
// are no scalars are refused with INVALID_ARGUMENT in the step.
func QuantizeDownAndShrinkRange(x Quantized, opts ...tf.Option) Quantized {
	return quantizedOf("QuantizeDownAndShrinkRange", tf.Join(opts, tf.Attr("out_type", tf.QUint8)), x.Values, x.Min, x.Max)
}

// Requantize returns x, of 32 bits, in 8 bits, a quantized type, of the range
// from min, at most 0, to max. The values are qint32 and d is quint8 or qint8;
// others are refused with NOT_FOUND in the step. Bounds that are no scalars, a
// min above 0 and a max below min are refused with INVALID_ARGUMENT in the
// step.
func Requantize(x Quantized, min, max tf.Output, d tf.DType, opts ...tf.Option) Quantized {
	return quantizedOf("Requantize", tf.Join(opts, tf.Attr("out_type", d)), x.Values, x.Min, x.Max, min, max)
}

// RequantizationRange returns the range of the numbers that x, of 32 bits,
// has, with 0. The values are qint32; others are refused with NOT_FOUND in the
// step. The results are float32 scalars. Bounds that are no scalars are
// refused with INVALID_ARGUMENT, when the graph is built if their shapes are
// known.
func RequantizationRange(x Quantized, opts ...tf.Option) (min, max tf.Output) {
	o := tf.Apply(nil, "RequantizationRange", []tf.Output{x.Values, x.Min, x.Max}, opts...)
	return o.Output(0), o.Output(1)
}

// from32 is for kernels of numbers of 32 bits.
func from32(k core.NewKernel) core.NewKernel {
	return only(k, map[string]tf.DType{"Tinput": tf.QInt32})
}

// rangesShape is the shape function of an op whose inputs 1 and 2 have this rank
// and whose outputs are scalars.
func rangesShape(rank int) func(*core.Infer) error {
	return func(c *core.Infer) error {
		for i := 1; i < 3; i++ {
			if _, err := c.Rank(i, rank); err != nil {
				return err
			}
		}
		return core.ScalarShape(c)
	}
}

// used returns the range of the numbers in x, with 0.
func used(x []int32, r span) span {
	least, most := int32(math.MaxInt32), int32(math.MinInt32)
	for _, v := range x {
		least, most = min(least, v), max(most, v)
	}
	low := meaning(least, r)
	if !(low < 0) {
		low = 0 // NaN too, as in TensorFlow
	}
	return span{low, meaning(most, r)}
}

func requantizationRange(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		for i, name := range []string{"min", "max"} {
			if c.Input(1+i).Len() == 0 {
				return invalid("Input %s must not be empty.", name)
			}
		}
		return setSpanAt(c, 0, used(core.Data[int32](c.Input(0)), spanAt(c, 1)))
	}), nil
}

func shrinkRange(*core.Node) (core.Kernel, error) {
	scalars := inRank0(1, "input_min", "input_max")
	return core.Compute(func(c *core.OpContext) error {
		if err := scalars.check(c); err != nil {
			return err
		}
		x, r := c.Input(0), spanAt(c, 1)
		out, err := c.Alloc(0, tf.QUint8, x.Shape())
		if err != nil {
			return err
		}
		to := used(core.Data[int32](x), r)
		fixedPoint(c, core.Data[uint8](out), core.Data[int32](x), r, to)
		return setSpan(c, to)
	}), nil
}

func requantize[Q quantum](d tf.DType, convert func(c *core.OpContext, y []Q, x []int32, from, to span)) core.NewKernel {
	scalars := inRank0(1, "input_min", "input_max", "requested_output_min", "requested_output_max")
	return func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			if err := scalars.check(c); err != nil {
				return err
			}
			x, from, to := c.Input(0), spanAt(c, 1), spanAt(c, 3)
			switch {
			case !(to.lo <= 0):
				return invalid("requested_output_min must be <= 0, but got %.6g", to.lo)
			case !(to.hi >= to.lo):
				return invalid("requested_output_max must be >= requested_output_min, but got %.6g and %.6g", to.hi, to.lo)
			}
			out, err := c.Alloc(0, d, x.Shape())
			if err != nil {
				return err
			}
			convert(c, core.Data[Q](out), core.Data[int32](x), from, to)
			return setSpan(c, to)
		}), nil
	}
}

// throughFloat takes numbers to another range by way of what they stand for. Those of
// a range that is not finite stand for nothing; TensorFlow makes them 0.
func throughFloat[Q quantum](c *core.OpContext, y []Q, x []int32, from, to span) {
	own := affineOf[int32](from)
	if end := own.base + own.step; end-end != 0 {
		clear(y)
		return
	}
	c.ParallelFor(len(y), grain, func(lo, hi int) { inQuanta(y[lo:hi], x[lo:hi], own, to) })
}

// fixedPoint takes numbers of 32 bits to 8 bits with fractions of 16 bits.
func fixedPoint(c *core.OpContext, y []uint8, x []int32, from, to span) {
	const one = 1 << 16
	wide, width := from.hi-from.lo, to.hi-to.lo
	var scale, start, per int64
	middle, recip := float32(float64(from.lo+from.hi)/2), float32(0)
	if width != 0 {
		recip = float32(255 / float64(width))
		scale = whole(255 * one * float64(wide) / float64(width))
		start = whole(math.Round(one * (float64(to.lo) * 255) / float64(width)))
	}
	per = whole(float64(middle*recip*one)) - start + one/2
	c.ParallelFor(len(y), grain, func(lo, hi int) {
		for i, v := range x[lo:hi] {
			y[lo+i] = uint8(min(max((throughFloat32(v)*scale>>32+per)>>16, 0), 255))
		}
	})
}
