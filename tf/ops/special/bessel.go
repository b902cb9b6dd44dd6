package special

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	for _, b := range []struct {
		name string
		f    func(float64) float64
		d    derivative
		f32  func(y, x []float32) // if there is one
	}{
		{"BesselI0", unscaled(besselI0e, 1), func(x, _ tf.Output) tf.Output { return BesselI1(x) }, elementwise.BesselI0},
		{"BesselI1", unscaled(besselI1e, 1), func(x, y tf.Output) tf.Output { return atZero(x, 1, ops.Sub(BesselI0(x), ops.RealDiv(y, x))) }, elementwise.BesselI1},
		{"BesselI0e", besselI0e, func(x, y tf.Output) tf.Output { return ops.Sub(BesselI1e(x), ops.Mul(ops.Sign(x), y)) }, elementwise.BesselI0e},
		{"BesselI1e", besselI1e, func(x, y tf.Output) tf.Output {
			return atZero(x, 0.5, ops.Sub(BesselI0e(x), ops.Mul(y, ops.AddV2(ops.Sign(x), ops.Reciprocal(x)))))
		}, elementwise.BesselI1e},
		{"BesselK0", unscaled(besselK0e, -1), func(x, _ tf.Output) tf.Output { return ops.Neg(BesselK1(x)) }, nil},
		{"BesselK1", unscaled(besselK1e, -1), func(x, y tf.Output) tf.Output { return ops.Sub(ops.Neg(BesselK0(x)), ops.RealDiv(y, x)) }, nil},
		{"BesselK0e", besselK0e, func(x, y tf.Output) tf.Output { return ops.Sub(y, BesselK1e(x)) }, nil},
		{"BesselK1e", besselK1e, func(x, y tf.Output) tf.Output {
			return ops.Sub(ops.Mul(y, ops.Sub(number(x, 1), ops.Reciprocal(x))), BesselK0e(x))
		}, nil},
		{"BesselJ0", besselJ0, func(x, _ tf.Output) tf.Output { return ops.Neg(BesselJ1(x)) }, nil},
		{"BesselJ1", besselJ1, func(x, y tf.Output) tf.Output { return atZero(x, 0.5, ops.Sub(BesselJ0(x), ops.RealDiv(y, x))) }, nil},
		{"BesselY0", besselY0, func(x, _ tf.Output) tf.Output { return ops.Neg(BesselY1(x)) }, nil},
		{"BesselY1", besselY1, func(x, y tf.Output) tf.Output { return ops.Sub(BesselY0(x), ops.RealDiv(y, x)) }, nil},
	} {
		if b.f32 == nil {
			register(b.name, b.f, b.d, true)
		} else {
			registerLoop(b.name, b.f32, b.f, b.d, true)
		}
	}
}

// BesselI0 returns the modified Bessel function of the first kind of order 0.
// The result has the type and shape of x: float16, float32 or float64.
// bfloat16 has no kernel and is refused with NOT_FOUND in the step. It is NaN
// for infinities.
func BesselI0(x tf.Output, opts ...tf.Option) tf.Output { return apply("BesselI0", opts, x) }

// BesselI1 returns the modified Bessel function of the first kind of order 1.
// The result has the type and shape of x: float16, float32 or float64.
// bfloat16 has no kernel and is refused with NOT_FOUND in the step. It is NaN
// for infinities.
func BesselI1(x tf.Output, opts ...tf.Option) tf.Output { return apply("BesselI1", opts, x) }

// BesselI0e returns BesselI0 times e^-|x|. The result has the type and shape
// of x: float16, float32 or float64. bfloat16 has no kernel and is refused
// with NOT_FOUND in the step.
func BesselI0e(x tf.Output, opts ...tf.Option) tf.Output { return apply("BesselI0e", opts, x) }

// BesselI1e returns BesselI1 times e^-|x|. The result has the type and shape
// of x: float16, float32 or float64. bfloat16 has no kernel and is refused
// with NOT_FOUND in the step.
func BesselI1e(x tf.Output, opts ...tf.Option) tf.Output { return apply("BesselI1e", opts, x) }

