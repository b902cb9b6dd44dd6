package elementwise

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
)

// Blend sets z = v·x + w·y, with each product and the sum rounded: no multiplication is fused
// with the addition.
func Blend(z, x, y []float32, v, w float32) {
	x, y = x[:len(z)], y[:len(z)]
	if simd.blend == nil {
		for i, a := range x {
			z[i] = float32(v*a) + float32(w*y[i])
		}
		return
	}
	for len(z) > 0 {
		n := min(len(z), kernel.VectorChunk)
		simd.blend(&z[0], &x[0], &y[0], n, v, w)
		z, x, y = z[n:], x[n:], y[n:]
	}
}

// A Place tells of which two old pixels of a row a new one is made: the elements at which they
// begin, and their weights.
type Place struct {
	At, Next int
	V, W     float32
}

// BlendPixels sets z to new pixels of so many channels, one for each place, of two old rows:
// v·(V·x[At]+W·x[Next]) + w·(V·y[At]+W·y[Next]), each product and each sum rounded. Memory for z
// is written once and nothing else is.
func BlendPixels(z, x, y []float32, places []Place, channels int, v, w float32) {
	end := min(len(x), len(y)) - channels
	for _, p := range places {
		if p.At < 0 || p.Next < 0 || p.At > end || p.Next > end {
			panic("elementwise: a place lies outside of its row")
		}
	}
	if z = z[:len(places)*channels]; len(z) == 0 {
		return
	}
	if simd.blendPixels == nil {
		blendPlaces(z, x, y, places, channels, v, w)
		return
	}
	atOnce := max(1, kernel.VectorChunk/channels)
	for len(places) > 0 {
		n := min(len(places), atOnce)
		simd.blendPixels(&z[0], &x[0], &y[0], (*byte)(unsafe.Pointer(&places[0])), n, channels, v, w)
		z, places = z[n*channels:], places[n:]
	}
}

// blendPlaces defines BlendPixels.
func blendPlaces(z, x, y []float32, places []Place, channels int, v, w float32) {
	for i, p := range places {
		for c := range channels {
			a := float32(p.V*x[p.At+c]) + float32(p.W*x[p.Next+c])
			b := float32(p.V*y[p.At+c]) + float32(p.W*y[p.Next+c])
			z[i*channels+c] = float32(v*a) + float32(w*b)
		}
	}
}
