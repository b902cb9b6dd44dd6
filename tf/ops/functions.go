package ops

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
)

// LogSigmoid returns log(1/(1 + e^-x)), element by element, without overflow.
// x holds floating-point numbers (float16, bfloat16, float32, float64); the
// result has its shape and type. Other types are refused with INVALID_ARGUMENT
// when the graph is built.
func LogSigmoid(x tf.Output) tf.Output {
	return scoped("LogSigmoid", x, func() tf.Output { return Neg(Softplus(Neg(x))) })
}

// Swish returns x·σ(x), element by element, which is called SiLU as well. x
// holds floating-point numbers (float16, bfloat16, float32, float64) or
// complex numbers; the result has its shape and type. Other types are refused
// with INVALID_ARGUMENT when the graph is built.
// It is the function of Elfwing, Uchibe and Doya (arXiv:1702.03118) and of
// Ramachandran, Zoph and Le (arXiv:1710.05941).
func Swish(x tf.Output) tf.Output {
	return scoped("swish", x, func() tf.Output { return Mul(x, Sigmoid(x)) })
}

// CRelu returns the rectified x and the rectified -x, joined along an axis.
// That axis has twice the size in the result, and counts from the end if it
// is negative. x holds floating-point numbers or signed integers. An axis out
// of range is refused with INVALID_ARGUMENT.
func CRelu(x tf.Output, axis int) tf.Output {
	return scoped("CRelu", x, func() tf.Output { return Relu(Concat(axis, []tf.Output{x, Neg(x)})) })
}

// LogicalXor returns which elements of two bool tensors differ. x and y
// broadcast; shapes that do not are refused with INVALID_ARGUMENT, when the
// graph is built if they are known, else in the step.
func LogicalXor(x, y tf.Output) tf.Output {
	return scoped("LogicalXor", x, func() tf.Output {
		return LogicalAnd(LogicalOr(x, y), LogicalNot(LogicalAnd(x, y)))
	})
}

// Erfcinv returns the inverse of the complementary error function. x holds
// floating-point numbers (float16, bfloat16, float32, float64); the result
// has its shape and type. 0 gives +Inf, 2 gives -Inf, and numbers outside of
// [0, 2] give NaN.
func Erfcinv(x tf.Output) tf.Output {
	return scoped("erfcinv", x, func() tf.Output {
		return Mul(Neg(Ndtri(Mul(x, numberLike(x, 0.5)))), numberLike(x, math.Sqrt(0.5)))
	})
}

// ReciprocalNoNan returns 1/x, and 0 where x is 0. x holds floating-point
// numbers (float16, bfloat16, float32, float64) or complex numbers; the result
// has its shape and type. Other types are refused with INVALID_ARGUMENT when
// the graph is built.
func ReciprocalNoNan(x tf.Output) tf.Output {
	return scoped("reciprocal_no_nan", x, func() tf.Output { return DivNoNan(OnesLike(x), x) })
}

// Polyval returns the polynomial of x with the coefficients coeffs, that of
// the highest power first; 0 without coefficients. It is computed by Horner's
// rule. Coefficients and x have one type of numbers and broadcast; shapes
// that do not are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step. A single coefficient is returned as it
// is, in its own shape.
func Polyval(coeffs []tf.Output, x tf.Output) tf.Output {
	return scoped("polyval", x, func() tf.Output {
		if len(coeffs) == 0 {
			return ZerosLike(x)
		}
		y := coeffs[0]
		for _, c := range coeffs[1:] {
			y = AddV2(c, Mul(y, x))
		}
		return y
	})
}

// Lbeta returns the logarithm of the multivariate Beta function of the rows
// of x: log|Beta| along the last dimension. x holds floating-point numbers
// (float16, bfloat16, float32, float64); the result has the type of x and its
// shape without the last dimension. Rows of no elements give -Inf. A scalar
// is refused with INVALID_ARGUMENT.
func Lbeta(x tf.Output) tf.Output {
	return scoped("lbeta", x, func() tf.Output {
		last := []int{-1}
		return Sub(Sum(Lgamma(x), last), Lgamma(Sum(x, last)))
	})
}

// GradPassThrough returns f(x), through which gradients pass to x as if it
// were the identity: a straight-through estimator. The shape of f(x) is x's. f
// is called once, when the graph is built. x has any type that f takes. If an
// operation in f is refused, the result carries its error.
func GradPassThrough(x tf.Output, f func(x tf.Output) tf.Output) tf.Output {
	return scoped("grad_pass_through", x, func() tf.Output {
		return tf.CustomGradient([]tf.Output{x}, func(xs []tf.Output) ([]tf.Output, func([]tf.Output) []tf.Output) {
			return []tf.Output{f(xs[0])}, func(dy []tf.Output) []tf.Output { return dy }
		})[0]
	})
}

