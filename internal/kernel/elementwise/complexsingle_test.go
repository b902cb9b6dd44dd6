package elementwise

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// corners returns complex numbers with all pairs of special parts, and others.
func corners() []complex64 {
	parts := append(kerneltest.Random[float32](40, 9), kerneltest.Corner...)
	var x []complex64
	for _, a := range parts {
		for _, b := range parts {
			x = append(x, complex(a, b))
		}
	}
	return x
}

// checkComplex wants parts that differ by no more than the rounding from double to single precision
// can; eps is of the absolute value.
func checkComplex(t *testing.T, what string, x, got, want complex64, eps float64) {
	t.Helper()
	near := func(a, b float32) bool {
		return kerneltest.Same(a, b) || math.Abs(float64(a)-float64(b)) <= eps*math.Max(cmplx.Abs(complex128(want)), 0x1p-126) && a*b >= 0
	}
	if !near(real(got), real(want)) || !near(imag(got), imag(want)) {
		t.Errorf("%s of %v is %v, want %v", what, x, got, want)
	}
}

// TestComplexOfSinglePrecision compares loops with the functions that define them.
func TestComplexOfSinglePrecision(t *testing.T) {
	x := corners()
	y, z := make([]complex64, len(x)), make([]complex64, len(x))
	SqrtComplex(y, x)
	Reciprocal(z, x)
	for i, v := range x {
		checkComplex(t, "the root", v, y[i], complex64(cmplx.Sqrt(complex128(v))), 0x1p-22)
		checkComplex(t, "the reciprocal", v, z[i], 1/v, 0x1p-22)
	}
	for _, b := range x[:200] {
		for i := range y {
			y[i] = b
		}
		Div(z, x, y)
		for i, v := range x {
			checkComplex(t, "a quotient", v, z[i], v/b, 0x1p-22)
		}
		Div(y, y, x)
		for i, v := range x {
			checkComplex(t, "a quotient by", v, y[i], b/v, 0x1p-22)
		}
	}
	Conj64(y, x)
	for i, v := range x {
		checkComplex(t, "the conjugate", v, y[i], complex64(cmplx.Conj(complex128(v))), 0)
	}
}

// TestComplexByBlocks compares loops over the parts with the functions that define them.
func TestComplexByBlocks(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		x := corners()
		for i := range 300 { // near the circle of size 1
			x = append(x, complex64(cmplx.Rect(1+float64(i%7-3)*1e-7, float64(i))))
		}
		y, z := make([]complex64, len(x)), make([]complex64, len(x))
		ExpComplex(y, x)
		LogComplex(z, x)
		for i, v := range x {
			checkComplex(t, "the power", v, y[i], complex64(ExpOfComplex(complex128(v))), 0x1p-21)
			checkComplex(t, "the logarithm", v, z[i], complex64(LogOfComplex(complex128(v))), 0x1p-21)
		}
	})
}
