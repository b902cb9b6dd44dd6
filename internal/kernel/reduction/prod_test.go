package reduction

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestSums compares sums of float64, and of squares, with plain ones: for vector loops, what is left over by them, and
// several chunks.
func TestSums(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range append(kerneltest.Lengths, sumF32Chunk-1, sumF32Chunk, 3*sumF32Chunk+5) {
			x, y := kerneltest.Random[float32](n, 1), kerneltest.Random[float64](n, 2)
			sum, squares32, squares64, all := 0.0, 0.0, 0.0, 0.0
			for i := range x {
				sum += y[i]
				squares32 += float64(x[i]) * float64(x[i])
				squares64 += y[i] * y[i]
				all += math.Abs(y[i])
			}
			for what, v := range map[string][3]float64{
				"sum": {Sum(y), sum, 1e-14 * all}, "squares": {SumOfSquares(y), squares64, 1e-14 * squares64}, "float32": {float64(SumOfSquares(x)), squares32, 1e-6 * squares32},
			} {
				if math.Abs(v[0]-v[1]) > v[2] {
					t.Errorf("%s of %d numbers: %v, want %v", what, n, v[0], v[1])
				}
			}
			if n > 0 {
				y[n-1], x[0] = math.Inf(1), float32(math.Inf(-1))
				if s, q := Sum(y), SumOfSquares(x); s != y[n-1] || !math.IsInf(float64(q), 1) {
					t.Errorf("%d numbers, an infinite one: sum %v, of squares %v", n, s, q)
				}
			}
		}
	})
}

// TestProd compares products of float32 with those of float64, for numbers of elements with and
// without vector loops and with what is left over by them.
func TestProd(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		f := ProdFold[float32]()
		for _, n := range append(kerneltest.Lengths, 511, 512, 513, 768, 1024, 1279, foldChunk-1, foldChunk+3) {
			x, want := kerneltest.Random[float32](n, 1), 1.0
			for i := range x {
				x[i] = 1 + x[i]/64
				want *= float64(x[i])
			}
			if got := float64(f.Run(x)); math.Abs(got-want) > 1e-7*float64(n+1)*want {
				t.Errorf("the product of %d numbers is %v, want %v", n, got, want)
			}
			for _, odd := range []float64{0, math.Inf(-1), math.NaN()} {
				if n > 0 {
					x[n-1] = float32(odd)
					if got := f.Run(x); !kerneltest.Same(got, x[n-1]) {
						t.Errorf("with %v among %d numbers the product is %v", odd, n, got)
					}
				}
			}
		}
	})
}
