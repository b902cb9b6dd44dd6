package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fftBlock is the bytes of an element of 16 lines: their real parts, then their
// imaginary parts, which begin at fftImag.
const (
	fftBlock = 128
	fftImag  = 64
)

// complexVec is a vector of complex numbers, one a line.
type complexVec struct{ re, im vec }

// emitFFT writes the loops of transforms of 16 lines together.
func emitFFT(a *asm, i isa) {
	a.isa = i
	emitFour(a)
	emitOdd(a, 3)
	emitOdd(a, 5)
	emitPairs(a, "fftSplit", "turns the transforms of pairs of numbers into those of the numbers", false)
	emitPairs(a, "fftJoin", "is the inverse of fftSplit, times scale, with the parts exchanged", true)
}

// emitFour writes the pass of radix 4.
func emitFour(a *asm) {
	name := "fft4" + a.isa.suffix()
	a.text(name, "func(y, x *float32, n, stride int, w *float32)", name+" does a pass of radix 4 over n groups of stride elements; each group has three roots of w.")
	y, x, n, stride, w := a.arg("y"), a.arg("x"), a.arg("n"), a.arg("stride"), a.arg("w")
	far, far3, step, step3, q := a.GP64(), a.GP64(), a.GP64(), a.GP64(), a.GP64()
	a.MOVQ(stride, step)
	a.SHLQ(operand.U8(7), step)
	a.MOVQ(step, far)
	a.IMULQ(n, far)
	a.LEAQ(operand.Mem{Base: far, Index: far, Scale: 2}, far3)
	a.LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, step3)
	a.Label("group")
	roots := a.roots(w, 3)
	a.MOVQ(stride, q)
	a.Label("element")
	for h := 0; h < fftImag; h += int(a.isa) {
		in := a.atFour(x, far, far3, h)
		for u, v := range a.butterfly(in, roots) {
			a.storeComplex(v, a.four(y, step, step3, u, h))
		}
	}
	a.ADDQ(operand.U8(64), x)
	a.ADDQ(operand.U8(64), x)
	a.ADDQ(operand.U8(64), y)
	a.ADDQ(operand.U8(64), y)
	a.DECQ(q)
	a.JNZ(operand.LabelRef("element"))
	a.ADDQ(step3, y)
	a.ADDQ(operand.U8(24), w)
	a.DECQ(n)
	a.JNZ(operand.LabelRef("group"))
	a.end()
}

// roots returns what gives root u: registers that are loaded now where there are
// plenty, else loads when it is used.
func (a *asm) roots(w reg.Register, n int) func(u int) complexVec {
	load := func(u int) complexVec {
		re, im := a.vec(), a.vec()
		a.VBROADCASTSS(operand.Mem{Base: w, Disp: 8 * u}, re)
		a.VBROADCASTSS(operand.Mem{Base: w, Disp: 8*u + 4}, im)
		return complexVec{re, im}
	}
	if a.isa == avx2 {
		return load
	}
	loaded := make([]complexVec, n)
	for u := range loaded {
		loaded[u] = load(u)
	}
	return func(u int) complexVec { return loaded[u] }
}

// four is where element u of four is that are step apart.
func (a *asm) four(p, step, step3 reg.Register, u, h int) operand.Mem {
	switch u {
	case 1:
		return operand.Mem{Base: p, Index: step, Scale: 1, Disp: h}
	case 2:
		return operand.Mem{Base: p, Index: step, Scale: 2, Disp: h}
	case 3:
		return operand.Mem{Base: p, Index: step3, Scale: 1, Disp: h}
	}
	return operand.Mem{Base: p, Disp: h}
}

func (a *asm) atFour(p, step, step3 reg.Register, h int) (in [4]complexVec) {
	for u := range in {
		in[u] = a.loadComplex(a.four(p, step, step3, u, h))
	}
	return in
}

func (a *asm) loadComplex(m operand.Mem) complexVec {
	im := m
	im.Disp += fftImag
	return complexVec{a.copyOf(m), a.copyOf(im)}
}

