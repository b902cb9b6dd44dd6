package quantize

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/reduction"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	simTypes = "T: {bfloat16, half, float, double}; "
	simRound = "round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'; narrow_range: bool = false; axis: int = -1"
	simV2    = "signed_input: bool = true; num_bits: int = 8; range_given: bool = false; " + simTypes + simRound
)

func init() {
	const ranged = "input: T; input_min: T; input_max: T"
	core.Register(core.OpDef{
		Name: "QuantizeAndDequantize", In: "input: T", Out: "output: T",
		Attrs: "signed_input: bool = true; num_bits: int = 8; range_given: bool = false; input_min: float = 0.0; input_max: float = 0.0; " + simTypes,
		Shape: core.UnchangedShape, Grad: tf.GradFunc(straightThrough), Kernels: simKernels(simulate[float32], simulate[float64]),
	})
	core.Register(core.OpDef{
		Name: "QuantizeAndDequantizeV2", In: ranged, Out: "output: T", Attrs: simV2,
		Shape: simShape, Grad: tf.GradFunc(straightThrough), Kernels: simKernels(simulate[float32], simulate[float64]),
	})
	core.Register(core.OpDef{
		Name: "QuantizeAndDequantizeV3", In: ranged + "; num_bits: int32", Out: "output: T",
		Attrs: "signed_input: bool = true; range_given: bool = true; " + simTypes + "narrow_range: bool = false; axis: int = -1",
		Shape: simShape, Grad: tf.GradFunc(straightThrough), Kernels: simKernels(simulate[float32], simulate[float64]),
	})
	core.Register(core.OpDef{
		Name: "QuantizeAndDequantizeV4", In: ranged, Out: "output: T", Attrs: simV2,
		Shape: simShape, Grad: tf.GradFunc(simV4Grad), Kernels: simKernels(simulate[float32], simulate[float64]),
	})
	core.Register(core.OpDef{
		Name: "QuantizeAndDequantizeV4Grad", In: "gradients: T; " + ranged, Out: "input_backprop: T; input_min_backprop: T; input_max_backprop: T",
		Attrs: simTypes + "axis: int = -1", Shape: simGradShape, NoGrad: core.NoGradientDefined, Kernels: simKernels(simulateGrad[float32], simulateGrad[float64]),
	})
}

// SimulateOpts are the optional attributes of QuantizeAndDequantizeV2, V3 and
// V4. V3 has no round mode and takes the number of bits as an input.
type SimulateOpts struct {
	Unsigned bool // quantized numbers begin at 0
	NumBits  int  // 0 stands for 8
	// RangeGiven takes the range from the inputs, not from what is quantized;
	// nil stands for false, for V3 for true.
	RangeGiven  *bool
	RoundHalfUp bool // instead of to the nearest even number
	NarrowRange bool // leaves out the least of the quantized numbers
	// Axis, if not nil, has a range for each of its indices.
	Axis *int
}

// Apply sets the attributes.
func (o SimulateOpts) Apply(s *tf.Spec) {
	s.Set("signed_input", !o.Unsigned)
	if o.NumBits != 0 {
		s.Set("num_bits", o.NumBits)
	}
	if o.RangeGiven != nil {
		s.Set("range_given", *o.RangeGiven)
	}
	if o.RoundHalfUp {
		s.Set("round_mode", "HALF_UP")
	}
	s.Set("narrow_range", o.NarrowRange)
	if o.Axis != nil {
		s.Set("axis", *o.Axis)
	}
}

// QuantizeAndDequantize is QuantizeAndDequantizeV2 with a range as attributes.
// x is float32 or float64, and the result has its shape and type; float16 and
// bfloat16 have no kernel and are refused with NOT_FOUND in the step. Other
// types are refused with INVALID_ARGUMENT when the graph is built. So are, in
// the step, numbers of bits that are not positive or more than 61 with sign,
// 62 without, and a range whose least number is above the greatest, if the
// range is given.
//
// Deprecated: use QuantizeAndDequantizeV2.
func QuantizeAndDequantize(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("QuantizeAndDequantize", opts, x)
}

