package special

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	const in, types = "a: T; x: T", "T: {bfloat16, half, float, double}"
	core.Register(core.OpDef{
		Name: "Igamma", In: in, Out: "z: T", Attrs: types, Shape: core.BroadcastShape,
		Grad: tf.GradFunc(func(op *tf.Operation, dy []tf.Output) []tf.Gradient { return tf.Grads(igammaGrad(op, dy[0])) }), Kernels: zipKernels(igammaSingle, igamma),
	})
	core.Register(core.OpDef{
		Name: "Igammac", In: in, Out: "z: T", Attrs: types, Shape: core.BroadcastShape, Kernels: zipKernels(igammacSingle, igammac),
		Grad: tf.GradFunc(func(op *tf.Operation, dy []tf.Output) []tf.Gradient {
			da, dx := igammaGrad(op, dy[0])
			return tf.Grads(ops.Neg(da), ops.Neg(dx))
		}),
	})
	core.Register(core.OpDef{
		Name: "IgammaGradA", In: in, Out: "z: T", Attrs: "T: {float, double}", Shape: core.BroadcastShape,
		NoGrad: core.NoGradientDefined, Kernels: zipKernels(igammaGradA, igammaGradA),
	})
	core.Register(core.OpDef{
		Name: "RandomGammaGrad", In: "alpha: T; sample: T", Out: "output: T", Attrs: "T: {float, double}", Shape: core.BroadcastShape,
		NoGrad: core.NoGradientDefined, Kernels: zipKernels(randomGammaGrad, randomGammaGrad),
	})
}

// Igamma returns the lower incomplete gamma function of a and x over Γ(a).
// Continued fractions are evaluated by the method of Lentz (1976). a and x
// are float32 or float64 and broadcast; shapes that do not are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. float16 and bfloat16 have no kernel and are refused with NOT_FOUND in
// the step. It is NaN where a is not positive or x is negative.
func Igamma(a, x tf.Output, opts ...tf.Option) tf.Output { return apply("Igamma", opts, a, x) }

// Igammac returns 1 - Igamma, exact where that is near 1. Types, shapes and
// errors are those of Igamma. It is NaN where a is not positive or x is
// negative.
func Igammac(a, x tf.Output, opts ...tf.Option) tf.Output { return apply("Igammac", opts, a, x) }

// IgammaGradA returns the derivative of Igamma for a. a and x are float32 or
// float64 and broadcast; shapes that do not are refused with INVALID_ARGUMENT.
func IgammaGradA(a, x tf.Output, opts ...tf.Option) tf.Output {
	return apply("IgammaGradA", opts, a, x)
}

// RandomGammaGrad returns how a sample of the gamma distribution moves with
// alpha, at the same probability. It is an implicit gradient (Figurnov,
// Mohamed and Mnih, NeurIPS 2018, arXiv:1805.08498). alpha and sample are
// float32 or float64 and broadcast; shapes that do not are refused with
// INVALID_ARGUMENT.
func RandomGammaGrad(alpha, sample tf.Output, opts ...tf.Option) tf.Output {
	return apply("RandomGammaGrad", opts, alpha, sample)
}

// igammaGrad returns the gradients of Igamma.
func igammaGrad(op *tf.Operation, dz tf.Output) (da, dx tf.Output) {
	a, x := op.Input(0), op.Input(1)
	sa, sx := ops.Shape(a), ops.Shape(x)
	ra, rx := ops.BroadcastGradientArgs(sa, sx)
	after(dz, func() {
		log := ops.Sub(ops.AddV2(ops.Neg(x), ops.Mul(ops.Sub(a, number(a, 1)), ops.Log(x))), ops.Lgamma(a))
		da = ops.Reshape(ops.Sum(ops.Mul(IgammaGradA(a, x), dz), ra), sa)
		dx = ops.Reshape(ops.Sum(ops.Mul(ops.Exp(log), dz), rx), sx)
	})
	return da, dx
}

// outside returns the values for a and x that need no computing: what the
// lower function and its derivatives are at the ends.
func outside(a, x, end float64) (float64, bool) {
	switch {
	case x == 0:
		return 0, true
	case x < 0 || !(a > 0) || math.IsNaN(x):
		return math.NaN(), true
	case math.IsInf(a, 1):
		return 0, true
	case math.IsInf(x, 1):
		return end, true
	}
	return 0, false
}

// byFraction reports whether the continued fraction for the upper function is
// better than the series for the lower one.
func byFraction(a, x float64) bool { return x > 1 && x > a }

