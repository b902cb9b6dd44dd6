package ops

import (
	"math"
	"math/cmplx"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// unary declares an op that maps every element by itself. grad is nil for
// functions whose derivative TensorFlow does not define.
func unary(name, types string, grad tf.GradFunc, kernels ...byType) {
	core.Register(unaryDef(name, types, grad, kernels...))
}

// cheap is unary for an op as simple as an addition.
func cheap(name, types string, grad tf.GradFunc, kernels ...byType) {
	d := unaryDef(name, types, grad, kernels...)
	d.Traits |= core.Cheap
	core.Register(d)
}

func unaryDef(name, types string, grad tf.GradFunc, kernels ...byType) core.OpDef {
	d := core.OpDef{
		Name: name, Traits: core.Elementwise, In: "x: T", Out: "y: T", Attrs: "T: {" + types + "}",
		Shape: core.UnchangedShape, Grad: tf.GradFunc(grad), Kernels: core.ByType("T", merge(kernels...)),
	}
	if grad == nil {
		d.NoGrad = core.NoGradientDefined
	}
	return d
}

const signedNumbers = floatTypes + ", " + signedTypes + ", " + complexTypes

func init() {
	neg := unaryDef("Neg", signedNumbers, negGrad,
		inLanes(tf.Float32, elementwise.Lanes1((*machine.Code).Neg), floatMaps(elementwise.Neg, elementwise.Neg)), signedMaps(elementwise.Neg, elementwise.Neg, elementwise.Neg, elementwise.Neg), complexMaps(elementwise.Neg, elementwise.Neg))
	neg.Traits |= core.Involution | core.Cheap
	core.Register(neg)
	cheap("Abs", floatTypes+", "+signedTypes, absGrad,
		inLanes(tf.Float32, elementwise.Lanes1((*machine.Code).Abs), floatMaps(elementwise.Abs, elementwise.Abs)), signedMaps(elementwise.Abs, elementwise.Abs, elementwise.Abs, elementwise.Abs))
	unary("Sign", signedNumbers, signGrad,
		inLanes(tf.Float32, elementwise.Lanes1((*machine.Code).Sign), floatMaps(elementwise.Sign, elementwise.Sign)), signedMaps(elementwise.Sign, elementwise.Sign, elementwise.Sign, elementwise.Sign), complexFunc(complexSign))
	cheap("Square", floatTypes+", "+signedTypes+", "+unsignedTypes+", "+complexTypes, squareGrad,
		inLanes(tf.Float32, elementwise.SquareLanes, floatMaps(elementwise.Square, elementwise.Square)), signedMaps(elementwise.Square, elementwise.Square, elementwise.Square, elementwise.Square),
		unsignedMaps(elementwise.Square, elementwise.Square, elementwise.Square, elementwise.Square), complexMaps(elementwise.Square, elementwise.Square))
	unary("Sqrt", inexactTypes, sqrtGrad, inLanes(tf.Float32, elementwise.Lanes1((*machine.Code).Sqrt), floatMaps(elementwise.Sqrt, elementwise.Sqrt)), complexMaps(elementwise.SqrtComplex, sqrtComplex128))
	unary("Rsqrt", inexactTypes, rsqrtGrad, floatMaps(elementwise.Rsqrt, elementwise.Rsqrt),
		complexFunc(func(v complex128) complex128 { return 1 / cmplx.Sqrt(v) }))
	for _, name := range []string{"Reciprocal", "Inv"} {
		unary(name, signedNumbers, reciprocalGrad,
			inLanes(tf.Float32, elementwise.ReciprocalLanes, floatMaps(elementwise.Reciprocal, elementwise.Reciprocal)), complexMaps(elementwise.Reciprocal, elementwise.Reciprocal))
	}
	unary("Floor", floatTypes, noFlow, inLanes(tf.Float32, elementwise.Lanes1((*machine.Code).Floor), floatMaps(elementwise.Floor, elementwise.Floor)))
	unary("Ceil", floatTypes, noFlow, inLanes(tf.Float32, elementwise.Lanes1((*machine.Code).Ceil), floatMaps(elementwise.Ceil, elementwise.Ceil)))
	unary("Rint", floatTypes, noFlow, inLanes(tf.Float32, elementwise.Lanes1((*machine.Code).RoundToEven), floatMaps(elementwise.Round, elementwise.Round)))
	unary("Round", signedNumbers, noFlow,
		inLanes(tf.Float32, elementwise.Lanes1((*machine.Code).RoundToEven), floatMaps(elementwise.Round, elementwise.Round)), byType{tf.Int32: forward, tf.Int64: forward})
	floatTest("IsNan", laneTests(elementwise.IsNanLanes, isNaN, isNaN))
	floatTest("IsInf", laneTests(elementwise.IsInfLanes, isInf, isInf))
	floatTest("IsFinite", laneTests(elementwise.IsFiniteLanes, isFinite, isFinite))
}

func sqrtComplex128(y, x []complex128) { elementwise.MapComplex128(y, x, cmplx.Sqrt) }

// floatTest declares an op from floating-point numbers to bool.
func floatTest(name string, kernels byType) {
	core.Register(core.OpDef{
		Name: name, Traits: core.Elementwise, In: "x: T", Out: "y: bool", Attrs: "T: {" + floatTypes + "}",
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", kernels),
	})
}

// forward is the kernel of functions that leave integers as they are.
func forward(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error { c.Forward(0, 0); return nil }), nil
}

