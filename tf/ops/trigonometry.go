package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	unary("Asin", inexactTypes, asinGrad, inLanes(tf.Float32, elementwise.AsinLanes, inFloat64(elementwise.Asin32, elementwise.AsinOf)), complexFunc(elementwise.AsinOfComplex))
	unary("Acos", inexactTypes, acosGrad, inLanes(tf.Float32, elementwise.AcosLanes, inFloat64(elementwise.Acos32, elementwise.AcosOf)), complexFunc(elementwise.AcosOfComplex))
	unary("Atan", inexactTypes, atanGrad, floatMaps(elementwise.Atan, elementwise.Atan), complexFunc(elementwise.AtanOfComplex))
	unary("Sinh", inexactTypes, sinhGrad, floatFunc(sinh), complexFunc(elementwise.SinhOfComplex))
	unary("Cosh", inexactTypes, coshGrad, inFloat64(elementwise.Cosh32, cosh), complexFunc(elementwise.CoshOfComplex))
	unary("Asinh", inexactTypes, asinhGrad, inFloat64(elementwise.Asinh32, math.Asinh), complexFunc(elementwise.AsinhOfComplex))
	unary("Acosh", inexactTypes, acoshGrad, inFloat64(elementwise.Acosh32, math.Acosh), complexFunc(elementwise.AcoshOfComplex))
	unary("Atanh", inexactTypes, atanhGrad, inFloat64(elementwise.Atanh32, math.Atanh), complexFunc(elementwise.AtanhOfComplex))
	core.Register(core.OpDef{
		Name: "Atan2", In: "y: T; x: T", Out: "z: T", Attrs: "T: {" + floatTypes + "}",
		Shape: core.BroadcastShape, Grad: tf.GradFunc(atan2Grad), Kernels: core.ByType("T", floatZips(zip(elementwise.Atan2[float32]), zip(elementwise.Atan2[float64]))),
	})
}

// Asin returns the arc sine of x. x holds floating-point numbers (float16,
// bfloat16, float32, float64) or complex ones, and the result has its shape
// and type. Real numbers outside [-1, 1] give NaN. Other types are refused
// with INVALID_ARGUMENT when the graph is built.
func Asin(x tf.Output, opts ...tf.Option) tf.Output { return apply("Asin", opts, x) }

// Acos returns the arc cosine of x. x holds floating-point numbers (float16,
// bfloat16, float32, float64) or complex ones, and the result has its shape
// and type. Real numbers outside [-1, 1] give NaN. Other types are refused
// with INVALID_ARGUMENT when the graph is built.
func Acos(x tf.Output, opts ...tf.Option) tf.Output { return apply("Acos", opts, x) }

// Atan returns the arc tangent of x. x holds floating-point numbers (float16,
// bfloat16, float32, float64) or complex ones, and the result has its shape
// and type. For real x it lies in [-π/2, π/2]. Other types are refused with
// INVALID_ARGUMENT when the graph is built.
func Atan(x tf.Output, opts ...tf.Option) tf.Output { return apply("Atan", opts, x) }

// Atan2 returns the angle of the point (x, y), in [-π, π]. y and x are
// floating-point numbers (float16, bfloat16, float32, float64) of one type,
// which the result keeps. They broadcast; shapes that do not are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. The angle is 0, π or -π at the origin, as the signs of the zeros say.
func Atan2(y, x tf.Output, opts ...tf.Option) tf.Output { return apply("Atan2", opts, y, x) }

// Sinh returns the hyperbolic sine of x. x holds floating-point numbers
// (float16, bfloat16, float32, float64) or complex ones, and the result has
// its shape and type. Other types are refused with INVALID_ARGUMENT when the
// graph is built.
func Sinh(x tf.Output, opts ...tf.Option) tf.Output { return apply("Sinh", opts, x) }

// Cosh returns the hyperbolic cosine of x. x holds floating-point numbers
// (float16, bfloat16, float32, float64) or complex ones, and the result has
// its shape and type. Other types are refused with INVALID_ARGUMENT when the
// graph is built.
func Cosh(x tf.Output, opts ...tf.Option) tf.Output { return apply("Cosh", opts, x) }

