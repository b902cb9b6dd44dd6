package quantize

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const quantizedTypes = "{qint8, quint8, qint32, qint16, quint16}"

func init() {
	core.Register(core.OpDef{
		Name: "QuantizeV2", In: "input: float; min_range: float; max_range: float", Out: "output: T; output_min: float; output_max: float",
		Attrs: "T: " + quantizedTypes + "; mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'; " +
			"round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO'; narrow_range: bool = false; axis: int = -1; ensure_minimum_range: float = 0.01",
		Shape: quantizeShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", forQuantized(quantizeKernel[int8], quantizeKernel[uint8], quantizeKernel[int16], quantizeKernel[uint16], quantizeKernel[int32])),
	})
}

// forQuantized lists the kernels of the quantized types.
func forQuantized(q8, u8, q16, u16, q32 core.NewKernel) byType {
	return byType{tf.QInt8: q8, tf.QUint8: u8, tf.QInt16: q16, tf.QUint16: u16, tf.QInt32: q32}
}

// The modes of QuantizeV2 and Dequantize.
const (
	MinCombined = "MIN_COMBINED" // the range begins at the least quantized number
	MinFirst    = "MIN_FIRST"    // so that the minimum itself is a multiple of the step
	Scaled      = "SCALED"       // 0 stays 0
)

// QuantizeOpts are the optional attributes of QuantizeV2 and Dequantize, which
// has neither rounding nor a least range.
type QuantizeOpts struct {
	Mode string // "" stands for MinCombined
	// RoundHalfToEven rounds to the nearest even number what is rounded away
	// from zero else. Mode Scaled has it.
	RoundHalfToEven bool
	NarrowRange     bool // leaves out the least quantized number, in mode Scaled
	// Axis, if not nil, has a range for each of its indices.
	Axis *int
	// EnsureMinimumRange is the least width of the range, relative to its
	// bounds; nil stands for 0.01.
	EnsureMinimumRange *float32
}

// Apply sets the attributes.
func (o QuantizeOpts) Apply(s *tf.Spec) {
	if o.Mode != "" {
		s.Set("mode", o.Mode)
	}
	if o.RoundHalfToEven {
		s.Set("round_mode", "HALF_TO_EVEN")
	}
	s.Set("narrow_range", o.NarrowRange)
	if o.Axis != nil {
		s.Set("axis", *o.Axis)
	}
	if o.EnsureMinimumRange != nil {
		s.Set("ensure_minimum_range", *o.EnsureMinimumRange)
	}
}

// QuantizeV2 returns x, float32, in the quantized type d, and the range that
// its numbers stand for: the given one, made to hold 0 and not be too narrow.
// d is qint8, quint8, qint16, quint16 or qint32; y has the shape of x, and
// numbers outside of the range become its bounds. min and max are float32
// scalars, or with Axis vectors with an element for each index of it; the
// bounds that come out have their shape. Other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step; so are, in the step, a max below min and RoundHalfToEven in other
// modes than Scaled. Mode MinFirst with an Axis of several indices is refused
// with UNIMPLEMENTED. Its options are [QuantizeOpts].
func QuantizeV2(x, min, max tf.Output, d tf.DType, opts ...tf.Option) (y, outMin, outMax tf.Output) {
	op := tf.Apply(nil, "QuantizeV2", []tf.Output{x, min, max}, tf.Join(opts, tf.Attr("T", d))...)
	return op.Output(0), op.Output(1), op.Output(2)
}