func (a *asm) storeComplex(v complexVec, m operand.Mem) {
	a.VMOVUPS(v.re, m)
	m.Disp += fftImag
	a.VMOVUPS(v.im, m)
}

// butterfly transforms four elements and multiplies them by roots.
func (a *asm) butterfly(in [4]complexVec, root func(u int) complexVec) [4]complexVec {
	sum, difference := a.plus(in[0], in[2]), a.minus(in[0], in[2])
	other, side := a.plus(in[1], in[3]), a.minus(in[1], in[3])
	side = complexVec{side.im, vsub(a, a.zero(), side.re)}
	return [4]complexVec{
		a.plus(sum, other),
		a.times(a.plus(difference, side), root(0)),
		a.times(a.minus(sum, other), root(1)),
		a.times(a.minus(difference, side), root(2)),
	}
}

func (a *asm) plus(x, y complexVec) complexVec {
	return complexVec{vadd(a, x.re, y.re), vadd(a, x.im, y.im)}
}

func (a *asm) minus(x, y complexVec) complexVec {
	return complexVec{vsub(a, x.re, y.re), vsub(a, x.im, y.im)}
}

func (a *asm) times(x, w complexVec) complexVec {
	return complexVec{a.fnma(x.im, w.im, vmul(a, x.re, w.re)), a.fma(x.re, w.im, vmul(a, x.im, w.re))}
}

// emitPairs writes a loop over the elements k and n-k of lines, from 1 on.
func emitPairs(a *asm, name, doc string, join bool) {
	name += a.isa.suffix()
	sign := "func(z *float32, n int, w *float32"
	if join {
		sign += ", scale float32"
	}
	a.text(name, sign+")", name+" "+doc+", for elements 1 to n-1.")
	low, high, w := a.arg("z"), a.arg("n"), a.arg("w")
	var factor vec
	if join {
		factor = a.broadcast("scale")
	} else {
		factor = a.copyOf(a.repeated(0x3f000000, int(a.isa)/4)) // ½
	}
	a.SHLQ(operand.U8(7), high)
	a.ADDQ(low, high)
	a.Label("pair")
	a.ADDQ(operand.U32(fftBlock), low)
	a.SUBQ(operand.U32(fftBlock), high)
	a.ADDQ(operand.U8(8), w)
	a.CMPQ(low, high)
	a.JA(operand.LabelRef("end"))
	for h := 0; h < fftImag; h += int(a.isa) {
		l, u := operand.Mem{Base: low, Disp: h}, operand.Mem{Base: high, Disp: h}
		x, y := a.pair(a.loadComplex(l), a.loadComplex(u), a.roots(w, 1)(0), factor, join)
		a.storeComplex(x, l)
		a.storeComplex(y, u)
	}
	a.JMP(operand.LabelRef("pair"))
	a.Label("end")
	a.end()
}

// pair computes elements k and n-k.
func (a *asm) pair(x, y, w complexVec, factor vec, join bool) (complexVec, complexVec) {
	even := complexVec{vmul(a, vadd(a, x.re, y.re), factor), vmul(a, vsub(a, x.im, y.im), factor)}
	sum, difference := vmul(a, vadd(a, x.im, y.im), factor), vmul(a, vsub(a, x.re, y.re), factor)
	if join {
		// times the conjugate root
		odd := complexVec{a.fma(sum, w.im, vmul(a, difference, w.re)), a.fnma(difference, w.im, vmul(a, sum, w.re))}
		return complexVec{vadd(a, even.re, odd.im), vsub(a, odd.re, even.im)}, complexVec{vsub(a, even.re, odd.im), vadd(a, odd.re, even.im)}
	}
	odd := a.times(complexVec{sum, vsub(a, a.zero(), difference)}, w)
	return a.plus(even, odd), complexVec{vsub(a, even.re, odd.re), vsub(a, odd.im, even.im)}
}
