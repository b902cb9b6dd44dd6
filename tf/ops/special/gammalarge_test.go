package special

import (
	"math"
	"testing"
)

// TestLargeGamma compares the expansion with series and fraction where these are exact.
func TestLargeGamma(t *testing.T) {
	near := func(what string, a, x, got, want float64) {
		if !(math.Abs(got-want) <= 1e-11*math.Abs(want)+1e-13) {
			t.Errorf("%s of %v, %v: got %v, want %v", what, a, x, got, want)
		}
	}
	for _, a := range []float64{1e6, 5e6, 1e7} {
		for _, z := range []float64{-7, -3, -1, -0.1, 0, 0.1, 1, 3, 7} {
			x := a + z*math.Sqrt(a)
			lower, upper := largeGamma(a, x)
			near("lower", a, x, lower, igamma(a, x))
			near("upper", a, x, upper, igammac(a, x))
			near("shift", a, x, largeShift(a, x), randomGammaGrad(a, x))
		}
	}
}

// TestGammaOfLargeNumbers: half of the samples lie below the mean, about, and move with it.
func TestGammaOfLargeNumbers(t *testing.T) {
	for _, a := range []float64{1e9, 1e10, 1e12, 1e15, 1e300} {
		below := 0.5 + 1/(3*math.Sqrt(2*math.Pi*a))
		if got := igamma(a, a); math.Abs(got-below) > 1e-12 {
			t.Errorf("igamma(%v, %v) is %v, want %v", a, a, got, below)
		}
		if got := igammac(a, a); math.Abs(got-(1-below)) > 1e-12 {
			t.Errorf("igammac(%v, %v) is %v, want %v", a, a, got, 1-below)
		}
		if got := randomGammaGrad(a, a); math.Abs(got-1) > 1e-9 {
			t.Errorf("randomGammaGrad(%v, %v) is %v, want 1", a, a, got)
		}
	}
}

// TestSmallGamma: what is near 0 is as exact as what is not.
func TestSmallGamma(t *testing.T) {
	for _, c := range []struct {
		name       string
		f          func(a, x float64) float64
		a, x, want float64
	}{
		{"igamma", igamma, 10, 1e-10, 2.7557319221481e-107}, {"igamma", igamma, 20, 1e-10, 4.1103176229206e-219}, {"igamma", igamma, 10, 4, 0.0081322427969338},
		{"igammaGradA", igammaGradA, 10, 1e-10, -6.9933872124947e-105 / 10}, {"igammac", igammac, 1e-10, 1, 2.1938393441797e-11},
	} {
		if got := c.f(c.a, c.x); math.Abs(got-c.want) > 1e-12*math.Abs(c.want) {
			t.Errorf("%s(%v, %v) is %v, want %v", c.name, c.a, c.x, got, c.want)
		}
	}
}
