package elementwise

import (
	"math"
	"math/cmplx"
)

// Loops over complex numbers of single precision, whose squares neither overflow nor vanish in
// double precision: formulas that need no scaling serve all that are finite.

// Conj64 sets y to the conjugates of x.
func Conj64(y, x []complex64) {
	x = x[:len(y)]
	for i, v := range x {
		y[i] = complex(real(v), -imag(v))
	}
}

// Conj128 sets y to the conjugates of x.
func Conj128(y, x []complex128) {
	x = x[:len(y)]
	for i, v := range x {
		y[i] = complex(real(v), -imag(v))
	}
}

// divComplex sets z = x / y if these are complex64.
func divComplex[T any](z, x, y []T) bool {
	q, ok := any(z).([]complex64)
	if ok {
		x, y := any(x).([]complex64)[:len(q)], any(y).([]complex64)[:len(q)]
		for i, b := range y {
			q[i] = quotient(x[i], b)
		}
	}
	return ok
}

// scalarDivComplex sets z = s / y if these are complex64.
func scalarDivComplex[T any](z []T, s T, y []T) bool {
	q, ok := any(z).([]complex64)
	if ok {
		a := any(s).(complex64)
		for i, b := range any(y).([]complex64)[:len(q)] {
			q[i] = quotient(a, b)
		}
	}
	return ok
}

// quotient returns a/b. What has no finite quotient is left to Go's division.
func quotient(a, b complex64) complex64 {
	ar, ai, br, bi := float64(real(a)), float64(imag(a)), float64(real(b)), float64(imag(b))
	s := 1 / (br*br + bi*bi)
	re, im := (ar*br+ai*bi)*s, (ai*br-ar*bi)*s
	if re-re+(im-im) != 0 {
		return a / b
	}
	return complex(float32(re), float32(im))
}

// SqrtComplex sets y to the square roots of x that are not left of 0.
func SqrtComplex(y, x []complex64) {
	x = x[:len(y)]
	for i, v := range x {
		a, b := float64(real(v)), float64(imag(v))
		t := math.Sqrt((math.Abs(a) + math.Sqrt(a*a+b*b)) / 2)
		u := b / (2 * t)
		switch {
		case u-u != 0: // 0, or a part that is not finite
			y[i] = complex64(cmplx.Sqrt(complex128(v)))
		case a < 0:
			y[i] = complex(float32(math.Abs(u)), float32(math.Copysign(t, b)))
		default:
			y[i] = complex(float32(t), float32(u))
		}
	}
}
