package xla

import (
	"sync"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// An applier adds the nodes of an elementwise operation.
type applier = func(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error)

func init() {
	addElementwise(1, map[string]applier{
		"abs": absolute, "cbrt": cubeRoot, "ceil": rounding("Ceil"), "convert": convert, "cosine": plain("Cos"),
		"exponential": plain("Exp"), "exponential_minus_one": plain("Expm1"), "floor": rounding("Floor"),
		"imag": imaginary, "is_finite": plain("IsFinite"), "log": plain("Log"), "log_plus_one": plain("Log1p"),
		"logistic": plain("Sigmoid"), "negate": negate, "real": realPart, "round_nearest_afz": roundAway,
		"round_nearest_even": rounding("Rint"), "rsqrt": plain("Rsqrt"), "sign": sign, "sine": plain("Sin"),
		"sqrt": plain("Sqrt"), "tan": plain("Tan"), "tanh": plain("Tanh"),
	})
	addElementwise(2, map[string]applier{
		"add": ofBooleans("LogicalOr", plain("AddV2")), "atan2": plain("Atan2"), "compare": compare, "complex": toComplex,
		"divide": divide, "maximum": maximum, "minimum": ofBooleans("LogicalAnd", plain("Minimum")),
		"multiply": ofBooleans("LogicalAnd", plain("Mul")), "power": power, "remainder": remainder, "subtract": plain("Sub"),
	})
	addElementwise(3, map[string]applier{"clamp": clamp, "select": choose})
}

// plain returns what applies one op of TensorFlow's, whose attribute T is the type of
// the elements.
func plain(name string) applier {
	return func(l *lowering, _ *stablehlo.Op, in []tf.Output) (tf.Output, error) {
		return l.apply(name, in...), nil
	}
}

// ofBooleans is f but for booleans, for which it is the op of a name.
func ofBooleans(name string, f applier) applier {
	return func(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error) {
		if in[0].DType().Base() == tf.Bool {
			return tf.Apply(l.g, name, in).Output(0), nil
		}
		return f(l, op, in)
	}
}

// rounding is plain for operations that leave integers as they are.
func rounding(name string) applier {
	return func(l *lowering, _ *stablehlo.Op, in []tf.Output) (tf.Output, error) {
		if isInt(in[0].DType().Base()) {
			return in[0], nil
		}
		return l.apply(name, in...), nil
	}
}

// apply adds an op whose attribute T is the type of its operands. If it has no kernel
// for that, it computes with a wider type.
func (l *lowering) apply(name string, in ...tf.Output) tf.Output {
	d := in[0].DType().Base()
	w := d
	for w != tf.Invalid && !hasKernel(name, w) {
		w = wider[w]
	}
	if w == d || w == tf.Invalid {
		return tf.Apply(l.g, name, in).Output(0)
	}
	wide := make([]tf.Output, len(in))
	for i, x := range in {
		wide[i] = x
		if x.DType().Base() == d {
			wide[i] = ops.Cast(x, w)
		}
	}
	out := tf.Apply(l.g, name, wide).Output(0)
	if out.DType() != w {
		return out
	}
	return ops.Cast(out, d)
}

// wider has, for each type, one in which its numbers can be computed with: results are
// the same once they are cut to the type.
var wider = map[tf.DType]tf.DType{
	tf.Float8E4M3: tf.Float32, tf.Float8E5M2: tf.Float32, tf.Float16: tf.Float32, tf.BFloat16: tf.Float32,
	tf.Int8: tf.Int32, tf.Int16: tf.Int32, tf.Uint8: tf.Int32, tf.Uint16: tf.Int32, tf.Uint32: tf.Int64, tf.Int32: tf.Int64, tf.Uint64: tf.Int64,
}

var kernels sync.Map // from kernelOf to bool

type kernelOf struct {
	op string
	t  tf.DType
}

// hasKernel reports whether an op has a kernel for an element type, its attribute T.
func hasKernel(op string, t tf.DType) bool {
	if has, ok := kernels.Load(kernelOf{op, t}); ok {
		return has.(bool)
	}
	n, err := core.NewNode("", op, core.Attrs{"T": t})
	if err == nil {
		_, err = core.FindKernel("CPU", n)
	}
	kernels.Store(kernelOf{op, t}, err == nil)
	return err == nil
}

// number returns a scalar of a type.
func (l *lowering) number(d tf.DType, v float64) tf.Output {
	if t, err := core.ScalarOf(d, v); err == nil {
		return ops.ConstValue(l.g, t)
	}
	if v < 0 || !isUnsigned(d) {
		return ops.Cast(ops.Scalar(l.g, int64(v)), d)
	}
	return ops.Cast(ops.Scalar(l.g, uint64(v)), d)
}

func absolute(l *lowering, _ *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	d := in[0].DType().Base()
	switch {
	case isUnsigned(d):
		return in[0], nil
	case isComplex(d):
		return partOf("ComplexAbs", in[0]), nil
	}
	return l.apply("Abs", in...), nil
}

func negate(l *lowering, _ *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	d := in[0].DType().Base()
	if isUnsigned(d) || isInt(d) && !hasKernel("Neg", d) {
		return l.apply("Sub", l.number(d, 0), in[0]), nil
	}
	return l.apply("Neg", in...), nil
}

func sign(l *lowering, _ *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	d := in[0].DType().Base()
	if isUnsigned(d) {
		return ops.Cast(ops.NotEqual(in[0], l.number(d, 0)), d), nil
	}
	if isFloat(d) { // TensorFlow's is 0 for -0
		x := in[0]
		return ops.SelectV2(ops.Equal(x, l.number(d, 0)), x, l.apply("Sign", x)), nil
	}
	return l.apply("Sign", in...), nil
}

func cubeRoot(l *lowering, _ *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	x := in[0]
	d := x.DType().Base()
	w := x
	if d != tf.Float64 {
		w = ops.Cast(x, tf.Float64)
	}
	root := ops.Pow(ops.Abs(w), l.number(tf.Float64, 1.0/3))
	if d == tf.Float64 {
		root = l.nearerRoot(root, ops.Abs(w))
	}
	y := ops.SelectV2(ops.Less(w, l.number(tf.Float64, 0)), ops.Neg(root), root)
	return ops.Cast(ops.SelectV2(ops.Equal(w, l.number(tf.Float64, 0)), w, y), d), nil
}

// nearerRoot is a step of Newton's method: 1/3 is none of float64's numbers, so that the
// power of a large number is off by many units in the last place.
func (l *lowering) nearerRoot(root, x tf.Output) tf.Output {
	less := ops.Sub(root, ops.RealDiv(x, ops.Square(root)))
	near := ops.Sub(root, ops.RealDiv(less, l.number(tf.Float64, 3)))
	return ops.SelectV2(ops.IsFinite(near), near, root)
}

// roundAway rounds half-way numbers away from zero.
func roundAway(l *lowering, _ *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	x := in[0]
	d := x.DType().Base()
	if isInt(d) {
		return x, nil
	}
	size := l.apply("Abs", x)
	low := l.apply("Floor", size)
	up := ops.SelectV2(ops.GreaterEqual(l.apply("Sub", size, low), l.number(d, 0.5)), l.apply("AddV2", low, l.number(d, 1)), low)
	signed := ops.SelectV2(ops.Less(x, l.number(d, 0)), l.apply("Neg", up), up)
	return ops.SelectV2(ops.Equal(x, l.number(d, 0)), x, signed), nil // -0 is less than no zero
}

// partOf adds an op that makes real numbers of complex ones.
func partOf(name string, x tf.Output) tf.Output {
	d := tf.Float32
	if x.DType().Base() == tf.Complex128 {
		d = tf.Float64
	}
	return tf.Apply(x.Graph(), name, []tf.Output{x}, tf.Attr("Tout", d)).Output(0)
}

func realPart(l *lowering, _ *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	if !isComplex(in[0].DType().Base()) {
		return in[0], nil
	}
	return partOf("Real", in[0]), nil
}

func imaginary(l *lowering, _ *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	if !isComplex(in[0].DType().Base()) {
		return ops.ZerosLike(in[0]), nil
	}
	return partOf("Imag", in[0]), nil
}

func toComplex(l *lowering, _ *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	d := tf.Complex64
	if in[0].DType().Base() == tf.Float64 {
		d = tf.Complex128
	}
	return tf.Apply(l.g, "Complex", in, tf.Attr("Tout", d)).Output(0), nil
}

// maximum is a rectifier where one side is zero.
func maximum(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	if d := in[0].DType().Base(); isFloat(d) && hasKernel("Relu", d) {
		for i, v := range op.Operands {
			if allZero(v) {
				return tf.Apply(l.g, "Relu", in[1-i:2-i]).Output(0), nil
			}
		}
	}
	return ofBooleans("LogicalOr", plain("Maximum"))(l, op, in)
}

// allZero reports whether a value is a constant all of whose elements are zero.
func allZero(v *stablehlo.Value) bool {
	v = origin(v, "broadcast_in_dim", "dynamic_broadcast_in_dim", "convert", "reshape")
	if v.Def == nil || v.Def.Name != "constant" {
		return false
	}
	d, ok := v.Def.Attr("value").(stablehlo.Dense)
	if !ok || !d.Splat && len(d.Type.Shape) > 0 {
		return false
	}
	for _, b := range d.Data {
		if b != 0 {
			return false
		}
	}
	return true
}

func clamp(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	return l.apply("Minimum", l.apply("Maximum", in[1], in[0]), in[2]), nil
}

func choose(l *lowering, op *stablehlo.Op, in []tf.Output) (tf.Output, error) {
	if in[0].DType().Base() != tf.Bool || in[1].DType().Base() != in[2].DType().Base() {
		return tf.Output{}, refused(op, "it takes booleans and two tensors of one type")
	}
	return ops.SelectV2(in[0], in[1], in[2]), nil
}
