package elementwise

import (
	"math"
	"math/cmplx"
)

// Functions of complex numbers that math/cmplx computes by formulas which overflow, cancel
// or leave the side of a branch cut. Numbers with a part that is infinite or none are
// left to math/cmplx, which knows them.

// far is where e^x is near an end of float64's range, and terms without it vanish.
const far = 700

func finite(x complex128) bool { return !cmplx.IsInf(x) && !cmplx.IsNaN(x) }

// scaled returns e^a·s, which may be finite where e^a is not.
func scaled(a, s float64) float64 {
	if s == 0 {
		return s
	}
	if math.Abs(a) < far {
		return math.Exp(a) * s
	}
	h := math.Exp(a / 2)
	return h * s * h
}

// rotated returns i·x, unrotated -i·x.
func rotated(x complex128) complex128   { return complex(-imag(x), real(x)) }
func unrotated(x complex128) complex128 { return complex(imag(x), -real(x)) }

// ExpOfComplex returns e to the x.
func ExpOfComplex(x complex128) complex128 {
	if !finite(x) {
		return cmplx.Exp(x)
	}
	s, c := math.Sincos(imag(x))
	return complex(scaled(real(x), c), scaled(real(x), s))
}

// Expm1OfComplex returns e to the x less 1.
func Expm1OfComplex(x complex128) complex128 {
	a, b := real(x), imag(x)
	if a > far {
		return ExpOfComplex(x)
	}
	// The real part is without the cancellation of e^a·cos b - 1.
	s := math.Sin(b / 2)
	return complex(math.Expm1(a)*math.Cos(b)-2*s*s, math.Exp(a)*math.Sin(b))
}

// Log1pOfComplex returns the logarithm of 1 + x.
func Log1pOfComplex(x complex128) complex128 {
	a, b := real(x), imag(x)
	if size := math.Max(math.Abs(a), math.Abs(b)); size > 1e100 || a < -0.5 {
		return LogOfComplex(complex(1+a, b)) // squares overflow, or 1 is no more than what is left
	}
	return complex(math.Log1p(a*(2+a)+b*b)/2, math.Atan2(b, 1+a))
}

// SinhOfComplex returns the hyperbolic sine.
func SinhOfComplex(x complex128) complex128 {
	a, b := real(x), imag(x)
	if !finite(x) || math.Abs(a) < far {
		return cmplx.Sinh(x)
	}
	s, c := math.Sincos(b)
	return complex(math.Copysign(1, a)*scaled(math.Abs(a), c/2), scaled(math.Abs(a), s/2))
}

// CoshOfComplex returns the hyperbolic cosine.
func CoshOfComplex(x complex128) complex128 {
	a, b := real(x), imag(x)
	if !finite(x) || math.Abs(a) < far {
		return cmplx.Cosh(x)
	}
	s, c := math.Sincos(b)
	return complex(scaled(math.Abs(a), c/2), math.Copysign(1, a)*scaled(math.Abs(a), s/2))
}

// TanhOfComplex returns the hyperbolic tangent.
func TanhOfComplex(x complex128) complex128 {
	a, b := real(x), imag(x)
	switch {
	case !finite(x):
		return cmplx.Tanh(x)
	case math.Abs(a) > 100:
		s, c := math.Sincos(b)
		return complex(math.Copysign(1, a), scaled(-2*math.Abs(a), 4*s*c))
	}
	t, s := math.Tan(b), math.Sinh(a)
	d := 1 + t*t
	q := 1 + d*s*s
	return complex(d*math.Sqrt(1+s*s)*s/q, t/q)
}

// SinOfComplex returns the sine.
func SinOfComplex(x complex128) complex128 { return unrotated(SinhOfComplex(rotated(x))) }

// CosOfComplex returns the cosine.
func CosOfComplex(x complex128) complex128 { return CoshOfComplex(rotated(x)) }

// TanOfComplex returns the tangent.
func TanOfComplex(x complex128) complex128 { return unrotated(TanhOfComplex(rotated(x))) }

// PowOfComplex returns x to the power of y.
func PowOfComplex(x, y complex128) complex128 {
	switch {
	case x == 0 && y != 0 && !(real(y) < 0 || real(y) > 0):
		return cmplx.NaN() // where math/cmplx panics
	case x == 0 || !finite(x) || !finite(y):
		return cmplx.Pow(x, y)
	}
	if z := cmplx.Pow(x, y); z != 0 && finite(z) {
		return z
	}
	l := LogOfComplex(x) // a factor alone has left float64's range
	a, b := real(y), imag(y)
	return ExpOfComplex(complex(a*real(l)-b*imag(l), a*imag(l)+b*real(l)))
}
