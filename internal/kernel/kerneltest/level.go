package kerneltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// EachLevel runs a test with every instruction set of this machine.
func EachLevel(t *testing.T, f func(t *testing.T)) {
	levels := kernel.Levels()
	for _, l := range levels {
		kernel.Use(l)
		t.Run(l.String(), f)
	}
	kernel.Use(levels[0])
}

// Random returns n numbers between -1 and 1 that are the same in every run.
func Random[T numeric.Float](n int, seed uint64) []T {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]T, n)
	for i := range x {
		x[i] = T(2*r.Float64() - 1)
	}
	return x
}

// Backwards is a Par that runs single indices, the last first.
func Backwards(n, _ int, f func(lo, hi int)) {
	for i := n - 1; i >= 0; i-- {
		f(i, i+1)
	}
}

// RandomSlice returns n normally distributed numbers.
func RandomSlice[T numeric.Float](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

// FarApart says which element of got is farther than tol from want, "" if none is.
func FarApart[T numeric.Float](got, want []T, tol float64) string {
	for i := range want {
		if d := math.Abs(float64(got[i] - want[i])); got[i] != want[i] && !(d <= tol*max(1, math.Abs(float64(want[i])))) {
			return fmt.Sprintf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
	return ""
}
