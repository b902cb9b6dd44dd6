package xla

import (
	"math"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	addElementwise(1, map[string]applier{
		"count_leading_zeros": leadingZeros, "not": ofBooleans("LogicalNot", ofIntegers("Invert")),
		"popcnt": countOnes, "reduce_precision": reducePrecision,
	})
	addElementwise(2, map[string]applier{
		"and": ofBooleans("LogicalAnd", ofIntegers("BitwiseAnd")), "or": ofBooleans("LogicalOr", ofIntegers("BitwiseOr")),
		"xor": ofBooleans("NotEqual", ofIntegers("BitwiseXor")), "shift_left": shiftLeft,
		"shift_right_arithmetic": shiftArithmetic, "shift_right_logical": shiftLogical,
	})
}

// ofIntegers is plain for integers only.
func ofIntegers(name string) applier {
	return func(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error) {
		if !isInt(in[0].DType().Base()) {
			return tf.Output{}, refused(op, "it takes integers, got %v", in[0].DType())
		}
		return l.apply(name, in...), nil
	}
}

// natural returns integers as unsigned ones of the same bits.
func natural(op *stablehlo.Op, x tf.Output) (tf.Output, error) {
	d := x.DType().Base()
	u, ok := unsigned[d]
	switch {
	case !ok:
		return tf.Output{}, refused(op, "it takes integers, got %v", d)
	case u == d:
		return x, nil
	}
	return ops.Bitcast(x, u), nil
}

// like returns unsigned integers as x's type.
func like(x, y tf.Output) tf.Output {
	if d := x.DType().Base(); d != y.DType().Base() {
		return ops.Bitcast(y, d)
	}
	return y
}

func countOnes(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	u, err := natural(op, in[0])
	if err != nil {
		return u, err
	}
	return ops.Cast(ops.PopulationCount(u), in[0].DType().Base()), nil
}

// leadingZeros counts the ones of what has ones from the first one on down.
func leadingZeros(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	u, err := natural(op, in[0])
	if err != nil {
		return u, err
	}
	d := u.DType().Base()
	for n := 1; n < bits(d); n *= 2 {
		u = ops.BitwiseOr(u, ops.RightShift(u, l.number(d, float64(n))))
	}
	return ops.Cast(ops.PopulationCount(ops.Invert(u)), in[0].DType().Base()), nil
}

// shifts returns shifts as unsigned integers, and which of them are as wide as the
// integers that are shifted; none if that is known.
func (l *lowering) shifts(op *stablehlo.Op, in []tf.Output) (s, wide tf.Output, err error) {
	if s, err = natural(op, in[1]); err != nil {
		return s, wide, err
	}
	d := s.DType().Base()
	if c, ok := constantShift(op.Operands[1]); ok && !l.loose && c >= 0 && c < bits(d) {
		return s, wide, nil
	}
	wide = ops.GreaterEqual(s, l.number(d, float64(bits(d))))
	return ops.SelectV2(wide, l.number(d, 0), s), wide, nil
}

// constantShift returns the shift that a value has for all elements.
func constantShift(v *stablehlo.Value) (int, bool) {
	c, ok := constantInts(origin(v, "broadcast_in_dim", "dynamic_broadcast_in_dim"))
	if !ok || len(c) == 0 {
		return 0, false
	}
	for _, n := range c {
		if n != c[0] {
			return 0, false
		}
	}
	return c[0], true
}

// shift shifts unsigned integers. Those that are shifted by their width or more are 0.
func (l *lowering) shift(op *stablehlo.Op, in []tf.Output, by func(x, s tf.Output, opts ...tf.Option) tf.Output) (tf.Output, error) {
	s, wide, err := l.shifts(op, in)
	if err != nil {
		return s, err
	}
	x, err := natural(op, in[0])
	if err != nil {
		return x, err
	}
	y := by(x, s)
	if !wide.IsZero() {
		y = ops.SelectV2(wide, l.number(x.DType().Base(), 0), y)
	}
	return like(in[0], y), nil
}

func shiftLeft(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	return l.shift(op, in, ops.LeftShift)
}

func shiftLogical(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	return l.shift(op, in, ops.RightShift)
}

// shiftArithmetic fills with the sign.
func shiftArithmetic(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	s, wide, err := l.shifts(op, in)
	if err != nil {
		return s, err
	}
	x, err := natural(op, in[0])
	if err != nil {
		return x, err
	}
	u := x.DType().Base()
	d := u
	for signed, of := range unsigned {
		if of == u && signed != u {
			d = signed
		}
	}
	if !wide.IsZero() {
		s = ops.SelectV2(wide, l.number(u, float64(bits(u)-1)), s)
	}
	y := ops.RightShift(ops.Bitcast(x, d), ops.Bitcast(s, d))
	if in[0].DType().Base() != d {
		y = ops.Bitcast(y, u)
	}
	return y, nil
}

// A float describes the bits of a floating-point type.
type float struct {
	whole          tf.DType // the unsigned integers of its size
	mantissa, bias int
}

// Float16 is by itself: as float32 its least numbers would have more bits than they have.
var floats = map[tf.DType]float{tf.Float16: {tf.Uint16, 10, 15}, tf.Float32: {tf.Uint32, 23, 127}, tf.Float64: {tf.Uint64, 52, 1023}}

// reducePrecision rounds to fewer bits of mantissa and exponent.
func reducePrecision(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	r := reading{op: op}
	e, m := r.int("exponent_bits", 0), r.int("mantissa_bits", 0)
	if r.err == nil && (e < 1 || m < 0) {
		r.fail("it takes at least 1 bit of exponent and 0 of mantissa, got %d and %d", e, m)
	}
	d := in[0].DType().Base()
	if r.err != nil || !isFloat(d) {
		return in[0], r.err
	}
	x := in[0]
	if _, ok := floats[d]; !ok {
		x = ops.Cast(x, tf.Float32)
	}
	return ops.Cast(l.reduced(x, e, m), d), nil
}

func (l *lowering) reduced(x tf.Output, e, m int) tf.Output {
	d := x.DType().Base()
	f := floats[d]
	word := func(v uint64) tf.Output {
		switch f.whole {
		case tf.Uint16:
			return ops.ConstValue(l.g, core.Scalar(uint16(v)))
		case tf.Uint32:
			return ops.ConstValue(l.g, core.Scalar(uint32(v)))
		}
		return ops.ConstValue(l.g, core.Scalar(v))
	}
	signBit := uint64(1) << (8*d.Size() - 1)
	b := ops.Bitcast(x, f.whole)
	signs, rest := ops.BitwiseAnd(b, word(signBit)), ops.BitwiseAnd(b, word(signBit-1))
	if cut := f.mantissa - m; cut > 0 {
		last := ops.BitwiseAnd(ops.RightShift(rest, word(uint64(cut))), word(1))
		rest = l.apply("AddV2", rest, l.apply("AddV2", last, word(1<<(cut-1)-1)))
		rest = ops.BitwiseAnd(rest, ops.Invert(word(1<<cut-1)))
	}
	y := ops.Bitcast(rest, d)
	if most := 1<<(min(e, 11)-1) - 1; most < f.bias {
		y = ops.SelectV2(ops.GreaterEqual(y, l.number(d, math.Ldexp(1, most+1))), l.number(d, math.Inf(1)), y)
		y = ops.SelectV2(ops.Less(y, l.number(d, math.Ldexp(1, 1-most))), l.number(d, 0), y)
	}
	y = ops.Bitcast(ops.BitwiseOr(ops.Bitcast(y, f.whole), signs), d)
	return ops.SelectV2(ops.IsNan(x), x, y)
}
