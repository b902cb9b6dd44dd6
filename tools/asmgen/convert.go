package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// conversionStep is how many elements a step of a conversion takes.
const conversionStep = 16

// emitConversions writes the functions between float32 and other types of float.
func emitConversions(a *asm) {
	half, whole := a.YMM, a.ZMM
	if a.isa == avx2 {
		half, whole = a.XMM, a.YMM
	}
	emitConversion(a, "widen", "func(y *float64, x *float32, n int)", "sets y = x", 8, 4, a.lanes()/2, func(x, y operand.Mem) {
		r := whole()
		a.VCVTPS2PD(x, r)
		a.VMOVUPD(r, y)
	})
	emitConversion(a, "narrow", "func(y *float32, x *float64, n int)", "sets y = x, rounded", 4, 8, a.lanes()/2, func(x, y operand.Mem) {
		r, s := whole(), half()
		a.VMOVUPD(x, r)
		if a.isa == avx2 {
			a.VCVTPD2PSY(r, s)
		} else {
			a.VCVTPD2PS(r, s)
		}
		a.VMOVUPS(s, y)
	})
	emitHalves(a, half)
	emitInts(a)
}

// emitHalves writes the functions between float32 and floats of 16 bits; half makes the registers
// that as many of these fill as there are lanes.
func emitHalves(a *asm, half func() reg.VecVirtual) {
	const widens, narrows = "func(y *float32, x *uint16, n int)", "func(y *uint16, x *float32, n int)"
	emitConversion(a, "widenHalf", widens, "sets y = x", 4, 2, a.lanes(), func(x, y operand.Mem) {
		r := a.vec()
		a.VCVTPH2PS(x, r)
		a.VMOVUPS(r, y)
	})
	emitConversion(a, "narrowHalf", narrows, "sets y = x, rounded", 2, 4, a.lanes(), func(x, y operand.Mem) {
		r := half()
		a.VCVTPS2PH(operand.U8(0), a.copyOf(x), r)
		a.VMOVDQU(r, y)
	})
	emitConversion(a, "widenBFloat", widens, "sets y = x", 4, 2, a.lanes(), func(x, y operand.Mem) {
		r := a.vec()
		a.VPMOVZXWD(x, r)
		a.VPSLLD(operand.U8(16), r, r)
		a.VMOVUPS(r, y)
	})
	emitNarrowBFloat(a)
}

// emitConversion writes a function that converts elements of so many bytes from others, f a vector
// of so many lanes.
func emitConversion(a *asm, name, signature, doc string, to, from, lanes int, f func(x, y operand.Mem)) {
	beginConversion(a, name, signature, doc)
	conversionLoop(a, to, from, lanes, f)
}

func beginConversion(a *asm, name, signature, doc string) {
	a.text(name+a.isa.suffix(), signature, name+a.isa.suffix()+" "+doc+", in whole steps: n must be a multiple of 16.")
}

func conversionLoop(a *asm, to, from, lanes int, f func(x, y operand.Mem)) {
	y, x, n := a.arg("y"), a.arg("x"), a.arg("n")
	a.Label("loop")
	a.CMPQ(n, operand.I32(conversionStep))
	a.JLT(operand.LabelRef("done"))
	for at := 0; at < conversionStep; at += lanes {
		f(operand.Mem{Base: x, Disp: at * from}, operand.Mem{Base: y, Disp: at * to})
	}
	a.ADDQ(operand.I32(int32(conversionStep*from)), x)
	a.ADDQ(operand.I32(int32(conversionStep*to)), y)
	a.SUBQ(operand.I32(conversionStep), n)
	a.JMP(operand.LabelRef("loop"))
	a.Label("done")
	a.end()
}

// emitNarrowBFloat writes the function that rounds to the upper half of a float32: by half of the
// last place that stays, less 1 where that is even. A NaN, which that may carry into an infinity,
// becomes the one of its sign.
func emitNarrowBFloat(a *asm) {
	beginConversion(a, "narrowBFloat", "func(y *uint16, x *float32, n int)", "sets y = x, rounded")
	below, one, sign, nan := a.inReg(a.word(0x7fff)), a.inReg(a.word(1)), a.inReg(a.word(1<<31)), a.inReg(a.word(0x7fc00000))
	rounded := func(x vec) vec {
		odd, r := a.vec(), a.vec()
		a.VPSRLD(operand.U8(16), x, odd)
		odd = a.and(odd, one)
		a.VPADDD(below, x, r)
		a.VPADDD(odd, r, r)
		r = a.choose(a.compare(cmpUnordered, x, x), a.or(a.and(x, sign), nan), r)
		a.VPSRLD(operand.U8(16), r, r)
		return r
	}
	conversionLoop(a, 2, 4, conversionStep, func(x, y operand.Mem) {
		r := a.YMM()
		if a.isa == avx512 {
			a.VPMOVDW(rounded(a.copyOf(x)), r)
		} else {
			low, high := rounded(a.copyOf(x)), rounded(a.copyOf(x.Offset(32)))
			a.VPACKUSDW(high, low, r) // each half of the registers by itself
			a.VPERMQ(operand.U8(0b11011000), r, r)
		}
		a.VMOVDQU(r, y)
	})
}
