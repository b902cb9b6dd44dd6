package quantize

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Dequantize", In: "input: T; min_range: float; max_range: float", Out: "output: dtype",
		Attrs: "T: " + quantizedTypes + "; mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'; narrow_range: bool = false; axis: int = -1; dtype: {bfloat16, float} = DT_FLOAT",
		Shape: dequantizeShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", forQuantized(dequantizeKernel[int8], dequantizeKernel[uint8], dequantizeKernel[int16], dequantizeKernel[uint16], dequantizeKernel[int32])),
	})
}

// Dequantize returns what the quantized numbers x stand for in the range from
// min to max, as float32 or, in mode MinCombined, as attribute dtype tells
// bfloat16. x is qint8, quint8, qint16, quint16 or qint32, the result has its
// shape, and Mode, NarrowRange and Axis of [QuantizeOpts] are its options. min
// and max are float32 scalars, or with Axis vectors with an element for each
// index of it; other shapes are refused with INVALID_ARGUMENT, when the graph
// is built if they are known, else in the step. So is, in the step, bfloat16
// in other modes; mode MinFirst with an Axis of several indices is refused
// with UNIMPLEMENTED.
func Dequantize(x, min, max tf.Output, opts ...tf.Option) tf.Output {
	return apply("Dequantize", opts, x, min, max)
}

func dequantizeShape(c *core.Infer) error {
	_, err := rangeShape(c)
	c.Set(0, c.In(0))
	return err
}

func dequantizeKernel[Q quantum](n *core.Node) (core.Kernel, error) {
	mode, narrow, axis := n.Str("mode"), n.Bool("narrow_range"), n.Int("axis")
	if n.Type("dtype") == tf.BFloat16 && mode != MinCombined {
		return nil, invalid("When output type is bfloat16, Mode string must be 'MIN_COMBINED', is '%s'", mode)
	}
	return core.Compute(func(c *core.OpContext) error {
		at, err := dequantizeSlices(c, axis)
		if err != nil {
			return err
		}
		if at.n != 1 && mode == MinFirst {
			return tf.Errorf(tf.Unimplemented, "MIN_FIRST mode is not implemented for Dequantize with axis != -1.")
		}
		lo, hi := core.Data[float32](c.Input(1)), core.Data[float32](c.Input(2))
		by := make([]func([]float32, []Q), at.n)
		for i := range by {
			by[i] = dequantizer[Q](mode, narrow, lo[i], hi[i])
		}
		return dequantizeInto(c, at, by)
	}), nil
}

// dequantizeSlices checks the bounds and returns the slices of the input.
func dequantizeSlices(c *core.OpContext, axis int) (slices, error) {
	s := c.Input(0).Shape()
	switch {
	case axis < -1:
		return slices{}, invalid("Axis must be at least -1. Found %d", axis)
	case axis >= len(s):
		return slices{}, invalid("Axis must be less than input dimension(%d), got %d", len(s), axis)
	}
	at := slicesOf(s, axis)
	for i, name := range []string{"input_min_tensor", "input_max_tensor"} {
		if n := c.Input(1 + i).Len(); n != at.n {
			return slices{}, invalid("%s must have as many elements as input on the dequantization axis (%d), got %d, expected %d", name, axis, n, at.n)
		}
	}
	return at, nil
}

// dequantizer returns what computes what quantized numbers of a range stand for.
func dequantizer[Q quantum](mode string, narrow bool, lo, hi float32) func([]float32, []Q) {
	least, most := lowest[Q](), highest[Q]()
	switch mode {
	case MinFirst:
		return minFirst[Q]{lo, hi}.dequantize
	case Scaled:
		scale := hi / most
		if least != 0 {
			if narrow {
				least++
			}
			scale = greater(lo/least, scale)
		}
		none := float32(math.Copysign(0, -1)) // added, it changes nothing
		return func(y []float32, x []Q) {
			if !dequantized(none, scale, 0, y, x) {
				kernel.Map2(y, x, func(v Q) float32 { return float32(v) * scale })
			}
		}
	}
	scale, half := (hi-lo)/(most-least), float32(0)
	if least != 0 {
		half = (most - least + 1) / 2
	}
	return func(y []float32, x []Q) {
		if !dequantized(lo, scale, half, y, x) {
			kernel.Map2(y, x, func(v Q) float32 { return float32((float32(v)+half)*scale) + lo })
		}
	}
}

// dequantizeInto makes output 0 what by, for each slice, computes.
func dequantizeInto[Q quantum](c *core.OpContext, at slices, by []func([]float32, []Q)) error {
	in := c.Input(0)
	out, err := c.Alloc(0, c.Node.OutTypes[0], in.Shape())
	if err != nil {
		return err
	}
	x := core.Data[Q](in)
	if out.DType() == tf.Float32 {
		y := core.Data[float32](out)
		at.each(c, func(slice, lo, hi int) { by[slice](y[lo:hi], x[lo:hi]) })
		return nil
	}
	y := core.Data[tf.BF16](out)
	at.each(c, func(slice, lo, hi int) {
		wide := core.Make[float32](hi - lo)
		by[slice](wide, x[lo:hi])
		elementwise.Narrow(y[lo:hi], wide)
	})
	return nil
}
