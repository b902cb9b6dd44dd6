package gemm

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestParts: parts are the elements of the whole product, bit for bit, each of which
// comes once.
func TestParts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 120 {
		m, n, k := 2+r.IntN(400), 2+r.IntN(700), 1+r.IntN(300)
		if r.IntN(4) == 0 {
			n = 2 + r.IntN(5000)
		}
		if r.IntN(3) == 0 { // a transposed A may be read in place
			m, n, k = 2+r.IntN(255), 32*(1+r.IntN(20)), 1+r.IntN(1500)
		}
		g := NewGemm(m, n, k, r.IntN(2) == 0, r.IntN(2) == 0)
		a, b := kerneltest.RandomSlice[float32](r, m*k), kerneltest.RandomSlice[float32](r, k*n)
		want, got, seen := make([]float32, m*n), make([]float32, m*n), make([]int32, m*n)
		MatMul(kerneltest.Pieces, g, want, a, b, Epilogue[float32]{})
		var mu sync.Mutex
		if !HasParts(g) {
			if simd.parts32 != nil && g.TransA && k <= 256 {
				t.Errorf("%+v: no parts", g)
			}
			continue
		}
		Parts(kerneltest.Pieces, g, a, b, func() func(at int, part []float32) {
			return func(at int, part []float32) {
				mu.Lock()
				defer mu.Unlock()
				for i, x := range part {
					got[at+i] = x
					seen[at+i]++
				}
			}
		})
		for i := range want {
			if seen[i] != 1 || math.Float32bits(want[i]) != math.Float32bits(got[i]) {
				t.Fatalf("%+v: element %d came %d times, as %v, want %v", g, i, seen[i], got[i], want[i])
			}
		}
	}
}
