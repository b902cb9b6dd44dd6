package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Modes of VROUNDPD and VRNDSCALEPD; none of them signals.
const (
	roundDown       = 0x09
	roundTowardZero = 0x0b
)

// emitInts writes the functions that convert integers and divide them.
func emitInts(a *asm) {
	emitConversion(a, "truncateDouble", "func(y *int32, x *float64, n int)", "sets y = x, the least integer for what does not fit", 4, 8, a.lanes()/2, func(x, y operand.Mem) {
		r := a.half()
		a.truncated(a.copyOf(x), r)
		a.VMOVDQU(r, y)
	})
	emitConversion(a, "lowWords", "func(y *int32, x *int64, n int)", "sets y to the low words of x", 4, 8, a.lanes()/2, func(x, y operand.Mem) {
		r := a.half()
		if a.isa == avx512 {
			a.VPMOVQD(a.copyOf(x), r)
		} else {
			a.VMOVUPS(x, r)
			a.VSHUFPS(operand.U8(0x88), x.Offset(16), r, r)
		}
		a.VMOVDQU(r, y)
	})
	if a.isa == avx512 {
		emitConversion(a, "truncateLong", "func(y *int64, x *float32, n int)", "sets y = x, the least integer for what does not fit", 8, 4, a.lanes()/2, func(x, y operand.Mem) {
			r := a.vec()
			a.VCVTTPS2QQ(x, r)
			a.VMOVUPS(r, y)
		})
	}
	for _, q := range []struct {
		name, doc string
		mode      uint8
	}{
		{"quotient", "rounded towards zero", roundTowardZero}, {"floorQuotient", "rounded down", roundDown},
	} {
		emitQuotient32(a, q.name+"32", q.doc, q.mode)
		emitQuotient64(a, q.name+"64", q.doc, q.mode)
	}
}

// truncated sets r to x as int32.
func (a *asm) truncated(x, r vec) {
	if a.isa == avx512 {
		a.VCVTTPD2DQ(x, r)
	} else {
		a.VCVTTPD2DQY(x, r)
	}
}

// quotient64 is x/y of float64 rounded, and 0 where y is 0. Numbers of so few bits that they are
// exact have no quotient so near to a whole number that rounding to 53 bits makes it one.
func (e *emitter64) quotient64(x, y vec, mode uint8) vec {
	some := e.compare64(cmpNotEqual, y, e.zero())
	q := e.vec()
	if e.isa == avx2 {
		e.VDIVPD(y, x, q)
		e.VROUNDPD(operand.U8(mode), q, q)
		e.VANDPD(some, q, q)
		return q
	}
	e.VDIVPD_Z(y, x, some, q)
	e.VRNDSCALEPD(operand.U8(mode), q, q)
	return q
}

// emitQuotient32 writes a division of int32, 16 at a time.
func emitQuotient32(a *asm, name, doc string, mode uint8) {
	e := &emitter64{powEmitter: &powEmitter{asm: a}}
	a.text(name+a.isa.suffix(), "func(z, x, y *int32, n int)", name+a.isa.suffix()+" sets z = x / y "+doc+", 0 where y is 0, in whole steps: n must be a multiple of 16.")
	z, x, y, n := a.arg("z"), a.arg("x"), a.arg("y"), a.arg("n")
	a.Label("loop")
	a.CMPQ(n, operand.I32(conversionStep))
	a.JLT(operand.LabelRef("done"))
	for at := 0; at < conversionStep; at += a.lanes() / 2 {
		p, q, r := a.vec(), a.vec(), a.half()
		a.VCVTDQ2PD(operand.Mem{Base: x, Disp: 4 * at}, p)
		a.VCVTDQ2PD(operand.Mem{Base: y, Disp: 4 * at}, q)
		a.truncated(e.quotient64(p, q, mode), r)
		a.VMOVDQU(r, operand.Mem{Base: z, Disp: 4 * at})
	}
	for _, p := range []reg.Register{z, x, y} {
		a.ADDQ(operand.I32(4*conversionStep), p)
	}
	a.SUBQ(operand.I32(conversionStep), n)
	a.JMP(operand.LabelRef("loop"))
	a.Label("done")
	a.end()
}

// emitQuotient64 writes a division of int64 that are below 2^50: added to the bits of 3·2^51 they
// are the last digits of a float64.
func emitQuotient64(a *asm, name, doc string, mode uint8) {
	e := &emitter64{powEmitter: &powEmitter{asm: a}}
	name += a.isa.suffix()
	a.text(name, "func(z, x, y *int64, n int) (done int)",
		name+" sets z = x / y "+doc+", 0 where y is 0, up to the first vector with an x or y that is not below 2^50. n is a multiple of the vector's elements.")
	z, x, y, n := a.arg("z"), a.arg("x"), a.arg("y"), a.arg("n")
	bits, whole, bound := e.copyOf(e.quad(math.Float64bits(whole64))), e.copyOf(e.quadFloat(whole64)), e.copyOf(e.quad(1<<50))
	done := a.GP64()
	a.XORQ(done, done)
	a.Label("loop")
	a.CMPQ(done, n)
	a.JGE(operand.LabelRef("end"))
	at := func(p reg.Register) operand.Mem { return operand.Mem{Base: p, Index: done, Scale: 8} }
	p, q := a.copyOf(at(x)), a.copyOf(at(y))
	e.leaveIfLong(p, q, bound)
	a.VPADDQ(bits, p, p)
	a.VPADDQ(bits, q, q)
	r := e.plus(e.quotient64(e.minus(p, whole), e.minus(q, whole), mode), whole)
	a.VPSUBQ(bits, r, r)
	a.VMOVUPS(r, at(z))
	a.ADDQ(operand.I32(int32(a.isa)/8), done)
	a.JMP(operand.LabelRef("loop"))
	a.Label("end")
	a.Store(done, a.ReturnIndex(0))
	a.end()
}

// leaveIfLong ends the loop if an integer is not below 2^50: then more bits are set of it and
// bound, which makes the others positive.
func (e *emitter64) leaveIfLong(x, y, bound vec) {
	p, q := e.vec(), e.vec()
	e.VPADDQ(bound, x, p)
	e.VPADDQ(bound, y, q)
	high := e.or(p, q)
	e.VPSRLQ(operand.U8(51), high, high)
	if e.isa == avx2 {
		e.VPTEST(high, high)
	} else {
		k := e.K()
		e.VPTESTMQ(high, high, k)
		e.KORTESTW(k, k)
	}
	e.JNZ(operand.LabelRef("end"))
}
