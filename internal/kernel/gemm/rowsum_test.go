package gemm

import (
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestAddRows compares with a loop, bit by bit: rows of all widths, with numbers that are not
// finite, and nothing is written behind the sums.
func TestAddRows(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for width := range 70 {
			for rows := range 11 {
				x, got := kerneltest.Random[float32](width*rows, uint64(width)), kerneltest.Random[float32](width+20, 7)
				if width > 2 && rows > 2 {
					x[width+1], x[2] = float32(math.Inf(-1)), float32(math.Copysign(0, -1))
				}
				want := slices.Clone(got)
				for i, v := range x {
					want[i%width] += v
				}
				if AddRows(got[:width], x); !slices.Equal(got, want) {
					t.Fatalf("%d rows of %d: %v, want %v", rows, width, got, want)
				}
			}
		}
	})
}
