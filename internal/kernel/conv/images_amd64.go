//go:build amd64 && !noasm

package conv

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// padding is the room that lines of images need around them.
type padding struct {
	in          [3]int // positions of an image
	c           int    // channels
	left, width int    // positions of a line: before the image's, and all
}

// paddedImages are some lines of images with zeros around them where they need
// any.
type paddedImages[T numeric.Float] struct {
	data    []T
	line    int    // elements of a line
	first   [3]int // image, depth and height it begins at
	depths  int
	heights int
}

// at is where a line begins.
func (m *paddedImages[T]) at(n, d, h int) int {
	return (((n-m.first[0])*m.depths+d-m.first[1])*m.heights + h - m.first[2]) * m.line
}

// pad returns lines of images x: [from, to) of images, depths and heights. They
// are x itself if they need no zeros, else a copy in scratch memory.
func pad[T numeric.Float](p padding, scratch *workspace[T], x []T, from, to [3]int) *paddedImages[T] {
	size := p.in[2] * p.c
	if p.left == 0 && p.width <= p.in[2] {
		return &paddedImages[T]{data: x, line: size, depths: p.in[0], heights: p.in[1]}
	}
	m := &paddedImages[T]{line: p.width * p.c, first: from, depths: to[1] - from[1], heights: to[2] - from[2]}
	// What sees nothing has an address, too.
	scratch.a = tiles.GrowAligned(scratch.a, max(1, (to[0]-from[0])*m.depths*m.heights)*m.line)
	m.data = scratch.a
	for n := from[0]; n < to[0]; n++ {
		for d := from[1]; d < to[1]; d++ {
			for h := from[2]; h < to[2]; h++ {
				padLine(p.left*p.c, m.data[m.at(n, d, h):][:m.line], x[((n*p.in[0]+d)*p.in[1]+h)*size:][:size])
			}
		}
	}
	return m
}

// padLine copies a line of an image between zeros.
func padLine[T numeric.Float](left int, dst, src []T) {
	left = min(left, len(dst))
	clear(dst[:left])
	n := copy(dst[left:], src)
	clear(dst[left+n:])
}

// padImages returns what lines [lo, hi) of windows see: lines of one depth or
// of whole images.
func padImages[T numeric.Float](v *Conv, scratch *workspace[T], x []T, lo, hi int) *paddedImages[T] {
	from, to := v.seenBy(lo, hi)
	return pad(padding{v.In, v.InC, v.Pad[2], v.Width()}, scratch, x, from, to)
}

// seenBy returns the images, depths and heights that lines [lo, hi) of windows
// see.
func (v *Conv) seenBy(lo, hi int) (from, to [3]int) {
	n, od, oh := v.Line(lo)
	if hi-lo > v.Out[1]-oh {
		return [3]int{n, 0, 0}, [3]int{n + kernel.CeilDiv(hi-lo, v.LinesOut()), v.In[0], v.In[1]}
	}
	d0, d1 := v.Seen(0, od, od)
	h0, h1 := v.Seen(1, oh, oh+hi-lo-1)
	return [3]int{n, d0, h0}, [3]int{n + 1, d1, h1}
}
