package random

import (
	"math"
	"testing"
)

// sums adds up rows samples of each parameter; sample i of a stateless op's
// output is numbered by parameter first.
func sums(params, rows int, sample func(i, param int) float64) []float64 {
	out := make([]float64, params)
	for param := range out {
		for r := range rows {
			out[param] += sample(param*rows+r, param)
		}
	}
	return out
}

func sumsClose(t *testing.T, got, want []float64, tol float64) {
	t.Helper()
	for i, w := range want {
		if math.Abs(got[i]-w) > tol*w {
			t.Errorf("sum %d is %v, want %v", i, got[i], w)
		}
	}
}

// The sums are those of TensorFlow's stateless ops with the seed [7, 9]. Gamma
// numbers may differ in the last bits; counts are the same.

func TestGammaSums(t *testing.T) {
	alpha := []float64{0.001, 0.3, 1, 2.5, 50, 1e4}
	got := sums(6, 300, func(i, p int) float64 { return Gamma(FromSeed([2]int64{7, 9}), i, alpha[p]) })
	sumsClose(t, got, []float64{0.12636187849264377, 88.47314799883114, 289.354046974119, 773.2843182651385, 14938.22612990888, 3004224.024494111}, 1e-12)
}

func TestPoissonSums(t *testing.T) {
	rate := []float64{0.01, 5, 9.99, 10, 30, 1e3}
	got := sums(6, 300, func(i, p int) float64 { return Poisson(FromSeed([2]int64{7, 9}), i, rate[p]) })
	sumsClose(t, got, []float64{3, 1472, 3022, 2992, 9079, 299564}, 0)
	if got := Poisson(FromSeed([2]int64{7, 9}), 0, math.Inf(1)); !math.IsInf(got, 1) {
		t.Errorf("an infinite rate: %v", got)
	}
}
