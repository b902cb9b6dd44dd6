package image_test

import (
	"math"
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
	for _, channels := range []int{15, 16, 24, 35, 64} {
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

// TestOldRowsAreResizedOnce: rows that several new ones share give what they give to an image
// that is resized in one of its dimensions after the other, whichever is first.
func TestOldRowsAreResizedOnce(t *testing.T) {
	const h, w = 7, 9
	rng := rand.New(rand.NewPCG(3, 4))
	for _, channels := range []int{1, 3, 20} {
		for _, size := range [][2]int32{{40, 31}, {7, 5}, {3, 20}, {3, 4}} {
			x := make([]float32, 2*h*w*channels)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			for name, f := range map[string]func(images, size tf.Output, opts ...tf.Option) tf.Output{"bilinear": image.ResizeBilinear, "bicubic": image.ResizeBicubic, "area": image.ResizeArea} {
				g := eager.New()
				in := ops.Const(g, x, 2, h, w, channels)
				both := valueOf(t, f(in, ops.Const(g, size[:])))
				parts := valueOf(t, f(f(in, ops.Const(g, []int32{size[0], w})), ops.Const(g, size[:])))
				for i, want := range parts {
					if got := both[i]; math.Abs(float64(got-want)) > 1e-5 {
						t.Fatalf("%s of %d channels to %v: element %d is %v, by one dimension after the other %v", name, channels, size, i, got, want)
					}
				}
			}
		}
	}
}

func valueOf(t *testing.T, x tf.Output) []float32 {
	t.Helper()
	v, err := x.Value()
	if err != nil {
		t.Fatal(err)
	}
	return tf.Data[float32](v)
}

// TestResizeToSameSize: pixels stay what they are, whatever is beside them, as in TensorFlow 2.21.
func TestResizeToSameSize(t *testing.T) {
	minus, inf := float32(math.Copysign(0, -1)), float32(math.Inf(1))
	for _, channels := range []int{1, 17} {
		g := eager.New()
		x := make([]float32, 2*3*channels)
		for i := range x {
			x[i] = []float32{minus, 1, inf}[i/channels%3]
		}
		for _, o := range []image.ResizeOpts{{}, {AlignCorners: true}, {HalfPixelCenters: true}} {
			v, err := image.ResizeBilinear(ops.Const(g, x, 1, 2, 3, channels), ops.Const(g, []int32{2, 3}, 2), o).Value()
			if err != nil {
				t.Fatal(err)
			}
			for i, y := range tf.Data[float32](v) {
				if math.Float32bits(y) != math.Float32bits(x[i]) {
					t.Fatalf("%d channels, %+v: element %d is %v, want %v", channels, o, i, y, x[i])
				}
			}
		}
	}
}
