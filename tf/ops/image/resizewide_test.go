package image_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/image"
)

// TestWideImagesAreResizedAsNarrow compares images of many channels, bit by bit, with what
// each channel is resized to alone.
func TestWideImagesAreResizedAsNarrow(t *testing.T) {
	const pixels = 2 * 5 * 4
	rng := rand.New(rand.NewPCG(1, 2))
	for _, channels := range []int{23, 24, 35, 64} {
		x := make([]float32, pixels*channels)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		for _, c := range corners {
			wide := bilinear(t, x, channels, c.opts)
			for ch := range channels {
				one := make([]float32, pixels)
				for i := range one {
					one[i] = x[i*channels+ch]
				}
				for i, want := range bilinear(t, one, 1, c.opts) {
					if got := wide[i*channels+ch]; got != want {
						t.Fatalf("%d channels %s: pixel %d of channel %d is %v, alone %v", channels, c.name, i, ch, got, want)
					}
				}
			}
		}
	}
}

func bilinear(t *testing.T, x []float32, channels int, opts tf.Option) []float32 {
	t.Helper()
	g := eager.New()
	out, err := image.ResizeBilinear(ops.Const(g, x, 2, 5, 4, channels), ops.Const(g, []int32{9, 7}), opts).Value()
	if err != nil {
		t.Fatal(err)
	}
	return tf.Data[float32](out)
}
