package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// cond is a truth value per lane: a vector of all ones or zeros with AVX2, a
// mask register with AVX-512.
type cond = reg.Register

// Predicates of VCMPPS; none of them signals.
const (
	cmpEqual           = 0x00
	cmpNotGreaterEqual = 0x19
	cmpUnordered       = 0x03
	cmpNotEqual        = 0x04
	cmpNotLess         = 0x15
	cmpNotLessEqual    = 0x16
	cmpLess            = 0x11
	cmpGreaterEqual    = 0x1d
	cmpGreater         = 0x1e
)

// compare returns where x p y holds.
func (a *asm) compare(p uint8, x reg.VecVirtual, y operand.Op) cond {
	if a.isa == avx2 {
		c := a.YMM()
		a.VCMPPS(operand.U8(p), y, x, c)
		return c
	}
	k := a.K()
	a.VCMPPS(operand.U8(p), y, x, k)
	return k
}

// choose returns yes where c holds and no elsewhere.
func (a *asm) choose(c cond, yes operand.Op, no reg.VecVirtual) reg.VecVirtual {
	if a.isa == avx2 {
		r := a.vec()
		a.VBLENDVPS(c, yes, no, r)
		return r
	}
	r := a.copyOf(no)
	a.VMOVUPS(yes, c, r)
	return r
}

// keep returns x where c holds and 0 elsewhere.
func (a *asm) keep(c cond, x reg.VecVirtual) reg.VecVirtual {
	r := a.vec()
	if a.isa == avx2 {
		a.VANDPS(c, x, r)
		return r
	}
	a.VMOVAPS_Z(x, c, r)
	return r
}

// and returns the bits that x and y share.
func (a *asm) and(x reg.VecVirtual, y operand.Op) reg.VecVirtual {
	r := a.vec()
	if a.isa == avx2 {
		a.VPAND(y, x, r)
	} else {
		a.VPANDD(y, x, r)
	}
	return r
}

// or returns the bits of both x and y.
func (a *asm) or(x reg.VecVirtual, y operand.Op) reg.VecVirtual {
	r := a.vec()
	if a.isa == avx2 {
		a.VPOR(y, x, r)
	} else {
		a.VPORD(y, x, r)
	}
	return r
}

// xor returns the bits that differ between x and y.
func (a *asm) xor(x reg.VecVirtual, y operand.Op) reg.VecVirtual {
	r := a.vec()
	if a.isa == avx2 {
		a.VPXOR(y, x, r)
	} else {
		a.VPXORD(y, x, r)
	}
	return r
}

// roundEven returns x rounded to the nearest integer.
func (a *asm) roundEven(x reg.VecVirtual) reg.VecVirtual {
	r := a.vec()
	if a.isa == avx2 {
		a.VROUNDPS(operand.U8(8), x, r)
	} else {
		a.VRNDSCALEPS(operand.U8(8), x, r)
	}
	return r
}

// tail is the mask of the last, partial vector of a loop.
type tail struct {
	a *asm
	c cond
}

// newTail returns the mask of the first n lanes.
func (a *asm) newTail(n reg.Register) tail {
	if a.isa == avx2 {
		return tail{a, a.tailVector(n)}
	}
	one := a.GP64()
	a.MOVQ(operand.U32(1), one)
	a.SHLXQ(n, one, one)
	a.DECQ(one)
	k := a.K()
	a.KMOVW(one.As32(), k)
	return tail{a, k}
}

// tailVector reads the mask from a table: ones, then zeros.
func (a *asm) tailVector(n reg.Register) reg.VecVirtual {
	p, i := a.tailTable(), a.GP64()
	a.MOVQ(n, i)
	a.NEGQ(i)
	v := a.YMM()
	a.VMOVUPS(operand.Mem{Base: p, Index: i, Scale: 4, Disp: 64}, v)
	return v
}

// tailTable returns the address of 64 bytes of ones and as many of zeros.
func (a *asm) tailTable() reg.GPVirtual {
	words := make([]uint32, 32)
	for i := range 16 {
		words[i] = 0xffffffff
	}
	p := a.GP64()
	a.LEAQ(a.static("tail", words), p)
	return p
}

// load reads the lanes of the tail and zeros the others.
func (t tail) load(m operand.Mem) reg.VecVirtual {
	r := t.a.vec()
	if t.a.isa == avx2 {
		t.a.VMASKMOVPS(m, t.c, r)
	} else {
		t.a.VMOVUPS_Z(m, t.c, r)
	}
	return r
}

// store writes the lanes of the tail only.
func (t tail) store(v reg.VecVirtual, m operand.Mem) {
	if t.a.isa == avx2 {
		t.a.VMASKMOVPS(v, t.c, m)
	} else {
		t.a.VMOVUPS(v, t.c, m)
	}
}
