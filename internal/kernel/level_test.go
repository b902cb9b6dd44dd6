package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// eachLevel runs a test with every instruction set of this machine.
func eachLevel(t *testing.T, f func(t *testing.T)) {
	levels := Levels()
	for _, l := range levels {
		Use(l)
		t.Run(l.String(), f)
	}
	Use(levels[0])
}

// random returns n numbers between -1 and 1 that are the same in every run.
func random[T Float](n int, seed uint64) []T {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]T, n)
	for i := range x {
		x[i] = T(2*r.Float64() - 1)
	}
	return x
}

// backwards is a Par that runs single indices, the last first.
func backwards(n, _ int, f func(lo, hi int)) {
	for i := n - 1; i >= 0; i-- {
		f(i, i+1)
	}
}

// randomSlice returns n normally distributed numbers.
func randomSlice[T Float](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

// farApart says which element of got is farther than tol from want, "" if none is.
func farApart[T Float](got, want []T, tol float64) string {
	for i := range want {
		if d := math.Abs(float64(got[i] - want[i])); got[i] != want[i] && !(d <= tol*max(1, math.Abs(float64(want[i])))) {
			return fmt.Sprintf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
	return ""
}
