package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// gemmShapes meet every path: edges of one and two vectors, one row, blocks of
// k and of A, products that are packed and products that are not.
var gemmShapes = []struct{ m, n, k int }{
	{1, 1, 1}, {1, 17, 3}, {3, 1, 5}, {2, 2, 2}, {5, 7, 9}, {14, 32, 16}, {13, 31, 15}, {15, 33, 17},
	{28, 64, 4}, {6, 16, 3}, {7, 24, 40}, {1, 100, 200}, {100, 10, 128}, {64, 64, 64}, {31, 48, 1100},
	{70, 45, 1024}, {130, 70, 300}, {300, 40, 33}, {16, 2100, 9},
}

// magnitudes returns Σ|a·b| for each element: what the rounding error of a
// product is measured by.
func magnitudes[T Float](g Gemm, a, b []T) []T {
	c := make([]T, g.M*g.LDC)
	abs := func(x []T) []T {
		y := make([]T, len(x))
		Abs(y, x)
		return y
	}
	gemmNaive(g, c, abs(a), abs(b))
	return c
}

// checkGemm compares a product with the naive one, also outside of C.
func checkGemm[T Float](t *testing.T, g Gemm, eps float64) {
	t.Helper()
	rowsA, rowsB := g.M, g.K
	if g.TransA {
		rowsA = g.K
	}
	if g.TransB {
		rowsB = g.N
	}
	// One element of offset, so that nothing is aligned.
	a, b := random[T](rowsA*g.LDA+1, 1)[1:], random[T](rowsB*g.LDB+1, 2)[1:]
	want := random[T](g.M*g.LDC+1, 3)[1:]
	got := slices.Clone(want)
	size := magnitudes(g, a, b)
	gemmNaive(g, want, a, b)
	MatMul(Serial, g, got, a, b, Epilogue[T]{})
	for i := range want {
		limit := eps * (float64(size[i]) + 1) * math.Sqrt(float64(g.K)+4)
		if d := math.Abs(float64(got[i] - want[i])); !(d <= limit) {
			t.Fatalf("%+v: element %d,%d is %v, want %v", g, i/g.LDC, i%g.LDC, got[i], want[i])
		}
	}
}

func TestMatMulAgainstNaive(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for _, s := range gemmShapes {
			for trans := range 4 {
				g := NewGemm(s.m, s.n, s.k, trans&1 != 0, trans&2 != 0)
				checkGemm[float32](t, g, 1.2e-7)
				checkGemm[float64](t, g, 2.3e-16)
				g.Accumulate = true
				g.LDA, g.LDB, g.LDC = g.LDA+3, g.LDB+5, g.LDC+7
				checkGemm[float32](t, g, 1.2e-7)
				checkGemm[float64](t, g, 2.3e-16)
			}
		}
	})
}

func TestMatMulRandomShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	eachLevel(t, func(t *testing.T) {
		for range 60 {
			g := NewGemm(1+r.IntN(90), 1+r.IntN(90), 1+r.IntN(70), r.IntN(2) == 1, r.IntN(2) == 1)
			checkGemm[float32](t, g, 1.2e-7)
			checkGemm[float64](t, g, 2.3e-16)
		}
	})
}