// QuantizeAndDequantizeV2 returns x, float32 or float64, rounded as quantizing
// it does: 0 stays 0, and the range is widened on one side for that. Gradients
// go through as if nothing was done. The result has the type and shape of x;
// float16 and bfloat16 have no kernel and are refused with NOT_FOUND in the
// step. min and max have the type of x and are scalars, or with Axis vectors
// with an element for each index of it; other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step if the range is given. So are, in the step, a min above max if the
// range is given, and numbers of bits that are not positive or more than 61
// with sign, 62 without. Its options are [SimulateOpts].
func QuantizeAndDequantizeV2(x, min, max tf.Output, opts ...tf.Option) tf.Output {
	return apply("QuantizeAndDequantizeV2", opts, x, min, max)
}

// QuantizeAndDequantizeV3 is QuantizeAndDequantizeV2 with the number of bits
// as an input. numBits is an int32 scalar. Types and errors are those of
// QuantizeAndDequantizeV2.
func QuantizeAndDequantizeV3(x, min, max, numBits tf.Output, opts ...tf.Option) tf.Output {
	return apply("QuantizeAndDequantizeV3", opts, x, min, max, numBits)
}

// QuantizeAndDequantizeV4 is QuantizeAndDequantizeV2 whose gradient is zero
// outside of the range. Types and errors are those of QuantizeAndDequantizeV2.
// Its options are [SimulateOpts].
func QuantizeAndDequantizeV4(x, min, max tf.Output, opts ...tf.Option) tf.Output {
	return apply("QuantizeAndDequantizeV4", opts, x, min, max)
}

// QuantizeAndDequantizeV4Grad returns the gradients for x, and zeros for the
// range. All have one type, float32 or float64, and each gradient has the
// shape of its input. dx is dy where x lies within the range, else 0. A dy of
// another shape than x is refused with INVALID_ARGUMENT in the step; bounds of
// other shapes than those of QuantizeAndDequantizeV2 are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step.
func QuantizeAndDequantizeV4Grad(dy, x, min, max tf.Output, opts ...tf.Option) (dx, dmin, dmax tf.Output) {
	op := tf.Apply(nil, "QuantizeAndDequantizeV4Grad", []tf.Output{dy, x, min, max}, opts...)
	return op.Output(0), op.Output(1), op.Output(2)
}

// simRange checks the ranges in inputs i and i+1 of the op of input x.
func simRange(c *core.Infer, x, i int) error {
	axis := c.Int("axis")
	rank := 0
	if axis >= 0 {
		rank = 1
	}
	if axis < -1 {
		return invalid("axis should be at least -1, got %d", axis)
	}
	for k := range 2 {
		s, err := c.Rank(i+k, rank)
		if err != nil {
			return err
		}
		if in := c.In(x); rank == 1 && in != nil && axis < len(in) && s[0] >= 0 && in[axis] >= 0 && s[0] != in[axis] {
			return invalid("Dimensions must be equal, but are %d and %d", s[0], in[axis])
		}
	}
	if in := c.In(x); in != nil && len(in) <= axis {
		return invalid("Shape must be at least rank %d but is rank %d", axis+1, len(in))
	}
	return nil
}

func simShape(c *core.Infer) error {
	c.Set(0, c.In(0))
	return simRange(c, 0, 1)
}

func simGradShape(c *core.Infer) error {
	c.Set(0, c.In(1))
	c.Set(1, c.In(2))
	c.Set(2, c.In(3))
	return simRange(c, 1, 2)
}

func simKernels(f32, f64 func(*core.OpContext) error) core.KernelSet {
	kernelOf := func(run func(*core.OpContext) error) core.NewKernel {
		return func(n *core.Node) (core.Kernel, error) {
			if err := checkBits(n); err != nil {
				return nil, err
			}
			return core.Compute(run), nil
		}
	}
	return core.ByType("T", byType{tf.Float32: kernelOf(f32), tf.Float64: kernelOf(f64)})
}

