package gemm

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestDone: each element is in one stretch, is computed when Done is called for it, and may be
// changed there.
func TestDone(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	shapes := append(slices.Clone(gemmShapes), struct{ m, n, k int }{700, 130, 40}, struct{ m, n, k int }{400, 300, 1500}, struct{ m, n, k int }{600, 1, 300}, struct{ m, n, k int }{5, 4, 0})
	for range 20 {
		shapes = append(shapes, struct{ m, n, k int }{1 + rnd.IntN(300), 1 + rnd.IntN(300), rnd.IntN(70)})
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for i, s := range shapes {
			for _, par := range []kernel.Par{kernel.Serial, kerneltest.Backwards} {
				checkDone(t, par, NewGemm(s.m, s.n, s.k, i&1 != 0, i&2 != 0))
			}
		}
	})
}

func checkDone(t *testing.T, par kernel.Par, g Gemm) {
	t.Helper()
	a, b := kerneltest.Random[float32](g.M*g.K, 1), kerneltest.Random[float32](g.K*g.N, 2)
	want, got := make([]float32, g.M*g.N), make([]float32, g.M*g.N)
	bias := kerneltest.Random[float32](g.N, 3)
	MatMul(par, g, want, a, b, Epilogue[float32]{Bias: bias})
	var mu sync.Mutex
	seen := make([]bool, len(want))
	MatMul(par, g, got, a, b, Epilogue[float32]{Bias: bias, Done: func(lo, hi int) {
		mu.Lock()
		defer mu.Unlock()
		for i := lo; i < hi; i++ {
			if seen[i] || got[i] != want[i] {
				t.Fatalf("%+v: element %d is in two stretches (%v), or is %v and not %v", g, i, seen[i], got[i], want[i])
			}
			seen[i] = true
		}
		elementwise.Neg(got[lo:hi], got[lo:hi])
	}})
	elementwise.Neg(want, want)
	if slices.Contains(seen, false) || !slices.Equal(got, want) {
		t.Errorf("%+v: an element is in no stretch, or changed afterwards", g)
	}
}
