package pool

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// pixelsTwin computes windows by definition.
func pixelsTwin[T numeric.Real](x []T, pixels []int, channels int) (most, sum []T) {
	most, sum = make([]T, channels), make([]T, channels)
	for c := range most {
		most[c] = numeric.Lowest[T]()
		for _, p := range pixels {
			if v := x[p+c]; v > most[c] {
				most[c] = v
			}
			sum[c] += x[p+c]
		}
	}
	return most, sum
}

func TestPixels(t *testing.T) { kerneltest.EachLevel(t, testPixels) }

// testPixels meets NaN, infinities, and zeros of both signs, among which the first one wins.
func testPixels(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	odd := []float32{kerneltest.NaN, kerneltest.Inf, -kerneltest.Inf, 0, float32(math.Copysign(0, -1)), -math.MaxFloat32}
	for range 3000 {
		channels, n := r.IntN(40), r.IntN(7)
		x := kerneltest.RandomSlice[float32](r, 60*channels)
		if share := r.IntN(3); share > 0 {
			for i := range x {
				if r.IntN(share) == 0 {
					x[i] = odd[r.IntN(len(odd))]
				}
			}
		}
		var whole []int64
		pixels := make([]int, n)
		for i := range pixels {
			pixels[i] = r.IntN(60) * channels
		}
		for range x {
			whole = append(whole, r.Int64N(9)-4)
		}
		comparePixels(t, x, pixels, channels, kerneltest.Same)
		comparePixels(t, whole, pixels, channels, func(a, b int64) bool { return a == b })
	}
}

func comparePixels[T numeric.Real](t *testing.T, x []T, pixels []int, channels int, same func(a, b T) bool) {
	most, sum := pixelsTwin(x, pixels, channels)
	got := make([]T, channels)
	SumPixels(got, x, pixels)
	if !slices.EqualFunc(got, sum, func(a, b T) bool { return same(a, b) || a == 0 && b == 0 }) {
		t.Fatalf("pixels %v of %v: sums %v, want %v", pixels, x, got, sum)
	}
	MaxPixels(got, x, slices.Clone(pixels))
	if !slices.EqualFunc(got, most, same) {
		t.Fatalf("pixels %v of %v: maxima %v, want %v", pixels, x, got, most)
	}
}
