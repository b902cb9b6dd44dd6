package normalization

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestSoftmaxRows: many rows at once have the bits of each row by the loops over one, among
// them rows of infinite numbers and NaN, and in place.
func TestSoftmaxRows(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, n := range slices.Concat(kerneltest.Lengths, []int{10, 4095, 4096, 4097}) {
			if n == 0 {
				continue
			}
			for _, rows := range []int{1, 2, 9, 40} {
				x := softmaxOperands(rng, rows, n)
				want, got := make([]float32, len(x)), make([]float32, len(x)+20)
				most, sums := make([]float32, rows), make([]float32, rows)
				softmaxRows(want, x, n, most, sums)
				checkSums(t, x, n, most, sums)
				Softmax(kerneltest.Pieces, got[:len(x)], x, n)
				compareBits(t, got, want)
				if slices.Max(got[len(x):]) != 0 {
					t.Fatalf("%d rows of %d write behind them", rows, n)
				}
				Softmax(kerneltest.Pieces, x, x, n)
				compareBits(t, x, want)
			}
		}
	})
}

// checkSums compares what rows are divided by; the greatest element of a row with NaN may be any.
func checkSums(t *testing.T, x []float32, n int, most, sums []float32) {
	t.Helper()
	m, s := make([]float32, len(most)), make([]float32, len(most))
	withSums(make([]float32, len(x)), x, n, m, s)
	compareBits(t, s, sums)
	for r := range sums {
		if sums[r] != sums[r] {
			m[r], most[r] = 0, 0
		}
	}
	compareBits(t, m, most)
}

// softmaxOperands are rows of random numbers; of every fifth one number is unusual, and of
// every ninth all are.
func softmaxOperands(rng *rand.Rand, rows, n int) []float32 {
	inf := float32(math.Inf(1))
	unusual := []float32{inf, -inf, float32(math.NaN()), math.MaxFloat32, -1e4, 1e-42}
	x := kerneltest.Random[float32](rows*n, rng.Uint64())
	for i := range x {
		x[i] *= 20
	}
	for r := range rows {
		switch row := x[r*n : (r+1)*n]; {
		case r%9 == 8:
			for i := range row {
				row[i] = unusual[r/9%len(unusual)]
			}
		case r%5 == 1:
			row[rng.IntN(n)] = unusual[rng.IntN(len(unusual))]
		}
	}
	return x
}

func compareBits(t *testing.T, got, want []float32) {
	t.Helper()
	for i, w := range want {
		if g := got[i]; math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
			t.Fatalf("element %d is %v, want %v", i, g, w)
		}
	}
}
