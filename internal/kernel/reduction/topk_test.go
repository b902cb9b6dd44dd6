package reduction

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

func TestTopK(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	const rows, n = 7, 40
	x := make([]int32, rows*n)
	for i := range x {
		x[i] = rng.Int32N(15) // many are equal
	}
	for _, k := range []int{0, 1, 2, 9, n} {
		values, indices := make([]int32, rows*k), make([]int64, rows*k)
		TopK(kerneltest.Backwards, values, indices, x, n, k)
		for r := range rows {
			row, order := x[r*n:(r+1)*n], make([]int64, n)
			for i := range order {
				order[i] = int64(i)
			}
			slices.SortStableFunc(order, func(a, b int64) int { return int(row[b] - row[a]) })
			if got := indices[r*k : (r+1)*k]; !slices.Equal(got, order[:k]) {
				t.Fatalf("k %d row %d: %v, want %v", k, r, got, order[:k])
			}
			for i, at := range order[:k] {
				if values[r*k+i] != row[at] {
					t.Errorf("k %d row %d: value %d is %d, want %d", k, r, i, values[r*k+i], row[at])
				}
			}
		}
	}
}

// TestTopKOfMost compares rows of which most is wanted with a stable sort.
func TestTopKOfMost(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	const n = 1500
	sortsMost(t, n, func() int8 { return int8(rng.Uint32()) })
	sortsMost(t, n, func() uint16 { return uint16(rng.Uint32()) })
	sortsMost(t, n, func() int32 { return int32(rng.Uint32()) })
	sortsMost(t, n, func() uint32 { return rng.Uint32() })
	sortsMost(t, n, func() int64 { return int64(rng.Uint64()) >> rng.IntN(64) })
	sortsMost(t, n, func() uint64 { return rng.Uint64() >> rng.IntN(64) })
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 1, -1, math.SmallestNonzeroFloat64, math.MaxFloat64}
	float := func() float64 {
		if rng.IntN(3) == 0 {
			return special[rng.IntN(len(special))]
		}
		return rng.NormFloat64()
	}
	sortsMost(t, n, float)
	sortsMost(t, n, func() float32 { return float32(float()) })
}

func sortsMost[T numeric.Real](t *testing.T, n int, random func() T) {
	t.Helper()
	x := make([]T, 2*n)
	for i := range x {
		x[i] = random()
	}
	for _, k := range []int{leastSorted - 1, n / mostPassed, n/mostPassed + 1, n} {
		values, indices := make([]T, 2*k), make([]int64, 2*k)
		TopK(kerneltest.Backwards, values, indices, x, n, k)
		for r := range 2 {
			row, order := x[r*n:(r+1)*n], make([]int64, n)
			for i := range order {
				order[i] = int64(i)
			}
			slices.SortStableFunc(order, func(a, b int64) int { return cmp.Compare(row[b], row[a]) })
			for i, at := range order[:k] {
				if indices[r*k+i] != at || math.Float64bits(float64(values[r*k+i])) != math.Float64bits(float64(row[at])) {
					t.Fatalf("%T, k %d: element %d of row %d is %v from %d, want %v from %d", row, k, i, r, values[r*k+i], indices[r*k+i], row[at], at)
				}
			}
		}
	}
}
