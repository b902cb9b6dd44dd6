package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
)

// trigLoops lists the trigonometric functions and those that round.
func trigLoops() []loop {
	return []loop{
		unary("expm1", "sets y to e to the x, less 1.", 1, newExpm1),
		unary("elu", "sets y to x, or to e to the x less 1 where x is negative.", 1, func(a *asm) func(x vec) vec {
			expm1 := newExpm1(a)
			return func(x vec) vec { return a.choose(a.compare(cmpLess, x, a.zero()), expm1(x), x) }
		}),
		unary("atan", "sets y to the arc tangent of x.", 1, newAtan),
		{name: "atan2", doc: "sets z to the angle of the points (y, x).", stores: []string{"z"}, loads: []string{"y", "x"}, unroll: 1, body: newAtan2},
		periodic("sin", "sine", false), periodic("cos", "cosine", true),
		rounding("floor", "not greater than", 1), rounding("ceil", "not less than", 2), rounding("rint", "nearest to", 0),
	}
}

// rounding is the loop of a way to round, by the number that instructions have for it.
func rounding(name, doc string, way uint8) loop {
	return unary(name, "sets y to the integer "+doc+" x.", 2, func(a *asm) func(x vec) vec {
		return func(x vec) vec {
			r := a.vec()
			if a.isa == avx2 {
				a.VROUNDPS(operand.U8(8|way), x, r)
			} else {
				a.VRNDSCALEPS(operand.U8(8|way), x, r)
			}
			return r
		}
	})
}

// newExpm1: near 0, where e^x - 1 would lose digits, the first terms of the series. What is
// left out is less than a fifth of a unit in the last place.
func newExpm1(a *asm) func(x vec) vec {
	exp, one, half, sign := newExp(a), a.float(1), a.float(0.5), a.word(1<<31)
	p := a.stored(1./40320, 1./5040, 1./720, 1./120, 1./24, 1./6, 1./2)
	return func(x vec) vec {
		far := vsub(a, exp.full(x), one)
		near := a.fma(vmul(a, x, x), a.polynomial(x, p), x)
		near = a.or(near, a.and(x, sign)) // -0 stays what it is
		t := vmax(a, vsub(a, a.zero(), x), x)
		return a.choose(a.compare(cmpLess, t, half), near, far)
	}
}

// atanConsts are the constants of the arc tangent of t in [0, 1]: t + t·z·p(z) with z = t²,
// where p is a polynomial of degree 8 with the least greatest relative error.
type atanConsts struct {
	a                  *asm
	one, abs, sign     operand.Op
	p                  []operand.Op
	half, rest         operand.Op // π/2, and what rounding has added to it
	whole, restOfTwice operand.Op
}

func newAtanConsts(a *asm) *atanConsts {
	rest := float64(float32(math.Pi/2)) - math.Pi/2
	return &atanConsts{
		a: a, one: a.float(1), abs: a.word(1<<31 - 1), sign: a.word(1 << 31),
		p:    a.stored(-0.00175392928, 0.01072694004, -0.03080458937, 0.05755209389, -0.08377314945, 0.10942030477, -0.14261933065, 0.19998266037, -0.33333283641),
		half: a.float(math.Pi / 2), rest: a.float(rest), whole: a.float(math.Pi), restOfTwice: a.float(2 * rest),
	}
}

// of is the arc tangent of t in [0, 1].
func (c *atanConsts) of(t vec) vec {
	z := vmul(c.a, t, t)
	return c.a.fma(vmul(c.a, t, z), c.a.polynomial(z, c.p), t)
}

// less returns an angle less p; rest is what rounding has added to the angle.
func (c *atanConsts) less(angle, rest operand.Op, p vec) vec {
	return vsub(c.a, c.a.inReg(angle), vadd(c.a, p, rest))
}

// newAtan: beyond 1 the arc tangent is π/2 less that of 1/x.
func newAtan(a *asm) func(x vec) vec {
	c := newAtanConsts(a)
	return func(x vec) vec {
		t := a.and(x, c.abs)
		far := a.compare(cmpGreater, t, c.one)
		p := c.of(vdiv(a, a.choose(far, c.one, t), a.choose(far, t, a.inReg(c.one))))
		return a.or(a.choose(far, c.less(c.half, c.rest, p), p), a.and(x, c.sign))
	}
}