// BesselK0 returns the modified Bessel function of the second kind of order 0.
// The result has the type and shape of x: float16, float32 or float64.
// bfloat16 has no kernel and is refused with NOT_FOUND in the step. It is +Inf
// for 0 and negative numbers.
func BesselK0(x tf.Output, opts ...tf.Option) tf.Output { return apply("BesselK0", opts, x) }

// BesselK1 returns the modified Bessel function of the second kind of order 1.
// The result has the type and shape of x: float16, float32 or float64.
// bfloat16 has no kernel and is refused with NOT_FOUND in the step. It is +Inf
// for 0 and negative numbers.
func BesselK1(x tf.Output, opts ...tf.Option) tf.Output { return apply("BesselK1", opts, x) }

// BesselK0e returns BesselK0 times e^x. The result has the type and shape of
// x: float16, float32 or float64. bfloat16 has no kernel and is refused with
// NOT_FOUND in the step. It is +Inf for 0 and negative numbers.
func BesselK0e(x tf.Output, opts ...tf.Option) tf.Output { return apply("BesselK0e", opts, x) }

// BesselK1e returns BesselK1 times e^x. The result has the type and shape of
// x: float16, float32 or float64. bfloat16 has no kernel and is refused with
// NOT_FOUND in the step. It is +Inf for 0 and negative numbers.
func BesselK1e(x tf.Output, opts ...tf.Option) tf.Output { return apply("BesselK1e", opts, x) }

// BesselJ0 returns the Bessel function of the first kind of order 0. The
// result has the type and shape of x: float16, float32 or float64. bfloat16
// has no kernel and is refused with NOT_FOUND in the step.
func BesselJ0(x tf.Output, opts ...tf.Option) tf.Output { return apply("BesselJ0", opts, x) }

// BesselJ1 returns the Bessel function of the first kind of order 1. The
// result has the type and shape of x: float16, float32 or float64. bfloat16
// has no kernel and is refused with NOT_FOUND in the step.
func BesselJ1(x tf.Output, opts ...tf.Option) tf.Output { return apply("BesselJ1", opts, x) }

// BesselY0 returns the Bessel function of the second kind of order 0. The
// result has the type and shape of x: float16, float32 or float64. bfloat16
// has no kernel and is refused with NOT_FOUND in the step. It is -Inf for 0
// and negative numbers.
func BesselY0(x tf.Output, opts ...tf.Option) tf.Output { return apply("BesselY0", opts, x) }

// BesselY1 returns the Bessel function of the second kind of order 1. The
// result has the type and shape of x: float16, float32 or float64. bfloat16
// has no kernel and is refused with NOT_FOUND in the step. It is -Inf for 0
// and negative numbers.
func BesselY1(x tf.Output, opts ...tf.Option) tf.Output { return apply("BesselY1", opts, x) }

// unscaled undoes the scaling of a function by e^(-sign·|x|).
func unscaled(f func(float64) float64, sign float64) func(float64) float64 {
	return func(x float64) float64 {
		y := f(x)
		if math.IsInf(x, 0) && sign > 0 {
			return math.NaN()
		}
		if math.IsInf(y, 0) || y == 0 {
			return y
		}
		half := math.Exp(sign * math.Abs(x) / 2) // e^x may be infinite though the product is not
		return y * half * half
	}
}

// fewTerms is where the asymptotic series of I is exact to the last place.
const fewTerms = 20

func besselI0e(x float64) float64 {
	x = math.Abs(x)
	if x <= boundI {
		return nearI0().at(x)
	}
	return farI0().at(1/x) / math.Sqrt(x)
}

func besselI1e(x float64) float64 {
	switch size := math.Abs(x); {
	case size < 1: // relative to a small x, the fit is not exact
		return seriesI1e(x)
	case size <= boundI:
		return math.Copysign(nearI1().at(size), x)
	default:
		return math.Copysign(farI1().at(1/size)/math.Sqrt(size), x)
	}
}

// seriesI0e returns e^-x·I of order 0 for positive x.
func seriesI0e(x float64) float64 {
	if x > fewTerms {
		return hankel(x, 0, -1)
	}
	q, term, sum := x*x/4, 1.0, 1.0
	for k := 1.0; term > sum*epsilon; k++ {
		term *= q / (k * k)
		sum += term
	}
	return sum * math.Exp(-x)
}

