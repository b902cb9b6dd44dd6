package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Powers of float32, computed in float64. pow32.go of package elementwise has the function and
// the tables that define them; each operation here is one there, so that the bits are the same.
const (
	powLog2From = 0x3f330000
	powHalf     = 3 << 51
	powSteps    = 32
)

// powEmitter is the function being written.
type powEmitter struct {
	*asm
	z, x, y, n      reg.Register
	inverse, log    reg.Register // columns of the table of logarithms
	exp2            reg.Register // the table of powers of 2
	done            reg.Register
	one, abs, sign  operand.Op
	inf, nan, least operand.Op
	most, mostTwice operand.Op
	half            operand.Op
}

func emitPow(a *asm) {
	name := "powers" + a.isa.suffix()
	a.text(name, "func(z, x, y *float32, n int, inverse, log, exp2 *float64) (done int)",
		name+" sets z to x to the power of y, up to the first vector with an x that is subnormal or not finite or a y that is not finite. n is a multiple of the vector's elements.")
	e := &powEmitter{asm: a, z: a.arg("z"), x: a.arg("x"), y: a.arg("y"), n: a.arg("n"), inverse: a.arg("inverse"), log: a.arg("log"), exp2: a.arg("exp2")}
	e.one, e.abs, e.sign = a.float(1), a.word(1<<31-1), a.word(1<<31)
	e.inf, e.nan, e.least = a.word(0x7f800000), a.word(0x7fc00000), a.word(0x00800000)
	e.most, e.mostTwice, e.half = a.word(0x7effffff), a.word(0xfeffffff), a.float(0.5)
	e.done = a.GP64()
	a.XORQ(e.done, e.done)
	a.Label("vector")
	a.CMPQ(e.done, e.n)
	a.JGE(operand.LabelRef("end"))
	e.vector()
	a.ADDQ(operand.I32(int32(a.lanes())), e.done)
	a.JMP(operand.LabelRef("vector"))
	a.Label("end")
	a.Store(e.done, a.ReturnIndex(0))
	a.end()
}

func (e *powEmitter) at(p reg.Register) operand.Mem {
	return operand.Mem{Base: p, Index: e.done, Scale: 4}
}

// vector writes what is done to one vector of x and of y. AVX2 has few registers: what is needed
// in the end is loaded anew then.
func (e *powEmitter) vector() {
	base, y := e.base()
	e.leaveIfUnusual(base, y)
	low := e.power(e.part(base, 0), e.part(y, 0))
	high := e.power(e.part(base, 1), e.part(e.copyOf(e.at(e.y)), 1))
	e.VMOVUPS(e.special(e.join(low, high)), e.at(e.z))
}

// base returns x without its sign, 1 for 0, and y.
func (e *powEmitter) base() (base, y vec) {
	size := e.and(e.copyOf(e.at(e.x)), e.abs)
	return e.choose(e.compare(cmpEqual, size, e.zero()), e.one, size), e.copyOf(e.at(e.y))
}

// special returns the powers of x, given those of its base.
func (e *powEmitter) special(z vec) vec {
	x, y, zero := e.copyOf(e.at(e.x)), e.copyOf(e.at(e.y)), e.zero()
	ofZero := e.choose(e.compare(cmpLess, y, zero), e.inf, e.inReg(e.one))
	ofZero = e.choose(e.compare(cmpGreater, y, zero), zero, ofZero)
	z = e.choose(e.compare(cmpEqual, x, zero), ofZero, z)
	return e.signed(z, x, y)
}

// leaveIfUnusual ends the loop before a vector with a base that is not normal or a y that is
// not finite.
func (e *powEmitter) leaveIfUnusual(base, y vec) {
	b, p := e.vec(), e.vec()
	e.VPSUBD(e.inReg(e.least), base, b)
	e.VPADDD(y, y, p) // without its sign
	off := e.or(e.xor(e.lesser(b, e.most), b), e.xor(e.lesser(p, e.mostTwice), p))
	if e.isa == avx2 {
		e.VPTEST(off, off)
	} else {
		k := e.K()
		e.VPTESTMD(off, off, k)
		e.KORTESTW(k, k)
	}
	e.JNZ(operand.LabelRef("end"))
}

// lesser is the lesser of integers without sign.
func (e *powEmitter) lesser(x vec, y operand.Op) vec {
	r := e.vec()
	e.VPMINUD(y, x, r)
	return r
}

// signed gives the power z of |x| its sign, which is that of x if y is odd; a negative number
// has no power that is not whole.
func (e *powEmitter) signed(z, x, y vec) vec {
	half := vmul(e.asm, y, e.half)
	odd, whole := e.compare(cmpNotEqual, e.roundEven(half), half), e.compare(cmpEqual, e.roundEven(y), y)
	z = e.xor(z, e.keep(whole, e.keep(odd, e.and(x, e.sign))))
	none := e.choose(e.compare(cmpLess, x, e.zero()), e.nan, z)
	return e.choose(whole, z, none)
}

