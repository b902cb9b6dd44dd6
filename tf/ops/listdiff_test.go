package ops

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestMissing compares the table of integers with a search through all of them.
func TestMissing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		x, y := make([]int64, n), make([]int64, rng.IntN(60))
		for _, v := range [][]int64{x, y} {
			for i := range v {
				v[i] = rng.Int64N(40) - 20
				if rng.IntN(8) == 0 {
					v[i] = []int64{0, math.MinInt64, math.MaxInt64, 1 << 32}[rng.IntN(4)]
				}
			}
		}
		testMissing(t, x, y)
		testMissing(t, to32(x), to32(y))
	}
}

func to32(x []int64) (y []int32) {
	for _, v := range x {
		y = append(y, int32(v))
	}
	return y
}

func testMissing[T int32 | int64](t *testing.T, x, y []T) {
	t.Helper()
	var want []int
	for i, v := range x {
		if !slices.Contains(y, v) {
			want = append(want, i)
		}
	}
	for _, find := range []func(at []int, x, y []T) []int{missing[T], missingInts[T]} {
		if got := find(nil, x, y); !slices.Equal(got, want) {
			t.Errorf("of %v, %v are not in %v, want %v", x, got, y, want)
		}
	}
}
