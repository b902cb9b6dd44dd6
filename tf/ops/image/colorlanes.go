package image

import (
	"sync"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/tf/core"
)

// colorBlock pixels are converted at a time: three planes of their colors stay in the
// first-level cache.
const colorBlock = 512

// planes hold the three colors of a block of pixels apart, so that machine code computes
// vectors of pixels, without branches.
type planes [3][colorBlock]float32

// read sets the planes to whole pixels.
func (p *planes) read(x []float32) {
	for i := range p[0][:len(x)/3] {
		v := x[3*i:][:3]
		p[0][i], p[1][i], p[2][i] = v[0], v[1], v[2]
	}
}

// write sets whole pixels to what the planes hold.
func (p *planes) write(y []float32) {
	for i := range p[0][:len(y)/3] {
		v := y[3*i:][:3]
		v[0], v[1], v[2] = p[0][i], p[1][i], p[2][i]
	}
}

// run computes n pixels in place by code that has three operands, those that all pixels
// share, and three results. It reports false if there is no such code.
func (p *planes) run(code *elementwise.Compiled, n int, shared ...*float32) bool {
	streams := make([]elementwise.Stream, 0, 8)
	for k := range p {
		streams = append(streams, elementwise.Along(p[k][:n]))
	}
	for _, s := range shared {
		streams = append(streams, elementwise.Shared(s))
	}
	for k := range p {
		streams = append(streams, elementwise.Along(p[k][:n]))
	}
	return code.Run(n, streams...)
}

// A fastColor converts pixels as a pixel[float32] does, to the same bits, n of them in
// planes. It reports false, with the planes as they were, if it cannot.
type fastColor func(p *planes, n int) bool

// eachFast is eachColor for pixels that machine code may convert.
func eachFast(c *core.OpContext, y, x []float32, fast fastColor, f pixel[float32]) {
	c.ParallelFor(len(x)/3, grain/16, func(lo, hi int) { convert(y[3*lo:3*hi], x[3*lo:3*hi], fast, f) })
}

// planesOf are not in use.
var planesOf = sync.Pool{New: func() any { return new(planes) }}

func convert(y, x []float32, fast fastColor, f pixel[float32]) {
	p := planesOf.Get().(*planes)
	defer planesOf.Put(p)
	for len(x) > 0 {
		n := min(colorBlock, len(x)/3)
		p.read(x[:3*n])
		if fast(p, n) {
			p.write(y[:3*n])
		} else {
			for i := 0; i < 3*n; i += 3 {
				f(y[i:i+3:i+3], x[i:i+3:i+3])
			}
		}
		y, x = y[3*n:], x[3*n:]
	}
}

// inPlanes makes a fastColor of one program.
func inPlanes(code *elementwise.Compiled, shared ...*float32) fastColor {
	return func(p *planes, n int) bool { return p.run(code, n, shared...) }
}

// hueLanes returns the hue of pixels with such colors, of which v is the greatest, if they
// differ: norm is one sixth of 1 by how much. third and twoThirds add that.
func hueLanes(m *machine.Code, r, g, b, v, norm machine.Value, third, twoThirds func(machine.Value) machine.Value) machine.Value {
	h := m.Pick(m.Equal(v, g), third(m.Mul(norm, m.Sub(b, r))), twoThirds(m.Mul(norm, m.Sub(r, g))))
	h = m.Pick(m.Equal(v, r), m.Mul(norm, m.Sub(g, b)), h)
	return m.Pick(m.Greater(m.Float(0), h), m.Add(h, m.Float(1)), h)
}

// plus returns what adds a number.
func plus(m *machine.Code, f float32) func(machine.Value) machine.Value {
	return func(x machine.Value) machine.Value { return m.Add(x, m.Float(f)) }
}

// toHSV is exactToHSV in machine code.
var toHSV = elementwise.CompileMany(3, func(m *machine.Code, in []machine.Value) {
	r, g, b := in[0], in[1], in[2]
	v := m.Pick(m.Greater(r, g), r, g)
	v = m.Pick(m.Greater(v, b), v, b)
	least := m.Pick(m.Greater(g, r), r, g)
	least = m.Pick(m.Greater(b, least), least, b)
	span := m.Sub(v, least)
	norm := m.Mul(m.Div(m.Float(1), span), m.Float(float32(1)/6))
	h := hueLanes(m, r, g, b, v, norm, plus(m, float32(2)/6), plus(m, float32(4)/6))
	m.Store(m.WherePositive(h, span), machine.Word)
	m.Store(m.WherePositive(m.Div(span, v), v), machine.Word)
	m.Store(v, machine.Word)
})

// toRGB is exactToRGB in machine code.
var toRGB = elementwise.CompileMany(3, func(m *machine.Code, in []machine.Value) {
	h, s, v := m.Mul(m.Float(6), in[0]), in[1], in[2]
	one, two := m.Float(1), m.Float(2)
	rest := m.Sub(one, s)
	distance := func(from float32) machine.Value { return m.Abs(m.Sub(h, m.Float(from))) }
	color := func(part machine.Value) machine.Value {
		part = m.Min(m.Max(part, m.Float(0)), one)
		return m.Mul(m.Add(rest, m.Mul(s, part)), v)
	}
	m.Store(color(m.Sub(distance(3), one)), machine.Word)
	m.Store(color(m.Sub(two, distance(2))), machine.Word)
	m.Store(color(m.Sub(two, distance(4))), machine.Word)
})
