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
	kerneltest.EachLevel(t, testComplexOfSinglePrecision)
}

func testComplexOfSinglePrecision(t *testing.T) {
	x := corners()
	y, z := make([]complex64, len(x)), make([]complex64, len(x))
	SqrtComplex(y, x)
	Reciprocal(z, x)
	for i, v := range x {
		checkComplex(t, "the root", v, y[i], complex64(cmplx.Sqrt(complex128(v))), 0x1p-22)
		checkComplex(t, "the reciprocal", v, z[i], 1/v, 0x1p-22)
	}
	for _, b := range x[:100] {
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

// TestComplexBits wants loops to have the bits of the functions that define them, for each length
// and in place.
func TestComplexBits(t *testing.T) {
	all := corners()
	same := func(a, b complex64) bool {
		return kerneltest.Same(real(a), real(b)) && kerneltest.Same(imag(a), imag(b))
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for n := range 70 {
			x, y := all[n*7:][:n], all[900+n*3:][:n]
			for name, c := range map[string]struct {
				loop func(z, x, y []complex64)
				want func(a, b complex64) complex64
			}{
				"product":   {Mul[complex64], product},
				"square":    {func(z, x, _ []complex64) { Square(z, x) }, func(a, _ complex64) complex64 { return product(a, a) }},
				"times 2-i": {func(z, x, _ []complex64) { MulScalar(z, x, 2-1i) }, func(a, _ complex64) complex64 { return product(a, 2-1i) }},
				"quotient":  {Div[complex64], quotient},
				"2-i over":  {func(z, x, _ []complex64) { ScalarDiv(z, 2-1i, x) }, func(a, _ complex64) complex64 { return quotient(2-1i, a) }},
				"root":      {func(z, x, _ []complex64) { SqrtComplex(z, x) }, func(a, _ complex64) complex64 { return rootOf(a) }},
				"sum":       {Add[complex64], func(a, b complex64) complex64 { return a + b }},
				"conjugate": {func(z, x, _ []complex64) { Conj64(z, x) }, func(a, _ complex64) complex64 { return complex(real(a), -imag(a)) }},
			} {
				z := append(append([]complex64{}, x...), 7)
				c.loop(z[:n], z[:n], y)
				for i := range x {
					if want := c.want(x[i], y[i]); !same(z[i], want) {
						t.Fatalf("%s: element %d of %d, of %v and %v: %v, want %v", name, i, n, x[i], y[i], z[i], want)
					}
				}
				if z[n] != 7 {
					t.Fatalf("%s changes what lies beyond its %d elements", name, n)
				}
			}
		}
	})
}
