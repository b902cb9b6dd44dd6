package gemm

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestEliminate: the vector loop does what defines it, but for rounding.
func TestEliminate(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 2, 9, 40} {
			for k := range EliminateWidth {
				for _, special := range []float64{0, math.NaN(), math.Inf(-1)} {
					testEliminate(t, n, k, special)
				}
			}
		}
	})
}

// testEliminate has the special number in every fifth row's element after k.
func testEliminate(t *testing.T, n, k int, special float64) {
	const stride = EliminateWidth + 3
	a := kerneltest.Random[float64](n*stride+EliminateWidth, uint64(n+k))
	for i := 0; i < n && k+1 < EliminateWidth; i += 5 {
		a[i*stride+k+1] = special
	}
	pivot := [EliminateWidth]float64(a[n*stride:])
	got, want := append([]float64(nil), a...), append([]float64(nil), a...)
	row, plain := Eliminate(got, n, stride, &pivot, k, -0.75), eliminatePlain(want, n, stride, &pivot, k, -0.75)
	if k+1 < EliminateWidth && row != plain {
		t.Fatalf("%d rows, element %d, %v: row %d, want %d", n, k, special, row, plain)
	}
	for i, w := range want {
		if g := got[i]; g != w && !(math.Abs(g-w) <= 0x1p-50) && !(g != g && w != w) {
			t.Fatalf("%d rows, element %d, %v: number %d is %v, want %v", n, k, special, i, g, w)
		}
	}
}
