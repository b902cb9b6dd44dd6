package elementwise

import (
	"math"
	"math/cmplx"
)

// The inverse functions are by the formulas of W. Kahan, Branch Cuts for Complex
// Elementary Functions: the sign of a zero says which side of a cut a number is on.

// roots returns the square roots of 1 - x and 1 + x.
func roots(x complex128) (less, more complex128) {
	return cmplx.Sqrt(complex(1-real(x), -imag(x))), cmplx.Sqrt(complex(1+real(x), imag(x)))
}

// AsinOfComplex returns the inverse sine.
func AsinOfComplex(x complex128) complex128 {
	if !finite(x) {
		return cmplx.Asin(x)
	}
	p, q := roots(x)
	re := math.Atan2(real(x), real(p)*real(q)-imag(p)*imag(q))
	return complex(re, math.Asinh(real(p)*imag(q)-imag(p)*real(q)))
}

// AcosOfComplex returns the inverse cosine.
func AcosOfComplex(x complex128) complex128 {
	if !finite(x) {
		return cmplx.Acos(x)
	}
	p, q := roots(x)
	return complex(2*math.Atan2(real(p), real(q)), math.Asinh(real(q)*imag(p)-imag(q)*real(p)))
}

// AcoshOfComplex returns the inverse hyperbolic cosine.
func AcoshOfComplex(x complex128) complex128 {
	if !finite(x) {
		return cmplx.Acosh(x)
	}
	p, q := cmplx.Sqrt(complex(real(x)-1, imag(x))), cmplx.Sqrt(complex(real(x)+1, imag(x)))
	return complex(math.Asinh(real(p)*real(q)+imag(p)*imag(q)), 2*math.Atan2(imag(p), real(q)))
}

// AsinhOfComplex returns the inverse hyperbolic sine.
func AsinhOfComplex(x complex128) complex128 {
	if !finite(x) {
		return cmplx.Asinh(x)
	}
	return unrotated(AsinOfComplex(rotated(x)))
}

// AtanOfComplex returns the inverse tangent.
func AtanOfComplex(x complex128) complex128 {
	if !finite(x) {
		return cmplx.Atan(x)
	}
	return unrotated(AtanhOfComplex(rotated(x)))
}

// AtanhOfComplex returns the inverse hyperbolic tangent.
func AtanhOfComplex(x complex128) complex128 {
	if !finite(x) {
		return cmplx.Atanh(x)
	}
	a, b := math.Abs(real(x)), math.Abs(imag(x))
	var re, im float64
	switch {
	case a > 1e100 || b > 1e100: // squares overflow
		re, im = real(1/complex(a, b)), math.Pi/2
	case a == 1 && b < 1e-100: // squares vanish
		re, im = (math.Ln2-LogOf(b))/2, math.Pi/4
		if b == 0 {
			im = 0
		}
	default:
		re = math.Log1p(4*a/((1-a)*(1-a)+b*b)) / 4
		im = math.Atan2(2*b, (1-a)*(1+a)-b*b) / 2
	}
	return complex(math.Copysign(re, real(x)), math.Copysign(im, imag(x)))
}
