package jpeg

import "github.com/gorge-tf/gorge/internal/memory"

// A painter computes rows of pixels from planes.
type painter struct {
	*Decoder
	planes []*component
	lines  [][]byte // the samples of a row, by component, for each pixel
	spaces [][]byte // for lines that are computed
}

func newPainter(d *Decoder) *painter {
	p := &painter{Decoder: d}
	for i := range d.components {
		c := &d.components[i]
		if !c.needed {
			continue
		}
		p.planes = append(p.planes, c)
		p.spaces = append(p.spaces, memory.Make[byte](d.window.Width+2*d.maxH*blockSize))
	}
	p.lines = make([][]byte, len(p.spaces))
	return p
}

// row computes row y of the output.
func (p *painter) row(dst []byte, y int) {
	for i, c := range p.planes {
		p.lines[i] = p.spread(p.spaces[i], c, y)
	}
	p.colors.convert(dst, p.lines, p.left, p.adobe)
}

// smooth reports whether a component is interpolated.
func (d *Decoder) smooth(c *component) bool {
	return d.options.Fancy && d.size > 1 && (c.width > 2 || c.h*c.size == d.maxH*d.size)
}

// spread returns the samples of a component for row y of the output, in dst or where they
// are. Those outside of the window stand for nothing, even beside its edge.
func (p *painter) spread(dst []byte, c *component, y int) []byte {
	byX, byY := p.maxH*p.size/(c.h*c.size), p.maxV*p.size/(c.v*c.size)
	first := p.window.X / byX
	n := ceilDiv(p.window.Width*c.h*c.size, p.maxH*p.size)
	line := func(row int) []byte {
		row = max(0, min(row, c.height-1))
		return c.plane[row*c.pitch+first:][:n]
	}
	fancy := p.smooth(c) && (byX == 1 || n > 1)
	switch {
	case byX == 1 && byY == 1:
		return line(y)
	case byX == 2 && byY == 1 && fancy:
		wide(dst, line(y))
	case byX == 1 && byY == 2 && fancy:
		bias := 1 + y&1
		tall(dst, line(y/2), line(y/2-1+2*(y&1)), bias)
	case byX == 2 && byY == 2 && fancy:
		square(dst, line(y/2), line(y/2-1+2*(y&1)))
	default:
		repeat(dst, line(y/byY), byX)
	}
	return dst
}

// repeat gives each sample to n pixels.
func repeat(dst, src []byte, n int) {
	for i, v := range src {
		for k := range n {
			dst[i*n+k] = v
		}
	}
}

// wide interpolates between columns: the nearer sample counts three times.
func wide(dst, src []byte) {
	n := len(src) - 1
	dst[0], dst[2*n+1] = src[0], src[n]
	done := inner(n)
	if done > 0 {
		wideTo(dst, src[:2])
		simd.wide(&dst[2], &src[1], done/atOnce)
	}
	wideTo(dst[2*done:], src[done:])
}

// wideTo writes what lies between the first sample and the last.
func wideTo(dst, src []byte) {
	for i := range len(src) - 1 {
		a, b := int(src[i]), int(src[i+1])
		dst[2*i+1] = byte((3*a + b + 2) >> 2)
		dst[2*i+2] = byte((3*b + a + 1) >> 2)
	}
}

// tall interpolates between two rows.
func tall(dst, near, far []byte, bias int) {
	for i, v := range near {
		dst[i] = byte((3*int(v) + int(far[i]) + bias) >> 2)
	}
}

// square interpolates between two rows and their columns.
func square(dst, near, far []byte) {
	n := len(near) - 1
	dst[0], dst[2*n+1] = byte((4*between(near, far, 0)+8)>>4), byte((4*between(near, far, n)+7)>>4)
	done := inner(n)
	if done > 0 {
		squareTo(dst, near[:2], far)
		_ = far[:n+1]
		simd.square(&dst[2], &near[1], &far[1], done/atOnce)
	}
	squareTo(dst[2*done:], near[done:], far[done:])
}

func between(near, far []byte, i int) int32 { return 3*int32(near[i]) + int32(far[i]) }

// squareTo writes what lies between the first sample and the last.
func squareTo(dst, near, far []byte) {
	a := between(near, far, 0)
	for i := range len(near) - 1 {
		b := between(near, far, i+1)
		dst[2*i+1] = byte((3*a + b + 7) >> 4)
		dst[2*i+2] = byte((3*b + a + 8) >> 4)
		a = b
	}
}

// inner returns how many samples from number 1 on loops in vector instructions compute,
// of n+1 samples: those have two neighbors.
func inner(n int) int {
	if simd.square == nil || n < 1 {
		return 0
	}
	return (n - 1) &^ (atOnce - 1)
}
