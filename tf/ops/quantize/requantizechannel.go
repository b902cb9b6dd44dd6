package quantize

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const in = "input: T; input_min: float; input_max: float"
	core.Register(core.OpDef{
		Name: "RequantizationRangePerChannel", In: in, Out: "output_min: float; output_max: float", Attrs: "T: " + quantizedTypes + " = DT_QINT32; clip_value_max: float",
		Shape: rangesShape(1), NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", byType{tf.QInt32: channelsRange}),
	})
	core.Register(core.OpDef{
		Name: "RequantizePerChannel", In: in + "; requested_output_min: float; requested_output_max: float", Out: "output: out_type; output_min: float; output_max: float",
		Attrs: "T: " + quantizedTypes + " = DT_QINT32; out_type: " + quantizedTypes + " = DT_QUINT8",
		Shape: channelsShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("out_type", byType{tf.QUint8: channels32(requantizeChannels[uint8](tf.QUint8)), tf.QInt8: channels32(requantizeChannels[int8](tf.QInt8))}),
	})
}

// RequantizationRangePerChannel returns the range of the numbers that images x
// of 32 bits have, whose range is given for each channel. It ends at clip. The
// values are qint32 [batch height width channels] with vectors for bounds, the
// results float32 scalars. Other shapes and images without elements are
// refused with INVALID_ARGUMENT in the step, bounds of another rank when the
// graph is built if it is known; other types with NOT_FOUND.
func RequantizationRangePerChannel(x Quantized, clip float32, opts ...tf.Option) (min, max tf.Output) {
	o := tf.Apply(nil, "RequantizationRangePerChannel", []tf.Output{x.Values, x.Min, x.Max}, tf.Join(opts, tf.Attr("clip_value_max", clip))...)
	return o.Output(0), o.Output(1)
}

// RequantizePerChannel returns images x of 32 bits, whose range is given for
// each channel, in 8 bits, a quantized type, of one range. What is greater, of
// the absolute values of its bounds, counts. The values are qint32 of four
// dimensions and d is quint8 or qint8; other types are refused with NOT_FOUND
// in the step. Bounds without an element for each channel, a min or max of
// several elements and, for qint8, a min that is not negative are refused with
// INVALID_ARGUMENT in the step. Bounds of one element are those of all channels, and
// elements beyond the channels do not count.
func RequantizePerChannel(x Quantized, min, max tf.Output, d tf.DType, opts ...tf.Option) Quantized {
	return quantizedOf("RequantizePerChannel", tf.Join(opts, tf.Attr("out_type", d)), x.Values, x.Min, x.Max, min, max)
}

// channels32 is for kernels of numbers of 32 bits.
func channels32(k core.NewKernel) core.NewKernel { return only(k, map[string]tf.DType{"T": tf.QInt32}) }

func channelsShape(c *core.Infer) error {
	c.Set(0, c.In(0))
	for i := 1; i < 3; i++ {
		if _, err := c.Rank(i, 1); err != nil {
			return err
		}
	}
	return scalarShapes(c, 3, 1)
}

// reach returns the greatest absolute values of ranges whose bounds are given.
func reach(lo, hi []float32) []float32 {
	out := core.Make[float32](len(lo))
	for i := range out {
		out[i] = span{lo[i], hi[i]}.farther()
	}
	return out
}

// channelsArgs checks the inputs of RequantizationRangePerChannel.
func channelsArgs(c *core.OpContext) error {
	x, lo, hi := c.Input(0).Shape(), c.Input(1).Shape(), c.Input(2).Shape()
	depth := hi.NumElements()
	switch {
	case len(lo) == 0 || len(hi) == 0: // ends the process in TensorFlow
		return invalid("input_min and input_max must be vectors, got shapes %s and %s", lo.String(), hi.String())
	case lo[0] != depth:
		return invalid("input_min has incorrect size, expected %d was %d", depth, lo[0])
	case hi[0] != depth:
		return invalid("input_max has incorrect size, expected %d was %d", depth, hi[0])
	case lo.NumElements() != depth:
		return invalid("input_min must have the same number of elements as input_max, got %d and %d", lo.NumElements(), depth)
	case x.NumElements() == 0:
		return invalid("input must not be empty")
	case len(x) != 4:
		return invalid("input must be in NHWC format")
	case x[3] != depth:
		return invalid("input must have same number of channels as length of input_min: %d vs %d", x[3], depth)
	}
	return nil
}

