package elementwise

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestBlend: the bits are those of operations that are rounded one by one.
func TestBlend(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, n := range kerneltest.Lengths {
			x, y := kerneltest.Random[float32](n, 1), kerneltest.Random[float32](n, 2)
			want, got := make([]float32, n), make([]float32, n+20)
			for i := range want {
				p, q := float32(float64(float32(0.7))*float64(x[i])), float32(float64(float32(-0.3))*float64(y[i]))
				want[i] = float32(float64(p) + float64(q))
			}
			if Blend(got[:n], x, y, 0.7, -0.3); !slices.Equal(got[:n], want) || slices.Max(got[n:]) != 0 {
				t.Fatalf("%d elements are %v, want %v", n, got, want)
			}
		}
	})
}

// TestBlendPixels: the bits are those of the loop that defines them, for places anywhere in the
// rows; what lies beyond the new pixels stays.
func TestBlendPixels(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, channels := range []int{1, 3, 7, 8, 15, 16, 17, 24, 40, 64} {
			for _, pixels := range []int{0, 1, 2, 9, 600} {
				old := rng.IntN(5) + 1
				x, y := kerneltest.Random[float32](old*channels, 1), kerneltest.Random[float32](old*channels, 2)
				places := make([]Place, pixels)
				for i := range places {
					places[i] = Place{V: rng.Float32(), W: rng.Float32(), VY: rng.Float32(), WY: rng.Float32()}
					places[i].At, places[i].Next = rng.IntN(old)*channels, rng.IntN(old)*channels
					places[i].AtY, places[i].NextY = rng.IntN(old)*channels, rng.IntN(old)*channels
				}
				want, got := make([]float32, pixels*channels+20), make([]float32, pixels*channels+20)
				blendPlaces(want, x, y, places, channels, 0.7, -0.3)
				if BlendPixels(got, x, y, NewPlaces(places, channels, len(x)), 0.7, -0.3); !slices.Equal(got, want) {
					t.Fatalf("%d pixels of %d channels differ from the loop that defines them", pixels, channels)
				}
			}
		}
	})
}

// TestBlendPixelsRefuses: a place outside of its row is no access to memory.
func TestBlendPixelsRefuses(t *testing.T) {
	const width = 8
	for _, p := range []Place{{At: -1}, {Next: -1}, {AtY: -1}, {NextY: -1}, {At: 5}, {Next: 5}, {AtY: 5}, {NextY: 5}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v in rows of 8 elements does not panic", p)
				}
			}()
			NewPlaces([]Place{p}, 4, width)
		}()
	}
}
