package elementwise

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// specialFloats64 are numbers at the ends of ranges.
var specialFloats64 = []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -5e-324, 1e-310, 0x1p-1022, -0x1p-1022, 0x1p-1023,
	math.MaxFloat64, -math.MaxFloat64, 1, -1, 0.625, -0.625, math.Nextafter(1, 0), math.Nextafter(1, 2), 709.7827128933841, -744.4400719213812,
	-745.1332191019411, -745.1332191019412, -745.14, -708.5, -709.5, -710.3, 1e-20, -1e-20, 1e-8, 22, -22, 350, math.Sqrt2, math.Sqrt2 / 2, 36.7, -36.7}

// unitsApart is how many numbers lie between a and b, 0 for two that are NaN.
func unitsApart(a, b float64) float64 {
	if a != a && b != b || a == b && math.Signbit(a) == math.Signbit(b) {
		return 0
	}
	if a != a || b != b || math.Signbit(a) != math.Signbit(b) {
		return math.Inf(1)
	}
	return math.Abs(float64(int64(math.Float64bits(a)) - int64(math.Float64bits(b))))
}

// numbers64 are special numbers and n random ones of all sizes.
func numbers64(n int) []float64 {
	x := append([]float64{}, specialFloats64...)
	for i, v := range kerneltest.Random[float64](n, 7) {
		x = append(x, []float64{v, 40 * v, 760 * v, math.Abs(v), math.Exp(700 * v), 1 + v/16}[i%6])
	}
	return x
}

// TestFloat64 compares the loops over float64 with the functions that define them.
func TestFloat64(t *testing.T) {
	x := numbers64(60_000)
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, c := range []struct {
			name string
			loop func(y, x []float64)
			want func(float64) float64
			most float64
		}{
			{"sqrt", Sqrt[float64], math.Sqrt, 0}, {"rsqrt", Rsqrt[float64], rsqrtOf, 0}, {"exp", Exp[float64], expPlain, 2}, {"log", Log[float64], LogOf, 1},
			{"tanh", Tanh[float64], math.Tanh, 2}, {"sigmoid", Sigmoid[float64], sigmoid, 2}, {"erf", Erf[float64], math.Erf, 3},
		} {
			y := make([]float64, len(x))
			c.loop(y, x)
			for i, v := range x {
				if want := c.want(v); unitsApart(y[i], want) > c.most {
					t.Fatalf("%s(%v) is %v, want %v", c.name, v, y[i], want)
				}
			}
			for n := range 20 { // each tail, in place
				z := append([]float64{}, x[:n+1]...)
				c.loop(z[:n], z[:n])
				for i, v := range z[:n] {
					if unitsApart(v, y[i]) > 0 {
						t.Fatalf("%s: element %d of %d is %v, want %v", c.name, i, n, v, y[i])
					}
				}
				if unitsApart(z[n], x[n]) > 0 {
					t.Fatalf("%s changes what lies beyond its %d elements", c.name, n)
				}
			}
		}
	})
}

// TestRows64 compares the loops over rows of matrices with what they mean.
func TestRows64(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for n := range 150 {
			x, y := kerneltest.Random[float64](n+1, 1), kerneltest.Random[float64](n+1, 2)
			if d := math.Abs(Dot(x[:n], y[:n]) - dotPlain(x[:n], y[:n])); d > 1e-14 {
				t.Fatalf("the product of %d elements is off by %v", n, d)
			}
			z, v, w := append([]float64{}, y...), append([]float64{}, x...), append([]float64{}, y...)
			AddScaled(z[:n], 0.3, x[:n])
			Rotate(v[:n], w[:n], 0.8, 0.6)
			for i := range z {
				sum, a, b := y[i]+float64(0.3*x[i]), float64(0.8*x[i])+float64(0.6*y[i]), float64(0.8*y[i])-float64(0.6*x[i])
				if i == n {
					sum, a, b = y[i], x[i], y[i]
				}
				if z[i] != sum || v[i] != a || w[i] != b {
					t.Fatalf("element %d of %d: %v %v %v, want %v %v %v", i, n, z[i], v[i], w[i], sum, a, b)
				}
			}
		}
	})
}
