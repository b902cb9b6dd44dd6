package image

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// plainStretch is what stretch does, as it is defined.
func plainStretch(y, x []float32, depth int, factor float64) {
	mean := make([]float64, depth)
	for i, v := range x {
		mean[i%depth] += float64(v)
	}
	for ch := range mean {
		mean[ch] /= float64(len(x) / depth)
	}
	for i, v := range x {
		y[i] = float32(float64(v)*factor + mean[i%depth]*(1-factor))
	}
}

func TestStretch(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, depth := range []int{1, 3, 4, 1500} {
			k := newContrast(depth)
			for _, n := range []int{1, 3, 341, 342, 7000} {
				x := kerneltest.Random[float32](n*depth, uint64(n))
				got, want := make([]float32, len(x)), make([]float32, len(x))
				plainStretch(want, x, depth, 1.5)
				k.stretch(got, x, 1.5)
				if far := kerneltest.FarApart(got, want, 1e-6); far != "" {
					t.Fatalf("%d pixels of %d channels: %s", n, depth, far)
				}
			}
		}
	})
}

// TestStretchNaN: a channel with NaN has no mean, the others have.
func TestStretchNaN(t *testing.T) {
	x := kerneltest.Random[float32](3*5000, 1)
	x[3*77+1] = float32(math.NaN())
	newContrast(3).stretch(x, x, 0.5)
	for i, v := range x {
		if (v != v) != (i%3 == 1) {
			t.Fatalf("element %d is %v", i, v)
		}
	}
}
