package special

import (
	"math"
	"testing"
)

// TestFits compares the fits with what they are fitted to.
func TestFits(t *testing.T) {
	for x := 0.01; x < 1000; x *= 1.07 {
		k0, k1 := steed(max(x, boundK))
		for what, c := range map[string][2]float64{
			"I0": {besselI0e(x), seriesI0e(x)}, "I1": {besselI1e(x), seriesI1e(x)}, "I1 of -x": {besselI1e(-x), -seriesI1e(x)},
			"K0": {besselK0e(max(x, 1.0000001*boundK)), k0}, "K1": {besselK1e(max(x, 1.0000001*boundK)), k1},
		} {
			if tol := 3e-14; math.Abs(c[0]-c[1]) > tol*math.Abs(c[1]) && !(x <= boundK && what[0] == 'K') {
				t.Errorf("%s(%v) is %v, want %v", what, x, c[0], c[1])
			}
		}
	}
}

func TestDawson(t *testing.T) {
	for x := 0.01; x < 1e9; x *= 1.07 {
		if got, want := dawson(x), rybicki(x); math.Abs(got-want) > 2e-14*want {
			t.Errorf("dawson(%v) is %v, want %v", x, got, want)
		}
		if dawson(-x) != -dawson(x) {
			t.Errorf("dawson(%v) is %v", -x, dawson(-x))
		}
	}
}

func TestBesselEnds(t *testing.T) {
	for _, f := range []func(float64) float64{besselI0e, besselI1e, besselK0e, besselK1e} {
		if y := f(math.Inf(1)); y != 0 {
			t.Errorf("%v at infinity", y)
		}
		if y := f(math.NaN()); !math.IsNaN(y) {
			t.Errorf("%v for NaN", y)
		}
	}
}

func BenchmarkBesselI0e(b *testing.B) {
	for i := range b.N {
		besselI0e(float64(i%200) / 10)
	}
}

// TestBesselIsOdd: of order 1, the function of the first kind is, also near 0.
func TestBesselIsOdd(t *testing.T) {
	for _, x := range []float64{0, 1e-300, 1e-10, 0.5, 3, 1e10} {
		if y, z := besselJ1(x), besselJ1(-x); z != -y || math.Signbit(z) == math.Signbit(y) {
			t.Errorf("at %v: got %v and %v", x, y, z)
		}
	}
}
