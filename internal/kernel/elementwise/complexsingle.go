package elementwise

import (
	"math"
	"math/cmplx"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
)

// Loops over complex numbers of single precision, whose squares neither overflow nor vanish in
// double precision: formulas that need no scaling serve all that are finite.

// Conj64 sets y to the conjugates of x.
func Conj64(y, x []complex64) {
	x = x[:len(y)]
	if simd.conj != nil {
		simd.conj(floatsOf(y), floatsOf(x))
		return
	}
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

// floatsOf views complex numbers as their parts.
func floatsOf(x []complex64) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
}

// zipComplex runs a vector loop over the parts if there is one and the data are complex64.
func zipComplex[T any](f kernel.BinaryLoop, z, x, y []T) bool {
	p, ok := any(z).([]complex64)
	if !ok || f == nil {
		return false
	}
	f(floatsOf(p), floatsOf(any(x).([]complex64)[:len(p)]), floatsOf(any(y).([]complex64)[:len(p)]))
	return true
}

// mulComplex sets z = x · y if these are complex64. Products are rounded to single precision before
// they are added, as TensorFlow's are and Go's are not.
func mulComplex[T any](z, x, y []T) bool {
	if p, ok := any(z).([]complex64); ok && simd.mulComplex == nil {
		kernel.Zip(p, any(x).([]complex64), any(y).([]complex64), product)
		return true
	}
	return zipComplex(simd.mulComplex, z, x, y)
}

func product(a, b complex64) complex64 {
	return complex(float32(real(a)*real(b))-float32(imag(a)*imag(b)), float32(real(a)*imag(b))+float32(imag(a)*real(b)))
}

// scalarMulComplex is mulComplex for a scalar.
func scalarMulComplex[T any](z, x []T, s T) bool {
	_, ok := any(z).([]complex64)
	if ok {
		repeatScalar(z, s, x, func(z, s, x []T) { mulComplex(z, x, s) })
	}
	return ok
}

// complexGroup numbers are what a vector loop takes at once.
const complexGroup = 8

// inComplexGroups computes n numbers by a loop over whole groups, which returns how many it has
// done, and what that leaves one by one.
func inComplexGroups(n int, loop func(from, n int) (done int), one func(i int)) {
	for i := 0; i < n; {
		if m := min((n-i)/complexGroup*complexGroup, kernel.VectorChunk/2); loop != nil && m > 0 {
			done := loop(i, m)
			if i += done; done == m {
				continue
			}
		}
		for end := min(i+complexGroup, n); i < end; i++ {
			one(i)
		}
	}
}

// divComplex sets z = x / y if these are complex64.
func divComplex[T any](z, x, y []T) bool {
	q, ok := any(z).([]complex64)
	if ok {
		quotients(q, any(x).([]complex64)[:len(q)], any(y).([]complex64)[:len(q)], 1)
	}
	return ok
}

// scalarDivComplex sets z = s / y if these are complex64.
func scalarDivComplex[T any](z []T, s T, y []T) bool {
	q, ok := any(z).([]complex64)
	if ok {
		var same [complexGroup]complex64
		kernel.Fill(same[:], any(s).(complex64))
		quotients(q, same[:], any(y).([]complex64)[:len(q)], 0)
	}
	return ok
}

// quotients sets z = x / y, for step 0 of the same x throughout.
func quotients(z, x, y []complex64, step int) {
	var loop func(from, n int) int
	if simd.quotients != nil {
		loop = func(from, n int) int {
			return simd.quotients(&floatsOf(z)[2*from], &floatsOf(x)[2*from*step], &floatsOf(y)[2*from], n, step)
		}
	}
	inComplexGroups(len(z), loop, func(i int) { z[i] = quotient(x[i*step], y[i]) })
}

// quotient returns a/b. What has no finite quotient is left to Go's division.
func quotient(a, b complex64) complex64 {
	ar, ai, br, bi := float64(real(a)), float64(imag(a)), float64(real(b)), float64(imag(b))
	s := 1 / (float64(br*br) + float64(bi*bi))
	re, im := (float64(ar*br)+float64(ai*bi))*s, (float64(ai*br)-float64(ar*bi))*s
	if re-re+(im-im) != 0 {
		return a / b
	}
	return complex(float32(re), float32(im))
}

// SqrtComplex sets y to the square roots of x that are not left of 0.
func SqrtComplex(y, x []complex64) {
	x = x[:len(y)]
	var loop func(from, n int) int
	if simd.roots != nil {
		loop = func(from, n int) int { return simd.roots(&floatsOf(y)[2*from], &floatsOf(x)[2*from], n) }
	}
	inComplexGroups(len(y), loop, func(i int) { y[i] = rootOf(x[i]) })
}

func rootOf(v complex64) complex64 {
	a, b := float64(real(v)), float64(imag(v))
	t := math.Sqrt((math.Abs(a) + math.Sqrt(float64(a*a)+float64(b*b))) / 2)
	u := b / (2 * t)
	switch {
	case u-u != 0: // 0, or a part that is not finite
		return complex64(cmplx.Sqrt(complex128(v)))
	case a < 0:
		return complex(float32(math.Abs(u)), float32(math.Copysign(t, b)))
	}
	return complex(float32(t), float32(u))
}