// rangeShape wants inputs 1 and 2, the bounds, to be scalars, or vectors with an
// element for each index of the axis of input 0.
func rangeShape(c *core.Infer) (tf.Shape, error) {
	axis, rank := c.Int("axis"), 0
	if axis >= 0 {
		rank = 1
	}
	if axis < -1 {
		return nil, invalid("axis should be at least -1, got %d", axis)
	}
	if in := c.In(0); in != nil && axis >= len(in) {
		return nil, invalid("Shape must be at least rank %d but is rank %d", axis+1, len(in))
	}
	var s tf.Shape
	for i := 1; i < 3; i++ {
		var err error
		if s, err = c.Rank(i, rank); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func quantizeShape(c *core.Infer) error {
	s, err := rangeShape(c)
	if err != nil {
		return err
	}
	c.Set(0, c.In(0))
	c.Set(1, s)
	c.Set(2, s)
	return nil
}

// A quantizer turns numbers into quantized ones.
type quantizer struct {
	mode         string
	even, narrow bool
	least        float32 // relative width of the range
	axis         int
}

func quantizerOf(n *core.Node) (*quantizer, error) {
	q := &quantizer{mode: n.Str("mode"), even: n.Str("round_mode") == "HALF_TO_EVEN", narrow: n.Bool("narrow_range"), least: n.Float("ensure_minimum_range"), axis: n.Int("axis")}
	if q.even && q.mode != Scaled {
		return nil, invalid("Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '%s'.", q.mode)
	}
	return q, nil
}

// bounds checks inputs 1 and 2 and returns the slices of input 0.
func (q *quantizer) bounds(c *core.OpContext) (slices, error) {
	s := c.Input(0).Shape()
	if q.axis < 0 {
		for i, name := range []string{"min_range", "max_range"} {
			if n := c.Input(1 + i).Len(); n != 1 {
				return slices{}, invalid("If axis is not specified, %s must contain a single float element, but it contains %d elements", name, n)
			}
		}
		return slicesOf(s, -1), nil
	}
	if q.axis >= len(s) {
		return slices{}, invalid("Axis is on a zero-based index, so its value must always be less than number of input's dims, but given axis value was %d and input's dims was %d", q.axis, len(s))
	}
	for i, name := range []string{"min_range", "max_range"} {
		const text = "If axis is specified, %[1]s must be a 1-D tensor whose size matches the axis dimension of the input and output tensors, but %[1]s "
		t := c.Input(1 + i)
		if t.Rank() != 1 {
			return slices{}, invalid(text+"dims are %[2]d", name, t.Rank())
		}
		if t.Len() != s[q.axis] {
			return slices{}, invalid(text+"is a 1-D tensor of size %[2]d and input's axis dimension is of size %[3]d", name, t.Len(), s[q.axis])
		}
	}
	return slicesOf(s, q.axis), nil
}

// widened makes a range hold 0 and not be too narrow. A bound that is NaN becomes 0, as in
// TensorFlow, but for numbers of 8 bits without sign by their minimum.
func (q *quantizer) widened(lo, hi float32, d tf.DType) (float32, float32, error) {
	if hi < lo || !(lo <= hi) && d == tf.QUint8 && q.mode == MinFirst {
		return 0, 0, invalid("input_max_range must be larger than input_min_range.")
	}
	epsilon := greater(1, greater(abs(lo), abs(hi))) * q.least
	if !(lo < 0) {
		lo = 0
	}
	return lo, greater(0, greater(hi, lo+epsilon)), nil
}

// greater is C++'s max: the first one if the numbers do not compare.
func greater(a, b float32) float32 {
	if a < b {
		return b
	}
	return a
}

// lesser is C++'s min.
func lesser(a, b float32) float32 {
	if b < a {
		return b
	}
	return a
}

func abs(x float32) float32 { return float32(math.Abs(float64(x))) }

// roundAway rounds halves away from zero.
func roundAway(x float32) float32 { return float32(math.Round(float64(x))) }

// A slicer quantizes one slice.
type slicer[Q quantum] struct {
	lo, hi float32
	run    func(y []Q, x []float32)
}

// slicer returns how numbers between lo and hi are quantized, and the range that
// they then have.
func slicerOf[Q quantum](q *quantizer, lo, hi float32) slicer[Q] {
	switch q.mode {
	case Scaled:
		return scaledSlicer[Q](q, lo, hi)
	case MinFirst:
		f := minFirst[Q]{lo, hi}
		return slicer[Q]{lo, hi, f.quantize}
	}
	if lo == hi { // nothing but 0
		return slicer[Q]{lo, hi, func(y []Q, _ []float32) { clear(y) }}
	}
	scale := (highest[Q]() - lowest[Q]()) / (hi - lo)
	half := (highest[Q]() - lowest[Q]() + 1) / 2
	p := &parameters{lo, hi, scale, half}
	return slicer[Q]{lo, hi, func(y []Q, x []float32) {
		switch {
		case byCode(combined, p, y, x):
		case lowest[Q]() == 0:
			kernel.Map2(y, x, func(v float32) Q { return saturated[Q](floor(float32((max(min(v, hi), lo)-lo)*scale) + 0.5)) })
		default:
			kernel.Map2(y, x, func(v float32) Q { return saturated[Q](roundAway(float32((max(min(v, hi), lo)-lo)*scale) - half)) })
		}
	}}
}

// scaledSlicer keeps 0 and takes the largest scale that fits.
func scaledSlicer[Q quantum](q *quantizer, lo, hi float32) slicer[Q] {
	least, most := lowest[Q](), highest[Q]()
	if q.narrow {
		least++
	}
	scale := float32(math.MaxFloat32)
	if least*lo > 0 {
		scale = least / lo
	}
	if most*hi > 0 {
		scale = min(scale, most/hi)
	}
	lo, hi = least/scale, most/scale
	round := roundAway
	if q.even {
		round = func(x float32) float32 { return float32(math.RoundToEven(float64(x))) }
	}
	p := &parameters{lo, hi, scale}
	return slicer[Q]{lo, hi, func(y []Q, x []float32) {
		if q.even || !byCode(scaled, p, y, x) {
			kernel.Map2(y, x, func(v float32) Q { return saturated[Q](round(max(min(v, hi), lo) * scale)) })
		}
	}}
}

func quantizeKernel[Q quantum](n *core.Node) (core.Kernel, error) {
	q, err := quantizerOf(n)
	if err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		at, err := q.bounds(c)
		if err != nil {
			return err
		}
		if at.n != 1 && q.mode == MinFirst {
			return tf.Errorf(tf.Unimplemented, "MIN_FIRST mode is not implemented for Quantize with axis != -1.")
		}
		return quantizeSlices[Q](c, q, at)
	}), nil
}

func quantizeSlices[Q quantum](c *core.OpContext, q *quantizer, at slices) error {
	in := c.Input(0)
	out, err := c.Alloc(0, c.Node.OutTypes[0], in.Shape())
	if err != nil {
		return err
	}
	var bounds [2][]float32
	for i := range bounds {
		t, err := c.Alloc(1+i, tf.Float32, c.Input(1).Shape())
		if err != nil {
			return err
		}
		bounds[i] = core.Data[float32](t)
	}
	by := core.Make[slicer[Q]](at.n)
	for i := range by {
		lo, hi, err := q.widened(core.Data[float32](c.Input(1))[i], core.Data[float32](c.Input(2))[i], out.DType())
		if err != nil {
			return err
		}
		by[i] = slicerOf[Q](q, lo, hi)
		bounds[0][i], bounds[1][i] = by[i].lo, by[i].hi
	}
	x, y := core.Data[float32](in), core.Data[Q](out)
	at.each(c, func(slice, lo, hi int) { by[slice].run(y[lo:hi], x[lo:hi]) })
	return nil
}