func complexSign(v complex128) complex128 {
	if v == 0 {
		return 0
	}
	return v / complex(cmplx.Abs(v), 0)
}

func isNaN[T numeric.Float](y []bool, x []T) {
	kernel.Map2(y, x, func(v T) bool { return v != v })
}

func isInf[T numeric.Float](y []bool, x []T) {
	kernel.Map2(y, x, func(v T) bool { return math.IsInf(float64(v), 0) })
}

// isFinite: v-v is 0 for finite numbers and NaN for the others.
func isFinite[T numeric.Float](y []bool, x []T) {
	kernel.Map2(y, x, func(v T) bool { return v-v == 0 })
}

// Neg returns -x. x holds floating-point numbers, signed integers or complex
// numbers, and the result has its shape and type. The least integer of a type
// stays as it is. Unsigned integers are refused with INVALID_ARGUMENT when the
// graph is built.
func Neg(x tf.Output, opts ...tf.Option) tf.Output { return apply("Neg", opts, x) }

// Abs returns |x| of real numbers; see ComplexAbs. x holds floating-point
// numbers or signed integers, and the result has its shape and type. The least
// integer of a type stays as it is. Other types are refused with
// INVALID_ARGUMENT when the graph is built.
func Abs(x tf.Output, opts ...tf.Option) tf.Output { return apply("Abs", opts, x) }

// Sign returns -1, 0 or 1 for real x, and x/|x| for complex x other than 0.
// NaN gives NaN. x holds floating-point numbers, signed integers or complex
// numbers, and the result has its shape and type. Unsigned integers are
// refused with INVALID_ARGUMENT when the graph is built.
func Sign(x tf.Output, opts ...tf.Option) tf.Output { return apply("Sign", opts, x) }

// Square returns x². x holds numbers, and the result has its shape and type.
// Integers wrap around where x² does not fit. Other types are refused with
// INVALID_ARGUMENT when the graph is built.
func Square(x tf.Output, opts ...tf.Option) tf.Output { return apply("Square", opts, x) }

// Sqrt returns the square root of x. x holds floating-point numbers (float16,
// bfloat16, float32, float64) or complex ones, and the result has its shape
// and type. Negative real numbers give NaN. Integers are refused with
// INVALID_ARGUMENT when the graph is built.
func Sqrt(x tf.Output, opts ...tf.Option) tf.Output { return apply("Sqrt", opts, x) }

// Rsqrt returns 1/√x. x holds floating-point numbers (float16, bfloat16,
// float32, float64) or complex ones, and the result has its shape and type.
// Real zeros give an infinity and negative real numbers NaN. Integers are
// refused with INVALID_ARGUMENT when the graph is built.
func Rsqrt(x tf.Output, opts ...tf.Option) tf.Output { return apply("Rsqrt", opts, x) }

