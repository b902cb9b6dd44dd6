package elementwise_test

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
)

var negZero = math.Copysign(0, -1)

// TestComplexEnds compares with TensorFlow where math/cmplx overflows, cancels, or is on the
// wrong side of a branch cut.
func TestComplexEnds(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name    string
		f       func(complex128) complex128
		x, want complex128
	}{
		{"exp", elementwise.ExpOfComplex, complex(710, 0), complex(inf, 0)},
		{"exp", elementwise.ExpOfComplex, complex(710, 1.5), complex(1.5802653829857378e307, inf)},
		{"expm1", elementwise.Expm1OfComplex, complex(710, negZero), complex(inf, negZero)},
		{"log1p", elementwise.Log1pOfComplex, complex(1e200, 0), complex(460.51701859880916, 0)},
		{"log1p", elementwise.Log1pOfComplex, complex(-1, 1e-30), complex(-69.07755278982137, math.Pi/2)},
		{"sinh", elementwise.SinhOfComplex, complex(-800, negZero), complex(-inf, negZero)},
		{"cosh", elementwise.CoshOfComplex, complex(-800, negZero), complex(inf, 0)},
		{"cosh", elementwise.CoshOfComplex, complex(710, 0), complex(1.1169973830808557e308, 0)},
		{"sin", elementwise.SinOfComplex, complex(negZero, 800), complex(negZero, inf)},
		{"cos", elementwise.CosOfComplex, complex(0, 800), complex(inf, negZero)},
		{"tanh", elementwise.TanhOfComplex, complex(-1e20, negZero), complex(-1, negZero)},
		{"tanh", elementwise.TanhOfComplex, complex(negZero, 1), complex(negZero, 1.557407724654902)},
		{"tan", elementwise.TanOfComplex, complex(1, -800), complex(0, -1)},
		{"asin", elementwise.AsinOfComplex, complex(2, negZero), complex(math.Pi/2, -1.3169578969248166)},
		{"asin", elementwise.AsinOfComplex, complex(1e200, 0), complex(math.Pi/2, 461.2101657793691)},
		{"asin", elementwise.AsinOfComplex, complex(1e-30, 1e-30), complex(1e-30, 1e-30)},
		{"acos", elementwise.AcosOfComplex, complex(-2, negZero), complex(math.Pi, 1.3169578969248166)},
		{"acosh", elementwise.AcoshOfComplex, complex(-1, negZero), complex(0, -math.Pi)},
		{"acosh", elementwise.AcoshOfComplex, complex(1, 1e-30), complex(1e-15, 1e-15)},
		{"asinh", elementwise.AsinhOfComplex, complex(-1e20, 1), complex(-46.744849040440864, 1e-20)},
		{"atan", elementwise.AtanOfComplex, complex(0.5, -1e20), complex(math.Pi/2, -1e-20)},
		{"atan", elementwise.AtanOfComplex, complex(0, -2), complex(math.Pi/2, -0.5493061443340549)},
		{"atan", elementwise.AtanOfComplex, complex(1e-30, 1), complex(math.Pi/4, 34.88534998519296)},
		{"atanh", elementwise.AtanhOfComplex, complex(2, negZero), complex(0.5493061443340549, -math.Pi/2)},
		{"atanh", elementwise.AtanhOfComplex, complex(-1, 1e-300), complex(-345.7343375393868, math.Pi/4)},
	} {
		got := c.f(c.x)
		if !near(real(got), real(c.want)) || !near(imag(got), imag(c.want)) {
			t.Errorf("%s of %v: want %v, got %v", c.name, c.x, c.want, got)
		}
	}
}

// near compares zeros with their signs.
func near(got, want float64) bool {
	if want == 0 {
		return got == 0 && math.Signbit(got) == math.Signbit(want)
	}
	return got == want || math.Abs(got-want) <= 1e-12*math.Abs(want)
}

// TestComplexPowers: math/cmplx panics for exponents of zero that have no positive or
// negative real part, and makes NaN of a factor that is infinite alone.
func TestComplexPowers(t *testing.T) {
	nan := math.NaN()
	for _, y := range []complex128{1i, complex(nan, 0), complex(nan, math.Inf(1)), complex(0, nan)} {
		if got := elementwise.PowOfComplex(0, y); !cmplx.IsNaN(got) {
			t.Errorf("0 to the power of %v: want NaN, got %v", y, got)
		}
	}
	if got := elementwise.PowOfComplex(0, 0); got != 1 {
		t.Errorf("0 to the power of 0: want 1, got %v", got)
	}
	got := elementwise.PowOfComplex(complex(1e200, 1e200), complex(2, 600)) // 1e400·i·e^(-600π/4), turned by 600·log|x|
	if math.Abs(math.Log10(cmplx.Abs(got))-195.654) > 0.01 {
		t.Errorf("want about 1e195, got %v", got)
	}
}