func newAtan2(a *asm) func(in, _ []vec) []vec {
	c := newAtanConsts(a)
	return func(in, _ []vec) []vec {
		y, x := a.and(in[0], c.abs), a.and(in[1], c.abs)
		steep := a.compare(cmpGreater, y, x)
		num, den := a.choose(steep, x, y), a.choose(steep, y, x)
		t := vdiv(a, num, den)
		t = a.choose(a.compare(cmpEqual, num, den), c.one, t)    // both may be infinite,
		t = a.choose(a.compare(cmpEqual, den, a.zero()), num, t) // or zero
		p := c.of(t)
		p = a.choose(steep, c.less(c.half, c.rest, p), p)
		p = a.choose(a.negative(in[1]), c.less(c.whole, c.restOfTwice, p), p)
		return []vec{a.or(p, a.and(in[0], c.sign))}
	}
}

// negative returns where the sign bit is set.
func (a *asm) negative(x vec) cond {
	if a.isa == avx2 {
		return x
	}
	k := a.K()
	a.VPMOVD2M(x, k)
	return k
}

// mostPeriodic is up to where periodic is exact: n times the first part of π/2 less x is.
const mostPeriodic = 1 << 16

// periodic is the loop of the sine, or of the cosine, a quarter of a turn ahead: |x| is n
// quarters and r, with |r| <= π/4; of r sine and cosine are polynomials (Cephes). Beyond
// mostPeriodic, and of NaN, the result is x.
func periodic(name, doc string, ahead bool) loop {
	l := unary(name, "", 1, func(a *asm) func(x vec) vec {
		c := newPeriodicConsts(a)
		abs, most := a.word(1<<31-1), a.float(mostPeriodic)
		return func(x vec) vec {
			t := a.and(x, abs)
			y := c.of(t, ahead)
			if !ahead {
				y = a.xor(y, a.and(x, c.sign))
			}
			return a.choose(a.compare(cmpLess, t, most), y, x)
		}
	})
	l.doc = "sets y to the " + doc + " of x, and to x where that is 65536 or more, infinite or NaN. It reports whether there are such x."
	l.reports = mostPeriodic
	return l
}

type periodicConsts struct {
	a         *asm
	quarters  operand.Op // of a turn, in a radian
	pi        []operand.Op
	sin, cos  []operand.Op
	sign      operand.Op
	one       operand.Op
	minusHalf operand.Op
	quarter   operand.Op // an integer
}

func newPeriodicConsts(a *asm) *periodicConsts {
	c := &periodicConsts{
		a: a, quarters: a.float(2 / math.Pi), sign: a.word(1 << 31), one: a.float(1), minusHalf: a.float(-0.5), quarter: a.word(1),
		sin: a.floats(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1),
		cos: a.floats(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2),
	}
	const lowPi = 6.123233995736766e-17 // of π/2, beyond float64
	first := float64(float32(math.Pi / 2))
	second := float64(float32(math.Pi/2 - first))
	c.pi = a.floats(first, second, math.Pi/2-first-second+lowPi)
	return c
}

func (c *periodicConsts) of(x vec, ahead bool) vec {
	a := c.a
	n := a.roundEven(vmul(a, x, c.quarters))
	r := x
	for _, part := range c.pi {
		r = a.fnma(n, part, r)
	}
	turns := a.vec()
	a.VCVTPS2DQ(n, turns)
	if ahead {
		a.VPADDD(c.quarter, turns, turns)
	}
	odd, minus := a.vec(), a.vec()
	a.VPSLLD(operand.U8(31), turns, odd)
	a.VPSLLD(operand.U8(30), turns, minus)
	z := vmul(a, r, r)
	sin := a.fma(vmul(a, r, z), a.polynomial(z, c.sin), r)
	cos := a.fma(vmul(a, z, z), a.polynomial(z, c.cos), a.fma(z, c.minusHalf, c.one))
	return a.xor(a.choose(a.negative(odd), cos, sin), a.and(minus, c.sign))
}
