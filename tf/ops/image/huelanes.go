package image

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/machine"
)

// mostTurns is how many sextants hues may be turned by in float32: the whole turns in them are
// counted without a rounding that matters.
const mostTurns = 1 << 18

// fastHue is turnedHue in machine code.
func fastHue(turn float32) fastColor {
	turn *= 6
	if !(math.Abs(float64(turn)) < mostTurns) {
		return func(*planes, int) bool { return false }
	}
	return func(p *planes, n int) bool { return p.run(turnHue, n, &turn) && p.run(fromHue, n) }
}

// fastSaturation is saturated in machine code.
func fastSaturation(scale float32) fastColor {
	return func(p *planes, n int) bool { return p.run(scaleChroma, n, &scale) && p.run(fromChroma, n) }
}

// turnHue sets planes of colors to the hue, turned and in sextants, the greatest color and the
// least.
var turnHue = elementwise.CompileMany(3, func(m *machine.Code, in []machine.Value) {
	r, g, b, by := in[0], in[1], in[2], in[3]
	zero, one, two := m.Float(0), m.Float(1), m.Float(2)
	green := m.Greater(g, r) // is more than red
	low, high := m.Pick(green, r, g), m.Pick(green, g, r)
	below, above := m.Greater(low, b), m.Greater(b, high) // blue is
	n := m.Add(two, m.Pick(green, m.Pick(below, m.Neg(one), m.Pick(above, one, zero)), m.Pick(below, m.Neg(two), m.Pick(above, two, m.Add(one, two)))))
	mid := m.Pick(below, low, m.Pick(above, high, b))
	low, high = m.Pick(below, b, low), m.Pick(above, b, high)
	share := risingIn(m, n, m.Div(m.Sub(mid, low), m.Sub(high, low)))
	h := m.Add(m.Pick(m.NotEqual(high, low), m.Add(n, share), zero), by)
	m.Store(aroundSixIn(m, h), machine.Word)
	m.Store(high, machine.Word)
	m.Store(low, machine.Word)
})

// risingIn is rising.
func risingIn(m *machine.Code, n, share machine.Value) machine.Value {
	two := m.Float(2)
	odd := m.Sub(n, m.Mul(two, m.Floor(m.Div(n, two))))
	return m.PickPositive(odd, m.Sub(m.Float(1), share), share)
}

// aroundSixIn is aroundSix for numbers of not too many turns.
func aroundSixIn(m *machine.Code, h machine.Value) machine.Value {
	six := m.Float(6)
	h = m.NegMulAdd(m.Floor(m.Div(h, six)), six, h)
	h = m.PickPositive(m.Neg(h), m.Add(h, six), h)
	return m.Pick(m.GreaterEqual(h, six), m.Sub(h, six), h)
}

// fromHue sets planes of hue, greatest and least color to the colors. A hue that is NaN is in
// the last sextant.
var fromHue = elementwise.CompileMany(3, func(m *machine.Code, in []machine.Value) {
	h, high, low := in[0], in[1], in[2]
	n := m.Floor(h)
	mid := m.Add(low, m.Mul(risingIn(m, n, m.Sub(h, n)), m.Sub(high, low)))
	storeSextants(m, m.Pick(m.Equal(h, h), n, m.Float(5)), high, mid, low, func(y machine.Value) machine.Value { return y })
})

// storeSextants stores red, green and blue of pixels in sextants n: each color is the greatest in
// two that are neighbours, and between next to them. rest is added to each.
func storeSextants(m *machine.Code, n, high, mid, low machine.Value, rest func(machine.Value) machine.Value) {
	for k, middle := range []float32{2.5, 1.5, 3.5} {
		d := m.Abs(m.Sub(n, m.Float(middle)))
		near, far := high, low
		if k == 0 { // red is least in the middle and the greatest at both ends
			near, far = low, high
		}
		m.Store(rest(m.Pick(m.Greater(m.Float(1), d), near, m.Pick(m.Greater(d, m.Float(2)), far, mid))), machine.Word)
	}
}

// scaleChroma sets planes of colors to the hue, in sextants, the chroma after the saturation is
// scaled, and what is added to each color.
var scaleChroma = elementwise.CompileMany(3, func(m *machine.Code, in []machine.Value) {
	r, g, b, by := in[0], in[1], in[2], in[3]
	v, least := m.Pick(m.Greater(b, g), b, g), m.Pick(m.Greater(g, b), b, g)
	v, least = m.Pick(m.Greater(v, r), v, r), m.Pick(m.Greater(r, least), least, r)
	span := m.Sub(v, least)
	norm := m.Div(m.Float(1), m.Mul(m.Float(6), span))
	wide := func(w wideNumber) func(machine.Value) machine.Value {
		return func(x machine.Value) machine.Value { return w.plusIn(m, x) }
	}
	h := hueLanes(m, r, g, b, v, norm, wide(oneThird), wide(thirds))
	h = m.PickPositive(span, h, m.Pick(m.Equal(span, span), m.Float(0), h))
	s := m.Mul(m.WherePositive(m.Div(span, v), v), by)
	s = m.WherePositive(s, s)
	chroma := m.Mul(m.Pick(m.Greater(m.Float(1), s), s, m.Float(1)), v)
	m.Store(m.Mul(h, m.Float(6)), machine.Word)
	m.Store(chroma, machine.Word)
	m.Store(m.Sub(v, chroma), machine.Word)
})

// fromChroma sets planes of what scaleChroma makes to the colors. A hue that is infinite or not below 6 has
// none.
var fromChroma = elementwise.CompileMany(3, func(m *machine.Code, in []machine.Value) {
	h, chroma, rest := in[0], in[1], in[2]
	zero, one, two := m.Float(0), m.Float(1), m.Float(2)
	known := m.Greater(m.Float(6), m.Abs(h))
	from := m.Sub(m.NegMulAdd(m.Floor(m.Div(h, two)), two, h), one)
	mid := m.Mul(chroma, m.Sub(one, m.Abs(from)))
	storeSextants(m, m.Floor(h), m.Pick(known, chroma, zero), m.Pick(known, mid, zero), zero, func(y machine.Value) machine.Value { return m.Add(y, rest) })
})

// A wideNumber is a number in two parts: sums keep what the first one lacks.
type wideNumber struct{ high, low float32 }

func wide(f float64) wideNumber { return wideNumber{float32(f), float32(f - float64(float32(f)))} }

var oneThird, thirds = wide(1.0 / 3), wide(2.0 / 3)

// plus returns x and the number, rounded about as if once: what the first sum loses is added to
// the second part.
func (w wideNumber) plus(x float32) float32 {
	sum := x + w.high
	part := sum - x
	lost := (x - (sum - part)) + (w.high - part)
	return sum + (lost + w.low)
}

// plusIn is plus in machine code.
func (w wideNumber) plusIn(m *machine.Code, x machine.Value) machine.Value {
	high := m.Float(w.high)
	sum := m.Add(x, high)
	part := m.Sub(sum, x)
	lost := m.Add(m.Sub(x, m.Sub(sum, part)), m.Sub(high, part))
	return m.Add(sum, m.Add(lost, m.Float(w.low)))
}
