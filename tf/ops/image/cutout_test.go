package image

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/tf"
)

// cutOutPixel sets dst to a pixel of a crop, as it is defined.
func (v *crop) cutOutPixel(dst, x []float32, p *cut, beyond float32) {
	if p.outside {
		kernel.Fill(dst, beyond)
		return
	}
	at, dy, dx := v.corners(p)
	if v.nearest {
		copy(dst, x[at[0]:])
		return
	}
	tl, tr, bl, br := x[at[0]:][:len(dst)], x[at[1]:][:len(dst)], x[at[2]:][:len(dst)], x[at[3]:][:len(dst)]
	for ch := range dst {
		top := tl[ch] + float32((tr[ch]-tl[ch])*dx)
		bottom := bl[ch] + float32((br[ch]-bl[ch])*dx)
		dst[ch] = top + float32((bottom-top)*dy)
	}
}

// TestCutOut: rows are what their pixels are, to the last bit.
func TestCutOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, depth := range []int{0, 1, 3, 8} {
		for _, nearest := range []bool{false, true} {
			v := &crop{image: tf.Shape{2, 7, 9, depth}, out: tf.Shape{20, 5, 4, depth}, nearest: nearest, of: make([]int32, 20)}
			v.boxes = kerneltest.RandomSlice[float32](rng, 4*20)
			for i := range v.of {
				v.of[i] = int32(i % 2)
			}
			copy(v.boxes, []float32{0, 0, 1, 1, -1, -1, 2, 2, 1, 1, 0, 0, .5, .5, .5, .5})
			x := kerneltest.RandomSlice[float32](rng, v.image.NumElements())
			if depth > 0 {
				x[5], x[25] = float32(math.Inf(1)), float32(math.NaN())
			}
			got, want := make([]float32, v.out.NumElements()), make([]float32, v.out.NumElements())
			v.cutOut(0, 20, got, x, -3)
			v.eachPixel(0, 20, func(p *cut) { v.cutOutPixel(want[p.to:][:depth], x, p, -3) })
			for i := range want {
				if !kerneltest.Same(got[i], want[i]) {
					t.Fatalf("%d channels, element %d is %v, want %v", depth, i, got[i], want[i])
				}
			}
		}
	}
}