func channelsRange(n *core.Node) (core.Kernel, error) {
	clip := n.Float("clip_value_max")
	return core.Compute(func(c *core.OpContext) error {
		if err := channelsArgs(c); err != nil {
			return err
		}
		scale := reach(core.Data[float32](c.Input(1)), core.Data[float32](c.Input(2)))
		most, least := farthest(core.Data[int32](c.Input(0)), len(scale))
		r := span{0, math.SmallestNonzeroFloat32 * (1 << 23)}
		for i, s := range scale {
			r.hi = greater(r.hi, s*float32(most[i])/(1<<31))
		}
		r.hi = lesser(r.hi, clip)
		if least < 0 {
			r.lo = -r.hi
		}
		return setSpanAt(c, 0, r)
	}), nil
}

// farthest returns the greatest absolute value of each channel, as 32 bits hold
// it, and the least number of all.
func farthest(x []int32, channels int) (most []int32, least int32) {
	lo, hi := core.Make[int32](channels), core.Make[int32](channels)
	for i := range lo {
		lo[i], hi[i] = math.MaxInt32, math.MinInt32
	}
	for i, v := range x {
		ch := i % channels
		lo[ch], hi[ch] = min(lo[ch], v), max(hi[ch], v)
	}
	least = math.MaxInt32
	for i, v := range lo {
		least = min(least, v)
		hi[i] = max(max(v, -v), max(hi[i], -hi[i]))
	}
	return hi, least
}

// requantizeArgs checks the inputs of RequantizePerChannel.
func requantizeArgs(c *core.OpContext) error {
	x, depth, n := c.Input(0).Shape(), c.Input(1).Len(), c.Input(2).Len()
	switch {
	case len(x) != 4:
		return invalid("Current RequantizePerChannel operatorsupports 4D tensors only.")
	case n != depth:
		return invalid("input_max has incorrect size, expected %d was %d", depth, n)
	case c.Input(3).Len() != 1:
		return invalid("requested_output_min must be a scalar")
	case c.Input(4).Len() != 1:
		return invalid("requested_output_max must be a scalar")
	case depth != 1 && depth < x[3] || depth == 0: // TensorFlow reads past the end
		return invalid("input_min must have an element for each of %d channels, got %d", x[3], depth)
	}
	return nil
}

func requantizeChannels[Q int8 | uint8](d tf.DType) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			if err := requantizeArgs(c); err != nil {
				return err
			}
			x, to := c.Input(0), span{core.Data[float32](c.Input(3))[0], core.Data[float32](c.Input(4))[0]}
			if d == tf.QInt8 && !(to.lo < 0) {
				return invalid("If out_type is QINT8, requested_output_max must be non negative, got %.6g", to.lo)
			}
			out, err := c.Alloc(0, d, x.Shape())
			if err != nil {
				return err
			}
			scale := reach(core.Data[float32](c.Input(1)), core.Data[float32](c.Input(2)))
			for i, s := range scale {
				scale[i] = highest[Q]() * (s / to.farther() / (1 << 31))
			}
			scaleChannels(c, core.Data[Q](out), core.Data[int32](x), scale[:min(len(scale), x.Dim(3))])
			return setSpan(c, to)
		}), nil
	}
}

// scaleChannels multiplies numbers by what scale has for their channel.
func scaleChannels[Q int8 | uint8](c *core.OpContext, y []Q, x []int32, scale []float32) {
	c.ParallelFor(len(y), grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y[i] = saturated[Q](float32(math.RoundToEven(float64(float32(x[i]) * scale[i%len(scale)]))))
		}
	})
}