// Asinh returns the inverse hyperbolic sine of x. x holds floating-point
// numbers (float16, bfloat16, float32, float64) or complex ones, and the
// result has its shape and type. Other types are refused with INVALID_ARGUMENT
// when the graph is built.
func Asinh(x tf.Output, opts ...tf.Option) tf.Output { return apply("Asinh", opts, x) }

// Acosh returns the inverse hyperbolic cosine of x. x holds floating-point
// numbers (float16, bfloat16, float32, float64) or complex ones, and the
// result has its shape and type. Real numbers below 1 give NaN. Other types
// are refused with INVALID_ARGUMENT when the graph is built.
func Acosh(x tf.Output, opts ...tf.Option) tf.Output { return apply("Acosh", opts, x) }

// Atanh returns the inverse hyperbolic tangent of x. x holds floating-point
// numbers (float16, bfloat16, float32, float64) or complex ones, and the
// result has its shape and type. It is infinite at -1 and 1, and real numbers
// beyond them give NaN. Other types are refused with INVALID_ARGUMENT when the
// graph is built.
func Atanh(x tf.Output, opts ...tf.Option) tf.Output { return apply("Atanh", opts, x) }

func sinhGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return timesDerivative(op.Input(0), dy[0], func(x tf.Output) tf.Output { return Cosh(x) })
}

func coshGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return timesDerivative(op.Input(0), dy[0], func(x tf.Output) tf.Output { return Sinh(x) })
}

// oneMinusSquare returns 1 - x².
func oneMinusSquare(x tf.Output) tf.Output { return Sub(numberLike(x, 1), Square(x)) }

func asinGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return timesDerivative(op.Input(0), dy[0], func(x tf.Output) tf.Output {
		return Reciprocal(Sqrt(oneMinusSquare(x)))
	})
}

func acosGrad(op *tf.Operation, dy []tf.Output) (g []tf.Gradient) {
	after(dy[0], func() {
		g = tf.Grads(Mul(Neg(dy[0]), Reciprocal(Sqrt(oneMinusSquare(conj(op.Input(0)))))))
	})
	return g
}

func atanGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return timesDerivative(op.Input(0), dy[0], func(x tf.Output) tf.Output {
		return Reciprocal(AddV2(numberLike(x, 1), Square(x)))
	})
}

func atanhGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return timesDerivative(op.Input(0), dy[0], func(x tf.Output) tf.Output { return Reciprocal(oneMinusSquare(x)) })
}

// overDerivative divides dy by the derivative of the inverse function, which
// f computes from the conjugate of the result.
func overDerivative(op *tf.Operation, dy tf.Output, f func(y tf.Output, _ ...tf.Option) tf.Output) (g []tf.Gradient) {
	after(dy, func() { g = tf.Grads(RealDiv(dy, f(conj(op.Output(0))))) })
	return g
}

func asinhGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return overDerivative(op, dy[0], Cosh)
}

func acoshGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return overDerivative(op, dy[0], Sinh)
}

func atan2Grad(op *tf.Operation, dz []tf.Output) []tf.Gradient {
	y, x := op.Input(0), op.Input(1)
	var dx, dy tf.Output
	after(dz[0], func() {
		scaled := RealDiv(dz[0], AddV2(Square(y), Square(x)))
		dy, dx = Mul(x, scaled), Mul(Neg(y), scaled)
	})
	return unbroadcast(y, x, dy, dx)
}

// expEnds is where half of e^x may be finite though e^x is not.
const expEnds = 709

// sinh is math.Sinh, whose result is infinite where e^x is.
func sinh(x float64) float64 {
	if size := math.Abs(x); size > expEnds {
		return math.Copysign(halfExp(size), x)
	}
	return math.Sinh(x)
}

// cosh is math.Cosh up to where results end.
func cosh(x float64) float64 {
	if size := math.Abs(x); size > expEnds {
		return halfExp(size)
	}
	return math.Cosh(x)
}

// halfExp is e^x/2.
func halfExp(x float64) float64 {
	root := math.Exp(x / 2)
	return root / 2 * root
}