// checkBits checks the number of bits, where that is an attribute, and a range
// of attributes.
func checkBits(n *core.Node) error {
	bits, signed := n.Int("num_bits"), n.Bool("signed_input")
	if n.Attr("num_bits") == nil {
		return nil
	}
	most := 63
	if signed {
		most = 62
	}
	if bits <= 0 || bits >= most {
		return invalid("num_bits is out of range: %d with signed_input_ %d", bits, b2i(signed))
	}
	if lo, hi := n.Float("input_min"), n.Float("input_max"); n.Bool("range_given") && !(lo <= hi) {
		return invalid("Invalid range: input_min %v > input_max %v", lo, hi)
	}
	return nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A simulation quantizes to whole numbers from low to high.
type simulation[T float] struct {
	low, high T
	given     bool
	halfUp    bool
}

func simulationOf[T float](n *core.Node, bits int) simulation[T] {
	v := simulation[T]{given: n.Bool("range_given"), halfUp: n.Str("round_mode") == "HALF_UP", high: T(uint64(1)<<bits - 1)}
	if n.Bool("signed_input") {
		v.low, v.high = -T(uint64(1)<<(bits-1)), T(uint64(1)<<(bits-1)-1)
		if n.Bool("narrow_range") {
			v.low++
		}
	}
	return v
}

// A scaling maps numbers between lo and hi to whole ones.
type scaling[T float] struct{ lo, hi, scale, inverse T }

// scaling returns the largest scale that keeps a range within the quantized
// numbers, and the range that they then cover.
func (v *simulation[T]) scaling(lo, hi T) scaling[T] {
	most := T(math.MaxFloat32)
	if _, wide := any(most).(float64); wide {
		biggest := math.MaxFloat64
		most = T(biggest)
	}
	fromLo, fromHi := most, most
	if v.low*lo > 0 {
		fromLo = v.low / lo
	}
	if v.high*hi > 0 {
		fromHi = v.high / hi
	}
	if fromLo < fromHi {
		inverse := lo / v.low
		return scaling[T]{lo, v.high * inverse, fromLo, inverse}
	}
	inverse := hi / v.high
	return scaling[T]{v.low * inverse, hi, fromHi, inverse}
}

// round sets y to what is left of x after quantization.
func (v *simulation[T]) round(y, x []T, s scaling[T]) {
	wide := s
	if !v.given {
		wide.lo, wide.hi = T(math.Inf(-1)), T(math.Inf(1))
	}
	if !v.halfUp && roundCode(y, x, wide) {
		return
	}
	for i, e := range x {
		if v.given {
			e = max(min(e, s.hi), s.lo)
		}
		if e *= s.scale; v.halfUp {
			e = T(math.Floor(float64(e + 0.5)))
		} else {
			e = T(math.RoundToEven(float64(e)))
		}
		y[i] = e * s.inverse
	}
}

// bitsOf returns the number of bits, which is an input of the third form.
func bitsOf(c *core.OpContext) (int, error) {
	if c.Node.Attr("num_bits") != nil {
		return c.Node.Int("num_bits"), nil
	}
	t := c.Input(3)
	if t.Rank() != 0 {
		return 0, invalid("Invalid shape. The `num_bits` tensor should be a scalar. Got dimensions: %d", t.Rank())
	}
	bits, signed := int(core.Data[int32](t)[0]), c.Node.Bool("signed_input")
	if most := 63 - b2i(signed); bits <= 0 || bits >= most {
		return 0, invalid("num_bits is out of range: %d with `signed_input_` %d", bits, b2i(signed))
	}
	return bits, nil
}

// ranges returns the bounds for each slice of input 0.
func (v *simulation[T]) ranges(c *core.OpContext, at slices, x []T) (lo, hi []T, err error) {
	if v.given && c.Inputs() == 1 {
		return []T{T(c.Node.Float("input_min"))}, []T{T(c.Node.Float("input_max"))}, nil
	}
	if v.given {
		if lo, hi, err = givenRanges[T](c, 1, at.n); err != nil {
			return nil, nil, err
		}
		for i := range lo {
			if !(lo[i] <= hi[i]) {
				return nil, nil, invalid("Invalid range: input_min %v > input_max %v", lo[i], hi[i])
			}
		}
		return lo, hi, nil
	}
	lo, hi = core.Make[T](at.n), core.Make[T](at.n)
	across := reduction.NewReduction([]int{at.outer, at.n, at.inner}, []bool{true, false, true})
	reduction.Reduce(c.ParallelFor, across, lo, x, reduction.MinFold[T]())
	reduction.Reduce(c.ParallelFor, across, hi, x, reduction.MaxFold[T]())
	return lo, hi, nil
}

// givenRanges reads the bounds for n slices from inputs i and i+1. With an axis
// TensorFlow takes them in some of the ops only, and wants scalars in the
// others.
func givenRanges[T float](c *core.OpContext, i, n int) (lo, hi []T, err error) {
	axis := c.Node.Int("axis")
	for k, name := range []string{"input_min", "input_max"} {
		switch t := c.Input(i + k); {
		case axis < 0 && t.Rank() != 0:
			return nil, nil, invalid("%s must be a scalar.", name)
		case axis >= 0 && t.Rank() != 1:
			return nil, nil, invalid("Shape must be rank 1 for %s_tensor when the axis is specified", name)
		case axis >= 0 && t.Len() != n:
			return nil, nil, invalid("%s_tensor has incorrect size, was %d expected %d to match dim %d of the input %s", name, t.Len(), n, axis, t.Shape().String())
		}
	}
	return core.Data[T](c.Input(i)), core.Data[T](c.Input(i + 1)), nil
}

// axisOf returns the axis of slices of a tensor of shape s, -1 for none.
func axisOf(n *core.Node, s tf.Shape) (int, error) {
	if n.Attr("axis") == nil {
		return -1, nil
	}
	axis := n.Int("axis")
	if axis < -1 {
		return 0, invalid("Axis must be at least -1. Found %d", axis)
	}
	if axis >= len(s) {
		return 0, invalid("Axis should be -1 or 0 or a positive value less than %d but given axis value was %d", len(s), axis)
	}
	return axis, nil
}

func simulate[T float](c *core.OpContext) error {
	in := c.Input(0)
	axis, err := axisOf(c.Node, in.Shape())
	if err != nil {
		return err
	}
	bits, err := bitsOf(c)
	if err != nil {
		return err
	}
	at, v := slicesOf(in.Shape(), axis), simulationOf[T](c.Node, bits)
	x := core.Data[T](in)
	lo, hi, err := v.ranges(c, at, x)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, in.DType(), in.Shape())
	if err != nil {
		return err
	}
	scales := core.Make[scaling[T]](len(lo))
	for i := range scales {
		scales[i] = v.scaling(lo[i], hi[i])
	}
	y := core.Data[T](out)
	at.each(c, func(slice, lo, hi int) { v.round(y[lo:hi], x[lo:hi], scales[slice]) })
	return nil
}

