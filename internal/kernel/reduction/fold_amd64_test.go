//go:build !noasm

package reduction

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestFoldsOf512Bits runs the loops that [kernel.ByMemory] leaves aside on some
// processors, with a NaN at each place.
func TestFoldsOf512Bits(t *testing.T) {
	if kernel.Levels()[0] != kernel.AVX512 {
		t.Skip("the processor has no AVX-512")
	}
	nan := float32(math.NaN())
	for n := range 200 {
		x := kerneltest.Random[float32](n, uint64(n))
		sum, most, least := 0.0, float32(math.Inf(-1)), float32(math.Inf(1))
		for _, v := range x {
			sum, most, least = sum+float64(v), elementwise.GreaterOf(v, most), elementwise.LesserOf(v, least)
		}
		if got := foldOf(sumAVX512)(x); math.Abs(float64(got)-sum) > 1e-5*float64(n+1) {
			t.Fatalf("the sum of %d elements is %v, want %v", n, got, sum)
		}
		if a, b := foldOf(maxOfAVX512)(x), foldOf(minOfAVX512)(x); a != most || b != least {
			t.Fatalf("the extremes of %d elements are %v and %v, want %v and %v", n, a, b, most, least)
		}
		for i, v := range x {
			x[i] = nan
			if a, b := foldOf(maxOfAVX512)(x), foldOf(minOfAVX512)(x); a == a || b == b {
				t.Fatalf("with a NaN at %d of %d the extremes are %v and %v", i, n, a, b)
			}
			x[i] = v
		}
	}
}