// seriesI1e returns e^-|x|·I of order 1.
func seriesI1e(x float64) float64 {
	size := math.Abs(x)
	if size > fewTerms {
		return math.Copysign(hankel(size, 4, -1), x)
	}
	q, term, sum := x*x/4, 1.0, 1.0
	for k := 1.0; term > sum*epsilon; k++ {
		term *= q / (k * (k + 1))
		sum += term
	}
	return x / 2 * sum * math.Exp(-size)
}

// epsilon is the distance between 1 and the next number.
const epsilon = 0x1p-52

// hankel sums the asymptotic series of √(2πx)·e^-x·I, whose terms alternate, or
// with sign 1 that of √(2x/π)·e^x·K, and divides by the root. mu is four times
// the square of the order.
func hankel(x, mu, sign float64) float64 {
	term, sum := 1.0, 1.0
	for k := 1.0; k < 60; k++ {
		odd := 2*k - 1
		next := term * sign * (mu - odd*odd) / (k * 8 * x)
		if math.Abs(next) >= math.Abs(term) || math.Abs(next) < epsilon/4 {
			break
		}
		term = next
		sum += term
	}
	return sum / math.Sqrt(2*math.Pi*x)
}

func besselK0e(x float64) float64 {
	switch {
	case x <= 0:
		return math.Inf(1)
	case x > boundK:
		return farK0().at(1/x) / math.Sqrt(x)
	}
	q, term := x*x/4, 1.0
	harmonic, sum := -elementwise.LogOf(x/2)-euler, 0.0
	for k := 1.0; term > epsilon/64; k++ {
		sum += term * harmonic
		term *= q / (k * k)
		harmonic += 1 / k
	}
	return sum * math.Exp(x)
}

// euler is the constant of Euler and Mascheroni.
const euler = 0.57721566490153286060651209008240243

func besselK1e(x float64) float64 {
	switch {
	case x <= 0:
		return math.Inf(1)
	case x > boundK:
		return farK1().at(1/x) / math.Sqrt(x)
	}
	// 1/x + Σ (x/2)^(2k+1)/(k!(k+1)!)·(ln(x/2) + γ - H(k) - 1/(2(k+1)))
	q, term := x*x/4, x/2
	log, harmonic, sum := math.Log(x/2)+euler, 0.0, 1/x
	for k := 0.0; term > epsilon/64*sum; k++ {
		sum += term * (log - harmonic - 0.5/(k+1))
		harmonic += 1 / (k + 1)
		term *= q / ((k + 1) * (k + 2))
	}
	return sum * math.Exp(x)
}

// steed returns e^x·K of the orders 0 and 1 for x > 2, by Steed's way to
// evaluate Temme's continued fraction.
func steed(x float64) (k0, k1 float64) {
	b := 2 * (1 + x)
	d := 1 / b
	h, step := d, d
	before, now := 0.0, 1.0
	c, a := 0.25, -0.25
	q := c
	sum := 1 + q*step
	for i := 2.0; i < 1000; i++ {
		a -= 2 * (i - 1)
		c = -a * c / i
		before, now = now, (before-b*now)/a
		q += c * now
		b += 2
		d = 1 / (b + a*d)
		step *= b*d - 1
		h += step
		change := q * step
		sum += change
		if math.Abs(change) < math.Abs(sum)*epsilon/4 {
			break
		}
	}
	k0 = math.Sqrt(math.Pi/(2*x)) / sum
	return k0, k0 * (x + 0.5 - 0.25*h) / x
}

// nowhere is f, which is not defined at infinity.
func nowhere(f func(float64) float64, x float64) float64 {
	if math.IsInf(x, 0) {
		return math.NaN()
	}
	return f(x)
}

func besselJ0(x float64) float64 { return nowhere(math.J0, x) }

// besselJ1 is odd, which math.J1 is not near 0.
func besselJ1(x float64) float64 {
	y := nowhere(math.J1, math.Abs(x))
	if math.Signbit(x) {
		return -y
	}
	return y
}

func besselY0(x float64) float64 { return belowZero(math.Y0, x) }

func besselY1(x float64) float64 { return belowZero(math.Y1, x) }

// belowZero is f, a function of the second kind, as TensorFlow continues it.
func belowZero(f func(float64) float64, x float64) float64 {
	if x <= 0 {
		return math.Inf(-1)
	}
	return nowhere(f, x)
}
