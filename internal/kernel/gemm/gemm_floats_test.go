package gemm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// TestByFloats multiplies integers up to several sizes, and complex numbers whose parts are small
// integers: all products are exact.
func TestByFloats(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for _, s := range gemmShapes {
			for i := range 4 {
				g := NewGemm(s.m, s.n, s.k, i&1 != 0, i&2 != 0)
				for _, bits := range []int{6, 12, 20, 31} {
					checkExact(t, g, func() int32 { return int32(r.Uint32()) >> (31 - bits) })
				}
				small := func() float64 { return float64(r.IntN(9) - 4) }
				checkExact(t, g, func() complex64 { return complex64(complex(small(), small())) })
				checkExact(t, g, func() complex128 { return complex(small(), small()) })
			}
		}
	})
}

func checkExact[T numeric.Number](t *testing.T, g Gemm, next func() T) {
	t.Helper()
	random := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = next()
		}
		return x
	}
	a, b, bias := random(g.M*g.K), random(g.K*g.N), random(g.N)
	got, want := random(g.M*g.N), make([]T, g.M*g.N)
	gemmNaive(g, want, a, b)
	for i := range want {
		want[i] += bias[i%g.N]
	}
	done := 0
	MatMul(kernel.Serial, g, got, a, b, Epilogue[T]{Bias: bias, Done: func(lo, hi int) { done += hi - lo }})
	if !slices.Equal(got, want) || done != len(got) {
		t.Fatalf("%T %+v: the product differs, or %d of %d elements are reported", got, g, done, len(got))
	}
}
