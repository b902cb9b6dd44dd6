package elementwise

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/machine"
)

// asinTerms are the coefficients of Cephes' asinf, the highest power first:
// asin s = s + s³·p(s²) for |s| up to 1/2.
var asinTerms = [...]float32{4.2163199048e-2, 2.4181311049e-2, 4.5470025998e-2, 7.4953002686e-2, 1.6666752422e-1}

// asinParts returns |x|, and s or for |x| above 1/2 the root of (1-|x|)/2, whose arc sine is
// half of what is missing to π/2.
func asinParts(c *machine.Code, x machine.Value) (far, asin machine.Value) {
	size, half := c.Abs(x), c.Float(0.5)
	far = c.Greater(size, half)
	near := c.Mul(size, size)
	beyond := c.Mul(half, c.Sub(c.Float(1), size))
	z := c.Pick(far, beyond, near)
	s := c.Pick(far, c.Sqrt(beyond), size)
	p := c.Float(asinTerms[0])
	for _, t := range asinTerms[1:] {
		p = c.Add(c.Mul(p, z), c.Float(t))
	}
	return far, c.Add(c.Mul(c.Mul(p, z), s), s)
}

func asinPartsOf(x float32) (far bool, asin float32) {
	size := abs32(x)
	z, s := float32(size*size), size
	if far = size > 0.5; far {
		z = 0.5 * (1 - size)
		s = float32(math.Sqrt(float64(z)))
	}
	p := asinTerms[0]
	for _, t := range asinTerms[1:] {
		p = float32(p*z) + t
	}
	return far, float32(float32(p*z)*s) + s
}

func abs32(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// The parts of π and π/2: with the second ones sums keep what the first ones lack.
const (
	piHigh, halfPiHigh = float32(math.Pi), float32(math.Pi / 2)
	piLow, halfPiLow   = float32(math.Pi - float64(piHigh)), float32(math.Pi/2 - float64(halfPiHigh))
)

// AsinLanes are those of Asin32.
var AsinLanes = Lanes1(func(c *machine.Code, x machine.Value) machine.Value {
	far, a := asinParts(c, x)
	a = c.Pick(far, c.Sub(c.Float(halfPiHigh), c.Sub(c.Add(a, a), c.Float(halfPiLow))), a)
	return c.Or(a, c.And(x, c.Word(1<<31)))
})

// Asin32 sets y to the arc sine of x, to some units in the last place as TensorFlow does.
var Asin32 = CompiledMap(AsinLanes, func(y, x []float32) { kernel.Map(y, x, asin32) })

func asin32(x float32) float32 {
	far, a := asinPartsOf(x)
	if far {
		a = halfPiHigh - (a + a - halfPiLow)
	}
	return math.Float32frombits(math.Float32bits(a) | math.Float32bits(x)&(1<<31))
}

// AcosLanes are those of Acos32.
var AcosLanes = Lanes1(func(c *machine.Code, x machine.Value) machine.Value {
	far, a := asinParts(c, x)
	signed := c.Or(a, c.And(x, c.Word(1<<31)))
	near := c.Sub(c.Float(halfPiHigh), c.Sub(signed, c.Float(halfPiLow)))
	a = c.Add(a, a)
	below := c.Sub(c.Float(piHigh), c.Sub(a, c.Float(piLow)))
	return c.Pick(far, c.PickPositive(x, a, below), near)
})

// Acos32 sets y to the arc cosine of x, to some units in the last place as TensorFlow does.
var Acos32 = CompiledMap(AcosLanes, func(y, x []float32) { kernel.Map(y, x, acos32) })

func acos32(x float32) float32 {
	far, a := asinPartsOf(x)
	switch {
	case !far:
		signed := math.Float32frombits(math.Float32bits(a) | math.Float32bits(x)&(1<<31))
		return halfPiHigh - (signed - halfPiLow)
	case x > 0:
		return a + a
	}
	return piHigh - (a + a - piLow)
}

var (
	atanhArgument = CompiledMap(Lanes1(func(c *machine.Code, x machine.Value) machine.Value {
		x = c.Abs(x)
		return c.Div(c.Add(x, x), c.Sub(c.Float(1), x))
	}), func(y, x []float32) {
		kernel.Map(y, x, func(v float32) float32 { v = abs32(v); return (v + v) / (1 - v) })
	})
	halfWithSign = CompiledZip(Lanes2(func(c *machine.Code, y, x machine.Value) machine.Value {
		return c.Or(c.Mul(y, c.Float(0.5)), c.And(x, c.Word(1<<31)))
	}), func(z, y, x []float32) {
		kernel.Zip(z, y, x, func(y, x float32) float32 {
			return math.Float32frombits(math.Float32bits(y*0.5) | math.Float32bits(x)&(1<<31))
		})
	})
)

// Atanh32 sets y to the inverse hyperbolic tangent of x: half of log(1 + 2|x|/(1-|x|)).
func Atanh32(y, x []float32) {
	EachBlock(len(y), func(lo, hi int, buf []float32) {
		atanhArgument(buf, x[lo:hi])
		Log1p(buf, buf)
		halfWithSign(y[lo:hi], buf, x[lo:hi])
	})
}