// XwPlusB returns x·w + b, with b added to each row. x is [m k], w [k n], b
// [n], and the result [m n]; all have one type that MatMul and BiasAdd take.
// Other shapes are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step.
func XwPlusB(x, w, b tf.Output) tf.Output {
	return scoped("xw_plus_b", x, func() tf.Output { return BiasAdd(MatMul(x, w), b) })
}

// ReluLayer returns the rectified x·w + b. x is [m k], w [k n], b [n], and
// the result [m n]; all have one type of real numbers that MatMul takes.
// Other shapes are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step.
func ReluLayer(x, w, b tf.Output) tf.Output {
	return scoped("relu_layer", x, func() tf.Output { return Relu(BiasAdd(MatMul(x, w), b)) })
}

// SigmoidCrossEntropyWithLogits returns the cross entropy of labels in [0, 1]
// and the sigmoid of logits, element by element: x - x·z + log(1 + e^-x) for
// logits x and labels z, in a form that does not overflow. Labels and logits
// have one type and shape. They hold floating-point numbers (float16,
// bfloat16, float32, float64), as does the result, which has their shape.
// Shapes that are known to differ are refused with INVALID_ARGUMENT when the
// graph is built. Nothing checks that labels are in [0, 1].
func SigmoidCrossEntropyWithLogits(labels, logits tf.Output) tf.Output {
	if !logits.Shape().Compatible(labels.Shape()) {
		return refused(logits, "logistic_loss", "logits and labels must have the same shape, got %v and %v", logits.Shape(), labels.Shape())
	}
	return scoped("logistic_loss", logits, func() tf.Output {
		x, zero := logits, ZerosLike(logits)
		positive := GreaterEqual(x, zero) // Abs and Maximum have other gradients at 0
		relu, negAbs := SelectV2(positive, x, zero), SelectV2(positive, Neg(x), x)
		return AddV2(Sub(relu, Mul(x, labels)), Log1p(Exp(negAbs)))
	})
}

// WeightedCrossEntropyWithLogits is SigmoidCrossEntropyWithLogits in which
// labels that are 1 count by weight, a scalar or of a shape that broadcasts.
// It is (1 - z)·x + (1 + (w - 1)·z)·log(1 + e^-x) for logits x, labels z and
// weight w, in a form that does not overflow. All have one type of
// floating-point numbers. Labels and logits of shapes that are known to
// differ are refused with INVALID_ARGUMENT when the graph is built.
func WeightedCrossEntropyWithLogits(labels, logits, weight tf.Output) tf.Output {
	if !logits.Shape().Compatible(labels.Shape()) {
		return refused(logits, "logistic_loss", "logits and labels must have the same shape, got %v and %v", logits.Shape(), labels.Shape())
	}
	return scoped("logistic_loss", logits, func() tf.Output {
		one := numberLike(logits, 1)
		factor := AddV2(one, Mul(Sub(weight, one), labels))
		tail := AddV2(Log1p(Exp(Neg(Abs(logits)))), Relu(Neg(logits)))
		return AddV2(Mul(Sub(one, labels), logits), Mul(factor, tail))
	})
}

// LogPoissonLoss returns e^x - z·x for predictions x, the logarithms of
// rates, and counts z. With full it adds Stirling's approximation of log(z!)
// where z exceeds 1. Both hold floating-point numbers of one type, and
// broadcast; shapes that do not are refused with INVALID_ARGUMENT, when the
// graph is built if they are known, else in the step. With full, counts less
// than 0 give NaN.
func LogPoissonLoss(targets, logInput tf.Output, full bool) tf.Output {
	return scoped("log_poisson_loss", logInput, func() tf.Output {
		loss := Sub(Exp(logInput), Mul(logInput, targets))
		if !full {
			return loss
		}
		zero, one := ZerosLike(targets), OnesLike(targets)
		root := Mul(numberLike(targets, 0.5), Log(Mul(numberLike(targets, 2*math.Pi), targets)))
		stirling := AddV2(Sub(Mul(targets, Log(targets)), targets), root)
		small := LogicalAnd(GreaterEqual(targets, zero), LessEqual(targets, one))
		return AddV2(loss, SelectV2(small, zero, stirling))
	})
}

// RandomNormal returns normally distributed numbers of a type and shape, with
// a mean and a standard deviation. Shape and options are those of
// RandomStandardNormal. d is float16, bfloat16, float32 or float64; another
// type is refused with INVALID_ARGUMENT when the graph is built.
func RandomNormal[I tf.Ints](g *tf.Graph, shape I, mean, deviation float64, d tf.DType, opts ...tf.Option) tf.Output {
	x := RandomStandardNormal(g, shape, d, opts...)
	if x.Err() != nil {
		return x
	}
	return AddV2(Mul(x, numberLike(x, deviation)), numberLike(x, mean))
}
