package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
)

func init() {
	unary("Exp", inexactTypes, expGrad, floatMaps(elementwise.Exp, elementwise.Exp), complexMaps(elementwise.ExpComplex, func(y, x []complex128) { elementwise.MapComplex128(y, x, elementwise.ExpOfComplex) }))
	unary("Expm1", inexactTypes, expm1Grad, floatMaps(elementwise.Expm1, elementwise.Expm1), complexFunc(elementwise.Expm1OfComplex))
	unary("Log", inexactTypes, logGrad, floatMaps(elementwise.Log, elementwise.Log), complexMaps(elementwise.LogComplex, func(y, x []complex128) { elementwise.MapComplex128(y, x, elementwise.LogOfComplex) }))
	unary("Log1p", inexactTypes, log1pGrad, floatMaps(elementwise.Log1p, elementwise.Log1p), complexFunc(elementwise.Log1pOfComplex))
	unary("Sin", inexactTypes, sinGrad, floatMaps(elementwise.Sin, elementwise.Sin), complexFunc(elementwise.SinOfComplex))
	unary("Cos", inexactTypes, cosGrad, floatMaps(elementwise.Cos, elementwise.Cos), complexFunc(elementwise.CosOfComplex))
	unary("Tan", inexactTypes, tanGrad, floatFunc(math.Tan), complexFunc(elementwise.TanOfComplex))
	unary("Tanh", inexactTypes, tanhGrad, floatMaps(elementwise.Tanh, elementwise.Tanh), complexFunc(elementwise.TanhOfComplex))
	unary("Sigmoid", inexactTypes, sigmoidGrad, floatMaps(elementwise.Sigmoid, elementwise.Sigmoid),
		complexFunc(func(v complex128) complex128 { return 1 / (1 + elementwise.ExpOfComplex(-v)) }))
	unary("Erf", floatTypes, erfGrad, floatMaps(elementwise.Erf, elementwise.Erf))
}

// Exp returns e to the power of x. x holds floating-point numbers (float16,
// bfloat16, float32, float64) or complex numbers; the result has its shape and
// type. Other types are refused with INVALID_ARGUMENT when the graph is built.
func Exp(x tf.Output, opts ...tf.Option) tf.Output { return apply("Exp", opts, x) }

// Expm1 returns Exp(x) - 1, exact near 0. x holds floating-point numbers
// (float16, bfloat16, float32, float64) or complex numbers; the result has its
// shape and type. Other types are refused with INVALID_ARGUMENT when the graph
// is built.
func Expm1(x tf.Output, opts ...tf.Option) tf.Output { return apply("Expm1", opts, x) }

// Log returns the natural logarithm of x. x holds floating-point numbers
// (float16, bfloat16, float32, float64) or complex numbers; the result has its
// shape and type. A real 0 gives -Inf, a negative number NaN. Other types are
// refused with INVALID_ARGUMENT when the graph is built.
func Log(x tf.Output, opts ...tf.Option) tf.Output { return apply("Log", opts, x) }

// Log1p returns Log(1 + x), exact near 0. x holds floating-point numbers
// (float16, bfloat16, float32, float64) or complex numbers; the result has its
// shape and type. A real -1 gives -Inf, a lesser number NaN. Other types are
// refused with INVALID_ARGUMENT when the graph is built.
func Log1p(x tf.Output, opts ...tf.Option) tf.Output { return apply("Log1p", opts, x) }

// Sin returns the sine of x. x is in radians. x holds floating-point numbers
// (float16, bfloat16, float32, float64) or complex numbers; the result has its
// shape and type. Other types are refused with INVALID_ARGUMENT when the graph
// is built.
func Sin(x tf.Output, opts ...tf.Option) tf.Output { return apply("Sin", opts, x) }

// Cos returns the cosine of x. x is in radians. x holds floating-point numbers
// (float16, bfloat16, float32, float64) or complex numbers; the result has its
// shape and type. Other types are refused with INVALID_ARGUMENT when the graph
// is built.
func Cos(x tf.Output, opts ...tf.Option) tf.Output { return apply("Cos", opts, x) }

// Tan returns the tangent of x. x is in radians. x holds floating-point
// numbers (float16, bfloat16, float32, float64) or complex numbers; the result
// has its shape and type. Other types are refused with INVALID_ARGUMENT when
// the graph is built.
func Tan(x tf.Output, opts ...tf.Option) tf.Output { return apply("Tan", opts, x) }

// Tanh returns the hyperbolic tangent of x. x holds floating-point numbers
// (float16, bfloat16, float32, float64) or complex numbers; the result has its
// shape and type. Other types are refused with INVALID_ARGUMENT when the graph
// is built.
func Tanh(x tf.Output, opts ...tf.Option) tf.Output { return apply("Tanh", opts, x) }

// Sigmoid returns 1/(1 + e^-x). x holds floating-point numbers (float16,
// bfloat16, float32, float64) or complex numbers; the result has its shape and
// type. Other types are refused with INVALID_ARGUMENT when the graph is built.
func Sigmoid(x tf.Output, opts ...tf.Option) tf.Output { return apply("Sigmoid", opts, x) }

// Erf returns the error function of x. x holds floating-point numbers
// (float16, bfloat16, float32, float64); the result has its shape and type.
func Erf(x tf.Output, opts ...tf.Option) tf.Output { return apply("Erf", opts, x) }

// timesDerivative multiplies dy with the derivative, which f computes from
// the conjugate of x once dy is there.
func timesDerivative(x, dy tf.Output, f func(x tf.Output) tf.Output) (g []tf.Gradient) {
	after(dy, func() { g = tf.Grads(Mul(dy, f(conj(x)))) })
	return g
}

func expGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return timesDerivative(op.Output(0), dy[0], func(y tf.Output) tf.Output { return y })
}

func expm1Grad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return timesDerivative(op.Input(0), dy[0], func(x tf.Output) tf.Output { return Exp(x) })
}

func logGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return timesDerivative(op.Input(0), dy[0], func(x tf.Output) tf.Output { return Reciprocal(x) })
}

func log1pGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return timesDerivative(op.Input(0), dy[0], func(x tf.Output) tf.Output {
		return Reciprocal(AddV2(numberLike(x, 1), x))
	})
}

func sinGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return timesDerivative(op.Input(0), dy[0], func(x tf.Output) tf.Output { return Cos(x) })
}

func cosGrad(op *tf.Operation, dy []tf.Output) (g []tf.Gradient) {
	after(dy[0], func() { g = tf.Grads(Mul(Neg(dy[0]), Sin(conj(op.Input(0))))) })
	return g
}

func tanGrad(op *tf.Operation, dy []tf.Output) (g []tf.Gradient) {
	after(dy[0], func() {
		secant := Reciprocal(Cos(conj(op.Input(0))))
		g = tf.Grads(Mul(Square(secant), dy[0]))
	})
	return g
}

func tanhGrad(op *tf.Operation, dy []tf.Output) (g []tf.Gradient) {
	after(dy[0], func() { g = tf.Grads(apply("TanhGrad", nil, conj(op.Output(0)), dy[0])) })
	return g
}

func sigmoidGrad(op *tf.Operation, dy []tf.Output) (g []tf.Gradient) {
	after(dy[0], func() { g = tf.Grads(apply("SigmoidGrad", nil, conj(op.Output(0)), dy[0])) })
	return g
}

func erfGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return bellGrad(op.Input(0), dy[0], 2/math.Sqrt(math.Pi), func(x tf.Output) tf.Output { return Neg(Square(x)) })
}