func igamma(a, x float64) float64 {
	if v, ok := outside(a, x, 1); ok {
		return v
	}
	if isLarge(a, x) {
		lower, _ := largeGamma(a, x)
		return lower
	}
	if byFraction(a, x) {
		f := fraction(a, x)
		return 1 - factor(a, x)*f.v
	}
	s := series(a, x)
	return factor(a, x) / a * s.v
}

func igammac(a, x float64) float64 {
	switch {
	case !(a > 0) || x < 0:
		return math.NaN()
	case x == 0:
		return 1
	case math.IsInf(x, 1):
		return 0
	case math.IsInf(a, 1):
		return 1 - 0*x
	case isLarge(a, x):
		_, upper := largeGamma(a, x)
		return upper
	case byFraction(a, x), x == 1 && a < 1: // near 0 for a small a
		f := fraction(a, x)
		return factor(a, x) * f.v
	}
	return 1 - igamma(a, x)
}

func igammaGradA(a, x float64) float64 {
	if v, ok := outside(a, x, math.Copysign(0, -1)); ok {
		return v
	}
	return factor(a, x) * slope(a, x)
}

func randomGammaGrad(a, x float64) float64 {
	if v, ok := outside(a, x, math.Copysign(0, -1)); ok {
		return v
	}
	return -x * slope(a, x)
}

// factor returns x^a·e^-x/Γ(a).
func factor(a, x float64) float64 {
	if a < 10 {
		log, _ := math.Lgamma(a)
		return math.Exp(a*elementwise.LogOf(x) - x - log)
	}
	// Stirling's formula: what is large cancels out before it is computed
	u := (x - a) / a
	r := 1 / (a * a)
	correction := (1./12 - r*(1./360-r*(1./1260-r*(1./1680-r*(1./1188))))) / a
	log := math.Log1p(u)
	if x < a/2 { // of which u has lost the last bits
		log = elementwise.LogOf(x / a)
	}
	return math.Sqrt(a/(2*math.Pi)) * math.Exp(-a*(u-log)-correction)
}

// A dual is a number and its derivative for a.
type dual struct{ v, d float64 }

func (x dual) plus(y dual) dual { return dual{x.v + y.v, x.d + y.d} }

func (x dual) times(y dual) dual { return dual{x.v * y.v, x.d*y.v + x.v*y.d} }

func (x dual) inverse() dual { return dual{1 / x.v, -x.d / (x.v * x.v)} }

// slope returns the derivative of Igamma over factor.
func slope(a, x float64) float64 {
	if isLarge(a, x) {
		return -largeShift(a, x) / x
	}
	if byFraction(a, x) {
		f := fraction(a, x)
		return -(f.v*(elementwise.LogOf(x)-digamma(a)) + f.d)
	}
	s := series(a, x)
	return (s.v*(elementwise.LogOf(x)-digamma(a+1)) + s.d) / a
}

// mostSteps ends sums that don't converge.
const mostSteps = 100000

// series returns 1 + x/(a+1) + x²/((a+1)(a+2)) + … .
func series(a, x float64) dual {
	term, sum := dual{1, 0}, dual{1, 0}
	for k := 1.0; k < mostSteps; k++ {
		term = term.times(dual{x, 0}).times(dual{a + k, 1}.inverse())
		sum = sum.plus(term)
		if term.v < epsilon/8*sum.v && math.Abs(term.d) <= epsilon/8*math.Abs(sum.d) {
			break
		}
	}
	return sum
}

// fraction returns the upper incomplete gamma function over x^a·e^-x, by Lentz'
// way to evaluate its continued fraction.
func fraction(a, x float64) dual {
	b := dual{x + 1 - a, -1}
	c, d := dual{1e300, 0}, b.inverse()
	h := d
	for k := 1.0; k < mostSteps; k++ {
		n := dual{-k * (k - a), k}
		b.v += 2
		d = n.times(d).plus(b).inverse()
		c = b.plus(n.times(c.inverse()))
		change := c.times(d)
		h = h.times(change)
		if math.Abs(change.v-1) < epsilon && math.Abs(change.d) < epsilon/8 {
			break
		}
	}
	return h
}

// digamma is the derivative of log Γ for positive numbers: by the recurrence up
// to where the asymptotic series is exact.
func digamma(x float64) float64 {
	shift := 0.0
	for ; x < 10; x++ {
		shift += 1 / x
	}
	s := 1 / (x * x)
	rest := s * (1./12 - s*(1./120-s*(1./252-s*(1./240-s*(1./132-s*(691./32760-s/12))))))
	return math.Log(x) - 0.5/x - rest - shift
}
