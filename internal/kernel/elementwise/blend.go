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

// A Place tells of which old pixels of two rows x and y a new one is made: the elements at which
// they begin, two in each row, and their weights.
type Place struct {
	At, Next, AtY, NextY int
	V, W, VY, WY         float32
}

// Places are those of the new pixels of a row.
type Places struct {
	list            []Place
	channels, width int // of the old rows
	short           int // how many of the first may be made as if they had four channels
}

// NewPlaces returns the places of new pixels of so many channels in rows of width elements. It
// panics if one lies outside.
func NewPlaces(list []Place, channels, width int) *Places {
	p := &Places{list: list, channels: channels, width: width}
	if p.inside(channels) < len(list) {
		panic("elementwise: a place lies outside of its row")
	}
	if channels == 3 || channels == 4 {
		p.short = min(p.inside(4), max(0, len(list)*channels-4+channels)/channels)
	}
	return p
}

// inside returns how many of the first places have so many elements.
func (p *Places) inside(elements int) int {
	last := p.width - elements
	for i := range p.list {
		l := &p.list[i]
		if min(l.At, l.Next, l.AtY, l.NextY) < 0 || max(l.At, l.Next, l.AtY, l.NextY) > last {
			return i
		}
	}
	return len(p.list)
}

// BlendPixels sets z to new pixels of two old rows, one for each place:
// v·(V·x[At]+W·x[Next]) + w·(VY·y[AtY]+WY·y[NextY]), each product and each sum rounded. Memory
// for z is written once and nothing else is.
func BlendPixels(z, x, y []float32, p *Places, v, w float32) {
	x, y, z = x[:p.width], y[:p.width], z[:len(p.list)*p.channels]
	switch {
	case len(z) == 0:
	case simd.blendPixels == nil:
		blendPlaces(z, x, y, p.list, p.channels, v, w)
	default:
		blendParts(simd.blendShortPixels, z, x, y, p.list[:p.short], p.channels, v, w)
		blendParts(simd.blendPixels, z[p.short*p.channels:], x, y, p.list[p.short:], p.channels, v, w)
	}
}

// blendParts calls an assembly function for as many pixels at a time as it may get.
func blendParts(f func(z, x, y *float32, places *byte, pixels, channels int, v, w float32), z, x, y []float32, places []Place, channels int, v, w float32) {
	atOnce := max(1, kernel.VectorChunk/channels)
	for len(places) > 0 {
		n := min(len(places), atOnce)
		f(&z[0], &x[0], &y[0], (*byte)(unsafe.Pointer(&places[0])), n, channels, v, w)
		z, places = z[n*channels:], places[n:]
	}
}

// blendPlaces defines BlendPixels.
func blendPlaces(z, x, y []float32, places []Place, channels int, v, w float32) {
	for i, p := range places {
		for c := range channels {
			a := float32(p.V*x[p.At+c]) + float32(p.W*x[p.Next+c])
			b := float32(p.VY*y[p.AtY+c]) + float32(p.WY*y[p.NextY+c])
			z[i*channels+c] = float32(v*a) + float32(w*b)
		}
	}
}