// part is half a vector.
func (e *powEmitter) part(x vec, i uint8) vec {
	r := e.asm.half()
	if e.isa == avx2 {
		e.VEXTRACTF128(operand.U8(i), x, r)
	} else {
		e.VEXTRACTF64X4(operand.U8(i), x, r)
	}
	return r
}

// join is a vector of two halves.
func (e *powEmitter) join(low, high vec) vec {
	r := e.vec()
	if e.isa == avx2 {
		e.VINSERTF128(operand.U8(1), high, low.(reg.Vec).AsY(), r)
	} else {
		e.VINSERTF64X4(operand.U8(1), high, low.(reg.Vec).AsZ(), r)
	}
	return r
}

// power is that of half a vector.
func (e *powEmitter) power(x, y vec) vec {
	t := e.times(e.widen(y), e.log2(x))
	t = e.pd(e.VMINPD, e.quadFloat(512), t)
	return e.narrow(e.exp2Within(e.pd(e.VMAXPD, e.quadFloat(-512), t)))
}

// pd is an instruction on float64.
func (e *powEmitter) pd(f func(ops ...operand.Op), y operand.Op, x vec) vec {
	r := e.vec()
	f(y, x, r)
	return r
}

func (e *powEmitter) times(x vec, y operand.Op) vec { return e.pd(e.VMULPD, y, x) }
func (e *powEmitter) plus(x vec, y operand.Op) vec  { return e.pd(e.VADDPD, y, x) }
func (e *powEmitter) minus(x vec, y operand.Op) vec { return e.pd(e.VSUBPD, y, x) }

// line is a + b·x.
func (e *powEmitter) line(a, b float64, x vec) vec {
	return e.plus(e.times(x, e.quadFloat(b)), e.quadFloat(a))
}

// log2 is log2Normal.
func (e *powEmitter) log2(x vec) vec {
	from, power, index := e.asm.half(), e.asm.half(), e.vec()
	e.VMOVUPS(e.halfWord(powLog2From), from)
	e.VPSUBD(from, x, from)
	e.VPSRAD(operand.U8(23), from, power)
	e.VPSRLD(operand.U8(19), from, from)
	e.VPMOVZXDQ(from, index)
	e.VPSLLD(operand.U8(23), power, from)
	e.VPSUBD(from, x, from)
	r := e.times(e.widen(from), e.entry(e.inverse, index, 16))
	r = e.minus(r, e.quadFloat(1))
	whole := e.vec()
	e.VCVTDQ2PD(power, whole)
	whole = e.plus(whole, e.entry(e.log, index, 16))
	const c = 1 / math.Ln2
	square := e.times(r, r)
	high := e.plus(e.line(c/5, -c/6, r), e.times(square, e.line(c/7, -c/8, r)))
	low := e.plus(e.line(c/3, -c/4, r), e.times(square, high))
	rest := e.times(square, e.plus(e.times(r, low), e.quadFloat(-c/2)))
	return e.plus(whole, e.plus(e.times(r, e.quadFloat(c)), rest))
}

// exp2Within is the function of that name.
func (e *powEmitter) exp2Within(x vec) vec {
	k := e.line(powHalf, powSteps, x)
	r := e.times(e.minus(k, e.quadFloat(powHalf)), e.quadFloat(1./powSteps))
	r = e.times(e.minus(x, r), e.quadFloat(math.Ln2))
	scale := e.shiftRight(k, 5)
	e.VPSLLQ(operand.U8(52), scale, scale)
	e.VPADDQ(e.entry(e.exp2, k, powSteps), scale, scale)
	square := e.times(r, r)
	p := e.plus(e.line(1./2, 1./6, r), e.times(square, e.line(1./24, 1./120, r)))
	p = e.plus(r, e.times(square, p))
	return e.plus(scale, e.times(scale, p))
}

// entry looks up a table of 16 or 32 numbers at the low bits of each lane.
func (e *powEmitter) entry(table reg.Register, index vec, n int) vec {
	if e.isa == avx512 {
		return e.permuted(table, index, n)
	}
	all, r := e.vec(), e.vec()
	low := e.and(index, e.quad(uint64(n-1)))
	e.VPCMPEQQ(all, all, all)
	e.VGATHERQPD(all, operand.Mem{Base: table, Index: low, Scale: 8}, r)
	return r
}

// permuted chooses among registers: two of a half of the table each, by the lowest four bits,
// and then by the fifth.
func (e *powEmitter) permuted(table reg.Register, index vec, n int) vec {
	var half [2]vec
	for i := range n / 16 {
		half[i] = e.copyOf(index)
		low := e.copyOf(operand.Mem{Base: table, Disp: 128 * i})
		e.VPERMI2PD(operand.Mem{Base: table, Disp: 128*i + 64}, low, half[i])
	}
	if n == 16 {
		return half[0]
	}
	k := e.K()
	e.VPTESTMQ(e.quad(16), index, k)
	e.VMOVAPD(half[1], k, half[0])
	return half[0]
}
