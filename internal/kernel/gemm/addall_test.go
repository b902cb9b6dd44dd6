package gemm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// TestAddAll: products that are added together have the bits of one after the other.
func TestAddAll(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	kerneltest.EachLevel(t, func(t *testing.T) {
		for range 60 {
			size := func() int { return []int{1, 2, 15, 33, 64, 150, 300}[r.IntN(7)] }
			g := NewGemm(size(), size(), size(), r.IntN(2) == 1, r.IntN(2) == 1)
			n := r.IntN(6)
			checkAddAll[float32](t, g, n)
			checkAddAll[float64](t, g, n)
		}
	})
}

func checkAddAll[T numeric.Float](t *testing.T, g Gemm, n int) {
	t.Helper()
	a, b := make([][]T, n), make([][]T, n)
	got := kerneltest.Random[T](g.M*g.N, 9)
	want, before := slices.Clone(got), slices.Clone(got)
	one := g
	one.Accumulate = true
	for i := range a {
		a[i], b[i] = kerneltest.Random[T](g.M*g.K, uint64(i)), kerneltest.Random[T](g.K*g.N, uint64(i)+100)
		MatMul(kerneltest.Pieces, one, want, a[i], b[i], Epilogue[T]{})
	}
	if AddAll(kerneltest.Backwards, g, got, a, b); !slices.Equal(got, want) {
		t.Fatalf("%d products %+v differ", n, g)
	}
	if !AddsApart[T](g) {
		return
	}
	later := func() {}
	copy(got, before)
	AddAll(func(n, grain int, f func(lo, hi int)) {
		later = func() { kerneltest.Backwards(n, grain, f) }
	}, g, got, a, b)
	if later(); !slices.Equal(got, want) {
		t.Fatalf("%d products %+v that are added later differ", n, g)
	}
}
