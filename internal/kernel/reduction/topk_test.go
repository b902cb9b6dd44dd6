package reduction

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
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
