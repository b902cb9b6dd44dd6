package special

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	register("Dawsn", dawson, func(x, y tf.Output) tf.Output {
		return ops.Sub(number(x, 1), ops.Mul(ops.Mul(number(x, 2), x), y))
	}, false)
	register("Expint", expint, func(x, _ tf.Output) tf.Output { return ops.RealDiv(ops.Exp(x), x) }, false)
	quarter := func(x tf.Output) tf.Output { return ops.Mul(number(x, math.Pi/2), ops.Square(x)) }
	register("FresnelCos", func(x float64) float64 { return real(fresnel(x)) }, func(x, _ tf.Output) tf.Output { return ops.Cos(quarter(x)) }, false)
	register("FresnelSin", func(x float64) float64 { return imag(fresnel(x)) }, func(x, _ tf.Output) tf.Output { return ops.Sin(quarter(x)) }, false)
	register("Spence", spence, func(x, _ tf.Output) tf.Output {
		one := number(x, 1)
		return ops.SelectV2(ops.Equal(x, one), number(x, -1), ops.RealDiv(ops.Log(x), ops.Sub(one, x)))
	}, false)
}

// Dawsn returns Dawson's integral e^(-x²)·∫ e^(t²) dt from 0 to x. The result
// has the type and shape of x, float32 or float64; float16 and bfloat16 have
// no kernel and are refused with NOT_FOUND in the step.
func Dawsn(x tf.Output, opts ...tf.Option) tf.Output { return apply("Dawsn", opts, x) }

// Expint returns the exponential integral Ei, NaN for negative numbers. The
// result has the type and shape of x, float32 or float64; float16 and bfloat16
// have no kernel and are refused with NOT_FOUND in the step. It is -Inf for 0
// and NaN for +Inf.
func Expint(x tf.Output, opts ...tf.Option) tf.Output { return apply("Expint", opts, x) }

// FresnelCos returns Fresnel's integral ∫ cos(πt²/2) dt from 0 to x. The
// result has the type and shape of x, float32 or float64; float16 and bfloat16
// have no kernel and are refused with NOT_FOUND in the step.
func FresnelCos(x tf.Output, opts ...tf.Option) tf.Output { return apply("FresnelCos", opts, x) }

// FresnelSin returns Fresnel's integral ∫ sin(πt²/2) dt from 0 to x. The
// result has the type and shape of x, float32 or float64; float16 and bfloat16
// have no kernel and are refused with NOT_FOUND in the step.
func FresnelSin(x tf.Output, opts ...tf.Option) tf.Output { return apply("FresnelSin", opts, x) }

// Spence returns Spence's integral -∫ log(t)/(t-1) dt from 1 to x, NaN for
// negative numbers. The result has the type and shape of x, float32 or
// float64; float16 and bfloat16 have no kernel and are refused with NOT_FOUND
// in the step.
func Spence(x tf.Output, opts ...tf.Option) tf.Output { return apply("Spence", opts, x) }

// Fits of Dawson's integral, the last of x·f(x) by 1/x.
var (
	dawsonNear   = fitted(rybicki, 0.2, 3, degree)
	dawsonMiddle = fitted(rybicki, 3, 8, degree)
	dawsonFar    = fitted(func(u float64) float64 { return rybicki(1/u) / u }, 0, 1./8, degree)
)

func dawson(x float64) float64 {
	size := math.Abs(x)
	switch {
	case size < 0.2:
		return dawsonSeries(x)
	case size < 3:
		return math.Copysign(dawsonNear().at(size), x)
	case size < 8:
		return math.Copysign(dawsonMiddle().at(size), x)
	}
	return dawsonFar().at(1/size) / x
}

// rybicki returns Dawson's integral for positive numbers as Rybicki's sum of
// Gaussians at odd multiples of a step; the error is e^(-(π/2·step)²).
func rybicki(x float64) float64 {
	if x > 1e8 {
		return 0.5 / x
	}
	const step, terms = 0.25, 15
	near := 2 * math.Round(x/(2*step))
	rest := x - near*step
	sum := 0.0
	for k := range terms {
		odd := float64(2*k + 1)
		up, down := rest-odd*step, rest+odd*step
		sum += math.Exp(-up*up)/(near+odd) + math.Exp(-down*down)/(near-odd)
	}
	return sum / math.Sqrt(math.Pi)
}

