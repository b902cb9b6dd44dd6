package reduction

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// TestReduceRows: rows that are folded some at a time give the bits of a reduction of
// all, also where there is one row, and with the numbers that folds treat in a way of
// their own.
func TestReduceRows(t *testing.T) {
	checkReduceRows(t, math.Float64bits, SumFold[float64](), ProdFold[float64](), MaxFold[float64](), MinFold[float64]())
	bits := func(v float32) uint64 { return uint64(math.Float32bits(v)) }
	kerneltest.EachLevel(t, func(t *testing.T) {
		checkReduceRows(t, bits, SumFold[float32](), ProdFold[float32](), MaxFold[float32](), MinFold[float32]())
	})
	whole := func(v int32) uint64 { return uint64(v) }
	checkReduceRows(t, whole, SumFold[int32](), MaxFold[int32]())
}

func checkReduceRows[T numeric.Real](t *testing.T, bits func(T) uint64, folds ...Fold[T]) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 2, 3, 15, 16, 17, 100, 257, 4096, foldChunk, foldChunk + 3} {
		for _, rows := range []int{1, 2, 5, 90} {
			for k, f := range folds {
				x := make([]T, rows*n)
				for i := range x {
					x[i] = drawn[T](r)
				}
				want, got, together := make([]T, rows), make([]T, rows), make([]T, rows)
				if zero := T(0); r.IntN(8) == 0 {
					kernel.Fill(x, -zero)
				}
				Reduce(kernel.Serial, NewReduction([]int{rows, n}, []bool{false, true}), want, x, f)
				for i := range rows {
					ReduceRows(got[i:i+1], x[i*n:(i+1)*n], n, f)
				}
				ReduceRows(together, x, n, f)
				for i := range got {
					if bits(together[i]) != bits(got[i]) {
						t.Errorf("fold %d of %d rows of %d: %v (%x), want %v", k, rows, n, together[i], bits(together[i]), got[i])
					}
					if bits(got[i]) != bits(want[i]) {
						t.Errorf("fold %d of row %d of %d, %d elements: %v (%x), want %v (%x)", k, i, rows, n, got[i], bits(got[i]), want[i], bits(want[i]))
					}
				}
			}
		}
	}
}

// drawn draws a number, of floats seldom one that is none, infinite, or minus zero.
func drawn[T numeric.Real](r *rand.Rand) T {
	v := T(r.IntN(200) - 100)
	if z := T(0); r.IntN(2000) == 0 && T(1)/T(2) != z {
		zero := float64(0)
		for i, s := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -zero} {
			if r.IntN(4) == i {
				return T(s)
			}
		}
	}
	return v
}
