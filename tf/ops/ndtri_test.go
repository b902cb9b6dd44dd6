package ops

import (
	"math"
	"testing"
)

// TestQuantileIsInverse: the share of the distribution below the quantile of p is p, from
// the smallest numbers on.
func TestQuantileIsInverse(t *testing.T) {
	for p := 1e-300; p < 1; p *= 1.37 {
		q := normalQuantile(p)
		back := math.Erfc(-q/math.Sqrt2) / 2
		if math.Abs(back/p-1) > 1e-14*(3+q*q) { // an error of q counts q times as much
			t.Errorf("of %v: got %v, below which there is %v", p, q, back)
		}
		if r := normalQuantile(1 - p); p > 1e-10 && math.Abs(r+normalQuantile(1-(1-p))) > 1e-13 {
			t.Errorf("of 1-%v: got %v, want %v", p, r, -q)
		}
	}
	for p, want := range map[float64]float64{0: math.Inf(-1), 1: math.Inf(1), 0.5: 0} {
		if got := normalQuantile(p); got != want {
			t.Errorf("of %v: got %v, want %v", p, got, want)
		}
	}
	for _, p := range []float64{-1, 2, math.NaN()} {
		if got := normalQuantile(p); !math.IsNaN(got) {
			t.Errorf("of %v: got %v, want NaN", p, got)
		}
	}
}