// dawsonSeries sums x·Σ (-2x²)^k/(2k+1)!!.
func dawsonSeries(x float64) float64 {
	term, sum := x, x
	for k := 1.0; k < 15; k++ {
		term *= -2 * x * x / (2*k + 1)
		sum += term
	}
	return sum
}

func expint(x float64) float64 {
	switch {
	case x < 0 || math.IsInf(x, 1):
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case x > 40:
		return expintFar(x)
	}
	sum, term := euler+elementwise.LogOf(x), 1.0
	for k := 1.0; ; k++ {
		term *= x / k
		sum += term / k
		if !(term > epsilon/8*math.Abs(sum)) {
			return sum
		}
	}
}

// expintFar sums e^x/x·Σ k!/x^k as far as the terms get smaller.
func expintFar(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; k < x && term > epsilon/8; k++ {
		term *= k / x
		sum += term
	}
	half := math.Exp(x / 2)
	return sum / x * half * half
}

// fresnel returns the integral of e^(iπt²/2) from 0 to x: by its series, or by
// the continued fraction of the error function of complex numbers.
func fresnel(x float64) complex128 {
	size := math.Abs(x)
	const near, far = 1.5, 1e8
	var z complex128
	switch {
	case math.IsNaN(x):
		return complex(x, x)
	case size < near:
		z = fresnelSeries(size)
	case size > far:
		z = 0.5 + 0.5i
	default:
		z = fresnelFraction(size)
	}
	if x < 0 {
		z = -z
	}
	return z
}

// fresnelSeries sums x·Σ (iπx²/2)^k/(k!(2k+1)).
func fresnelSeries(x float64) complex128 {
	t := complex(0, math.Pi/2*x*x)
	term, sum := complex(x, 0), complex(x, 0)
	for k := 1.0; k < 40; k++ {
		term *= t / complex(k, 0)
		sum += term / complex(2*k+1, 0)
	}
	return sum
}

func fresnelFraction(x float64) complex128 {
	b := complex(1, -math.Pi*x*x)
	c, d := complex(1e300, 0), 1/b
	h := d
	for n := 1.0; n < 400; n += 2 {
		a := complex(-n*(n+1), 0)
		b += 4
		d = 1 / (a*d + b)
		c = b + a/c
		change := c * d
		h *= change
		if math.Abs(real(change)-1)+math.Abs(imag(change)) < epsilon {
			break
		}
	}
	angle := math.Pi / 2 * math.Mod(x*x, 4)
	sin, cos := math.Sincos(angle)
	return complex(0.5, 0.5) * (1 - complex(cos, sin)*complex(x, -x)*h)
}

// spence is the dilogarithm of 1-x.
func spence(x float64) float64 {
	switch {
	case x < 0 || math.IsInf(x, 1):
		return math.NaN()
	case x == 0:
		return math.Pi * math.Pi / 6
	case x < 0.5:
		return math.Pi*math.Pi/6 - math.Log(x)*math.Log1p(-x) - spence(1-x)
	case x > 2:
		l := math.Log(x)
		return -l*l/2 - spence(1/x)
	}
	return nearOne(-math.Log(x))
}

// nearOne sums Σ B(k)·u^(k+1)/(k+1)! with Bernoulli's numbers.
func nearOne(u float64) float64 {
	q := u * u
	odd := 0.0
	for k := len(bernoulli) - 1; k >= 0; k-- {
		odd = odd*q + bernoulli[k]
	}
	return u - q/4 + u*q*odd
}

// bernoulli holds B(2k+2)/(2k+3)!.
var bernoulli = [...]float64{
	1. / 36, -1. / 3600, 1. / 211680, -1. / 10886400, 1. / 526901760, -691. / 16999766784000,
	1. / 1120863744000, -3617. / 181400588328960000, 43867. / 97072790126247936000,
}