func simulateGrad[T float](c *core.OpContext) error {
	dy, in := c.Input(0), c.Input(1)
	if !dy.Shape().Equal(in.Shape()) {
		return invalid("gradient and input must be the same size")
	}
	axis, err := axisOf(c.Node, in.Shape())
	if err != nil {
		return err
	}
	at := slicesOf(in.Shape(), axis)
	low, high, err := givenRanges[T](c, 2, at.n)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, in.DType(), in.Shape())
	if err != nil {
		return err
	}
	for i := range 2 {
		t, err := c.Alloc(1+i, in.DType(), c.Input(2+i).Shape())
		if err != nil {
			return err
		}
		clear(core.Data[T](t))
	}
	dx, g, x := core.Data[T](out), core.Data[T](dy), core.Data[T](in)
	at.each(c, func(slice, lo, hi int) {
		for i := lo; i < hi; i++ {
			if dx[i] = g[i]; !(x[i] >= low[slice] && x[i] <= high[slice]) {
				dx[i] *= 0
			}
		}
	})
	return nil
}

// straightThrough is the gradient of ops that differ little from their input.
func straightThrough(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(append([]tf.Output{dy[0]}, make([]tf.Output, len(op.Inputs())-1)...)...)
}

func simV4Grad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	dx, lo, hi := QuantizeAndDequantizeV4Grad(dy[0], op.Input(0), op.Input(1), op.Input(2), tf.Attr("axis", op.Int("axis")))
	return tf.Grads(dx, lo, hi)
}
