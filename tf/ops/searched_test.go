package ops

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBucket: the bounds that are not greater are as many as counting finds.
func TestBucket(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 20 {
		bounds := make([]float64, n)
		for i := range bounds {
			bounds[i] = float64(i / 2)
		}
		for range 200 {
			v := []float64{math.Inf(1), math.Inf(-1), math.NaN(), float64(rng.IntN(12) - 1), 12*rng.Float64() - 1}[rng.IntN(5)]
			want := 0
			for _, b := range bounds {
				if !(v < b) {
					want++
				}
			}
			if got := bucket(bounds, v); got != want {
				t.Fatalf("%v among %v: %d, want %d", v, bounds, got, want)
			}
		}
	}
}

// TestCount: bins are those that a division finds.
func TestCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, ends := range [][2]float32{{0, 1}, {-1, 1}, {-0.3, 0.7}, {1e8, 1e8 + 16}, {0, 1e-45}, {-math.MaxFloat32, math.MaxFloat32}} {
		for _, bins := range []int{1, 2, 3, 10, 97, 1 << 20} {
			low, high := ends[0], ends[1]
			x := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), low, high}
			for i := range 2000 {
				x = append(x, float32(float64(low)+(float64(high)-float64(low))*rng.Float64()))
				x = append(x, float32(float64(low)+(float64(high)-float64(low))*float64(i%(bins+1))/float64(bins)))
			}
			got, want := make([]int, bins), make([]int, bins)
			step := float64(high)/float64(bins) - float64(low)/float64(bins)
			for _, v := range x {
				want[bin((float64(min(max(v, low), high))-float64(low))/step, bins)]++
			}
			if !countBins(got, x, low, high) {
				t.Fatal("numbers are not NaN")
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%v in %d bins: %d in bin %d, want %d", ends, bins, got[i], i, want[i])
				}
			}
		}
	}
	if nan := float32(math.NaN()); countBins(make([]int, 2), []float32{nan}, 0, 1) || !countBins(make([]int, 1), []float32{nan}, 0, 1) {
		t.Error("NaN is not in one bin alone")
	}
}