// Reciprocal returns 1/x. x holds floating-point numbers (float16, bfloat16,
// float32, float64) or complex ones, and the result has its shape and type.
// Real zeros give an infinity. Signed integers may stand in a graph but have
// no kernel, so the step fails with NOT_FOUND.
func Reciprocal(x tf.Output, opts ...tf.Option) tf.Output { return apply("Reciprocal", opts, x) }

// Inv is the older name of Reciprocal. It takes the same types and gives the
// same results. Its errors are those of Reciprocal.
func Inv(x tf.Output, opts ...tf.Option) tf.Output { return apply("Inv", opts, x) }

// Floor returns the greatest integer that is not greater than x. x holds
// floating-point numbers (float16, bfloat16, float32, float64), and the result
// has its shape and type. Other types are refused with INVALID_ARGUMENT when
// the graph is built.
func Floor(x tf.Output, opts ...tf.Option) tf.Output { return apply("Floor", opts, x) }

// Ceil returns the least integer that is not less than x. x holds
// floating-point numbers (float16, bfloat16, float32, float64), and the result
// has its shape and type. Other types are refused with INVALID_ARGUMENT when
// the graph is built.
func Ceil(x tf.Output, opts ...tf.Option) tf.Output { return apply("Ceil", opts, x) }

// Round returns the integer nearest to x, the even one of two. x holds
// floating-point numbers (float16, bfloat16, float32, float64), or int32 or
// int64, which stay as they are; the result has its shape and type. Int8,
// int16 and complex numbers may stand in a graph but have no kernel, so the
// step fails with NOT_FOUND.
func Round(x tf.Output, opts ...tf.Option) tf.Output { return apply("Round", opts, x) }

// Rint is Round for floating-point numbers only. The result has the shape and
// type of x. Other types are refused with INVALID_ARGUMENT when the graph is
// built.
func Rint(x tf.Output, opts ...tf.Option) tf.Output { return apply("Rint", opts, x) }

// IsNan reports which elements of x are not a number. x holds floating-point
// numbers (float16, bfloat16, float32, float64); the result is bool and has
// its shape. Other types are refused with INVALID_ARGUMENT when the graph is
// built.
func IsNan(x tf.Output, opts ...tf.Option) tf.Output { return apply("IsNan", opts, x) }

// IsInf reports which elements of x are infinite. x holds floating-point
// numbers (float16, bfloat16, float32, float64); the result is bool and has
// its shape. Other types are refused with INVALID_ARGUMENT when the graph is
// built.
func IsInf(x tf.Output, opts ...tf.Option) tf.Output { return apply("IsInf", opts, x) }

// IsFinite reports which elements of x are neither infinite nor NaN. x holds
// floating-point numbers (float16, bfloat16, float32, float64); the result is
// bool and has its shape. Other types are refused with INVALID_ARGUMENT when
// the graph is built.
func IsFinite(x tf.Output, opts ...tf.Option) tf.Output { return apply("IsFinite", opts, x) }

// noFlow is the gradient of functions that are constant almost everywhere.
func noFlow(op *tf.Operation, _ []tf.Output) []tf.Gradient {
	return make([]tf.Gradient, len(op.Inputs()))
}

func negGrad(_ *tf.Operation, dy []tf.Output) []tf.Gradient { return tf.Grads(Neg(dy[0])) }

func absGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(Mul(dy[0], Sign(op.Input(0))))
}

func signGrad(op *tf.Operation, _ []tf.Output) []tf.Gradient { return tf.Grads(ZerosLike(op.Input(0))) }

func squareGrad(op *tf.Operation, dy []tf.Output) (g []tf.Gradient) {
	after(dy[0], func() {
		x := conj(op.Input(0))
		g = tf.Grads(Mul(dy[0], Mul(x, numberLike(x, 2))))
	})
	return g
}

func sqrtGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(apply("SqrtGrad", nil, op.Output(0), dy[0]))
}

func rsqrtGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(apply("RsqrtGrad", nil, op.Output(0), dy[0]))
}

func reciprocalGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(apply("ReciprocalGrad", nil, op.Output(0), dy[0]))
}
