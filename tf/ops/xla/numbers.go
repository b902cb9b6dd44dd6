package xla

import (
	"encoding/binary"
	"math"

	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// Operations whose results StableHLO defines where TensorFlow fails or does not:
// quotients by zero, powers of negative exponents, numbers out of a type's range.

// divisor returns y with 1 in the place of 0, and whether there may be zeros.
func (l *lowering) divisor(op *stablehlo.Op, y tf.Output) (safe, zero tf.Output) {
	if c, ok := constantInts(op.Operands[1]); ok && !l.loose && allNonZero(c) || neverZero(op.Operands[1]) {
		return y, tf.Output{}
	}
	d := y.DType().Base()
	zero = l.equals(y, 0)
	return ops.SelectV2(zero, l.number(d, 1), y), zero
}

func allNonZero(v []int) bool {
	for _, n := range v {
		if n == 0 {
			return false
		}
	}
	return true
}

// neverZero reports whether a value is broadcast from a constant without zeros.
func neverZero(v *stablehlo.Value) bool {
	c, ok := constantInts(origin(v, "broadcast_in_dim", "dynamic_broadcast_in_dim"))
	return ok && allNonZero(c)
}

// equals compares with a number.
func (l *lowering) equals(x tf.Output, v float64) tf.Output {
	return ops.Equal(x, l.number(x.DType().Base(), v))
}

// divide rounds quotients of integers towards zero. By zero they are all ones.
func divide(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	d := in[0].DType().Base()
	if !isInt(d) {
		return l.apply("RealDiv", in...), nil
	}
	y, zero := l.divisor(op, in[1])
	q := l.apply(intDivision(d), in[0], y)
	if zero.IsZero() {
		return q, nil
	}
	return ops.SelectV2(zero, ops.Cast(ops.Scalar(l.g, int64(-1)), d), q), nil
}

// intDivision is the op of quotients that are rounded towards zero, which for unsigned
// integers is the one that rounds down.
func intDivision(d tf.DType) string {
	if isUnsigned(d) && !hasKernel("TruncateDiv", d) {
		return "FloorDiv"
	}
	return "TruncateDiv"
}

// remainder has the sign of the dividend, which it is where the divisor is zero.
func remainder(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	d := in[0].DType().Base()
	if !isInt(d) {
		return l.apply("TruncateMod", in...), nil
	}
	y, zero := l.divisor(op, in[1])
	r := l.apply("Sub", in[0], l.apply("Mul", l.apply(intDivision(d), in[0], y), y))
	if zero.IsZero() {
		return r, nil
	}
	return ops.SelectV2(zero, in[0], r), nil
}

// power of integers is cut to whole numbers: of negative exponents only those of 1 and
// -1 are not 0.
func power(l *lowering, _ *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	x, y := in[0], in[1]
	d := x.DType().Base()
	if !isInt(d) {
		return l.apply("Pow", x, y), nil
	}
	if d == tf.Uint64 && !hasKernel("Pow", d) {
		return l.halfPower(x, y), nil
	}
	if isUnsigned(d) {
		return l.apply("Pow", x, y), nil
	}
	one, none := l.number(d, 1), l.number(d, 0)
	odd := ops.Equal(l.apply("BitwiseAnd", y, one), one)
	minus := ops.SelectV2(l.equals(x, -1), ops.SelectV2(odd, l.number(d, -1), one), none)
	rest := ops.SelectV2(l.equals(x, 1), one, minus)
	return ops.SelectV2(ops.Less(y, none), rest, l.apply("Pow", x, l.apply("Maximum", y, none))), nil
}

// halfPower is the power by half of y, which int64 holds, squared.
func (l *lowering) halfPower(x, y tf.Output) tf.Output {
	one := l.number(tf.Uint64, 1)
	root := l.apply("Pow", x, ops.RightShift(y, one))
	rest := ops.SelectV2(ops.Equal(ops.BitwiseAnd(y, one), one), x, one)
	return l.apply("Mul", l.apply("Mul", root, root), rest)
}

// convert changes the type of elements. Floating-point numbers out of the range of
// integers become the nearest ones, those that are none become 0.
func convert(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	to, err := typeOf(op, op.Results[0].Type)
	if err != nil {
		return tf.Output{}, err
	}
	x, from := in[0], in[0].DType().Base()
	switch {
	case from == to:
		return x, nil
	case to == tf.Bool:
		return ops.NotEqual(x, l.number(from, 0)), nil
	case isComplex(from) && !isComplex(to):
		return convert(l, op, []tf.Output{partOf("Real", x)})
	case isFloat(from) && isInt(to):
		return l.saturate(x, to), nil
	case isSmall(to) && !isFloat(from):
		return ops.Cast(ops.Cast(x, tf.Float32), to), nil
	}
	return ops.Cast(x, to), nil
}

func (l *lowering) saturate(x tf.Output, to tf.DType) tf.Output {
	if d := x.DType().Base(); d != tf.Float32 && d != tf.Float64 {
		x = ops.Cast(x, tf.Float32)
	}
	d := x.DType().Base()
	high, low := math.Ldexp(1, bits(to)-1), -math.Ldexp(1, bits(to)-1)
	if isUnsigned(to) {
		high, low = math.Ldexp(1, bits(to)), 0
	}
	over, under := ops.GreaterEqual(x, l.number(d, high)), ops.Less(x, l.number(d, low))
	safe := ops.SelectV2(ops.LogicalAnd(ops.GreaterEqual(x, l.number(d, low)), ops.Less(x, l.number(d, high))), x, l.number(d, 0))
	y := ops.Cast(safe, to)
	y = ops.SelectV2(over, l.extreme(to, true), y)
	if low == 0 {
		return y
	}
	return ops.SelectV2(under, l.extreme(to, false), y)
}

// extreme returns the greatest or the least integer of a type.
func (l *lowering) extreme(d tf.DType, greatest bool) tf.Output {
	switch d {
	case tf.Uint64:
		if greatest {
			return ops.ConstValue(l.g, core.Scalar(uint64(math.MaxUint64)))
		}
		return ops.ConstValue(l.g, core.Scalar(uint64(0)))
	case tf.Int64:
		if greatest {
			return ops.Scalar(l.g, int64(math.MaxInt64))
		}
		return ops.Scalar(l.g, int64(math.MinInt64))
	}
	low, high := -math.Ldexp(1, bits(d)-1), math.Ldexp(1, bits(d)-1)-1
	if isUnsigned(d) {
		low, high = 0, math.Ldexp(1, bits(d))-1
	}
	if greatest {
		return l.number(d, high)
	}
	return l.number(d, low)
}

var comparisons = map[string]string{"EQ": "Equal", "NE": "NotEqual", "LT": "Less", "LE": "LessEqual", "GT": "Greater", "GE": "GreaterEqual"}

func compare(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	r := reading{op: op}
	name, ok := comparisons[r.word("comparison_direction")]
	if total := r.word("compare_type") == "TOTALORDER"; total && isFloat(in[0].DType().Base()) {
		in = []tf.Output{l.ordered(in[0]), l.ordered(in[1])}
	}
	if r.err == nil && !ok {
		r.fail("attribute comparison_direction must be a comparison")
	}
	if r.err != nil {
		return tf.Output{}, r.err
	}
	x, y := in[0], in[1]
	if d := x.DType().Base(); d == tf.Bool && name != "Equal" && name != "NotEqual" {
		x, y = ops.Cast(x, tf.Int32), ops.Cast(y, tf.Int32)
	}
	return l.apply(name, x, y), nil
}

// ordered returns integers in the total order of floating-point numbers: -0 before 0,
// and what is no number at the ends.
func (l *lowering) ordered(x tf.Output) tf.Output {
	d := map[int]tf.DType{1: tf.Int8, 2: tf.Int16, 4: tf.Int32, 8: tf.Int64}[x.DType().Base().Size()]
	b := ops.Bitcast(x, d)
	return ops.SelectV2(ops.Less(b, l.number(d, 0)), ops.BitwiseXor(b, l.extreme(d, true)), b)
}

// constantNumber returns the number that a value is, if it is known.
func constantNumber(v *stablehlo.Value) (float64, bool) {
	if v.Def == nil || v.Def.Name != "constant" {
		return 0, false
	}
	d, ok := v.Def.Attr("value").(stablehlo.Dense)
	t, known := dtypes[d.Type.Elem]
	if !ok || !known || isComplex(t) || !d.Splat && len(d.Type.Shape) > 0 {
		return 0, false
	}
	return numberOf(t, d.Data)
}

// numberOf reads a number in little-endian order.
func numberOf(d tf.DType, b []byte) (float64, bool) {
	if len(b) == 0 || len(b) != d.Size() {
		return 0, false
	}
	var w [8]byte
	copy(w[:], b)
	n := binary.LittleEndian.Uint64(w[:])
	switch d {
	case tf.Float16:
		return float64(numeric.Half(n).Float32()), true
	case tf.BFloat16:
		return float64(numeric.BFloat16(n).Float32()), true
	case tf.Float32:
		return float64(math.Float32frombits(uint32(n))), true
	case tf.Float64:
		return math.Float64frombits(n), true
	case tf.Float8E4M3, tf.Float8E5M2:
		return 0, false
	}
	if isInt(d) && !isUnsigned(d) {
		shift := 64 - bits(d)
		return float64(int64(n<<shift) >> shift), true
	}
	return float64(n), true
}
