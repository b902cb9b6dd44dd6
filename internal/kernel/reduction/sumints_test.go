package reduction

import (
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestSumInts compares sums by vectors with ones in order, which wrap around.
func TestSumInts(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range append([]int{511, 512, 513, 767, 768, 1023}, kerneltest.Lengths...) {
			x, want := make([]int32, n), int32(0)
			for i := range x {
				x[i] = int32(r.Uint32())
				want += x[i]
			}
			if got := SumFold[int32]().Run(x); got != want {
				t.Errorf("the sum of %d is %d, want %d", n, got, want)
			}
		}
	})
}
