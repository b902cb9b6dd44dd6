package main

import (
	"strings"

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

// fftEmitter writes the loops of one size of numbers.
type fftEmitter struct {
	*asm
	elem int // the bytes of a number
}

// emitFFT writes the loops of transforms of 16 lines together, or of 8 in double precision.
func emitFFT(a *asm, i isa) {
	a.isa = i
	for _, elem := range []int{4, 8} {
		e := fftEmitter{a, elem}
		e.emitFour()
		for _, radix := range []int{2, 3, 5} {
			e.emitOdd(radix)
		}
		e.emitPairs("fftSplit", "turns the transforms of pairs of numbers into those of the numbers", false)
		e.emitPairs("fftJoin", "is the inverse of fftSplit, times scale, with the parts exchanged", true)
		e.emitSwap()
		e.emitTimes()
		e.emitTake()
		e.emitPut()
	}
	fftEmitter{a, 8}.emitTurn()
}

// begin begins a function, whose name and signature are those of single precision.
func (e fftEmitter) begin(name, signature, doc string) {
	if e.elem == 8 {
		name, signature = name+"Double", strings.ReplaceAll(signature, "float32", "float64")
	}
	name += e.isa.suffix()
	e.text(name, signature, name+" "+doc)
}

// of is an operation in either precision.
func (e fftEmitter) of(single, double func(ops ...operand.Op), y operand.Op, x vec) vec {
	r, f := e.vec(), single
	if e.elem == 8 {
		f = double
	}
	f(y, x, r)
	return r
}

func (e fftEmitter) add(x vec, y operand.Op) vec { return e.of(e.VADDPS, e.VADDPD, y, x) }
func (e fftEmitter) sub(x vec, y operand.Op) vec { return e.of(e.VSUBPS, e.VSUBPD, y, x) }
func (e fftEmitter) mul(x vec, y operand.Op) vec { return e.of(e.VMULPS, e.VMULPD, y, x) }

// madd returns x·y + z.
func (e fftEmitter) madd(x vec, y operand.Op, z vec) vec {
	if e.elem == 4 {
		return e.fma(x, y, z)
	}
	r := e.copyOf(z)
	e.VFMADD231PD(y, x, r)
	return r
}

// nmadd returns z - x·y.
func (e fftEmitter) nmadd(x vec, y operand.Op, z vec) vec {
	if e.elem == 4 {
		return e.fnma(x, y, z)
	}
	r := e.copyOf(z)
	e.VFNMADD231PD(y, x, r)
	return r
}

// spread loads a number into all lanes.
func (e fftEmitter) spread(m operand.Mem) vec {
	r := e.vec()
	if e.elem == 8 {
		e.VBROADCASTSD(m, r)
	} else {
		e.VBROADCASTSS(m, r)
	}
	return r
}

// argument is an argument in all lanes.
func (e fftEmitter) argument(name string) vec {
	if e.elem == 8 {
		return e.broadcast64(name)
	}
	return e.broadcast(name)
}

// emitFour writes the pass of radix 4.
func (e fftEmitter) emitFour() {
	e.begin("fft4", "func(y, x *float32, n, stride int, w *float32)", "does a pass of radix 4 over n groups of stride elements; each group has three roots of w.")
	y, x, n, stride, w := e.arg("y"), e.arg("x"), e.arg("n"), e.arg("stride"), e.arg("w")
	far, far3, step, step3, q := e.GP64(), e.GP64(), e.GP64(), e.GP64(), e.GP64()
	e.MOVQ(stride, step)
	e.SHLQ(operand.U8(7), step)
	e.MOVQ(step, far)
	e.IMULQ(n, far)
	e.LEAQ(operand.Mem{Base: far, Index: far, Scale: 2}, far3)
	e.LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, step3)
	e.Label("group")
	roots := e.roots(w, 3)
	e.MOVQ(stride, q)
	e.Label("element")
	for h := 0; h < fftImag; h += int(e.isa) {
		in := e.atFour(x, far, far3, h)
		for u, v := range e.butterfly(in, roots) {
			e.storeComplex(v, e.four(y, step, step3, u, h))
		}
	}
	e.ADDQ(operand.U8(64), x)
	e.ADDQ(operand.U8(64), x)
	e.ADDQ(operand.U8(64), y)
	e.ADDQ(operand.U8(64), y)
	e.DECQ(q)
	e.JNZ(operand.LabelRef("element"))
	e.ADDQ(step3, y)
	e.ADDQ(operand.U8(6*e.elem), w)
	e.DECQ(n)
	e.JNZ(operand.LabelRef("group"))
	e.end()
}

// roots returns what gives root u: registers that are loaded now where there are
// plenty, else loads when it is used.
func (e fftEmitter) roots(w reg.Register, n int) func(u int) complexVec {
	load := func(u int) complexVec {
		at := 2 * e.elem * u
		return complexVec{e.spread(operand.Mem{Base: w, Disp: at}), e.spread(operand.Mem{Base: w, Disp: at + e.elem})}
	}
	if e.isa == avx2 {
		return load
	}
	loaded := make([]complexVec, n)
	for u := range loaded {
		loaded[u] = load(u)
	}
	return func(u int) complexVec { return loaded[u] }
}

// four is where element u of four is that are step apart.
func (e fftEmitter) four(p, step, step3 reg.Register, u, h int) operand.Mem {
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

func (e fftEmitter) atFour(p, step, step3 reg.Register, h int) (in [4]complexVec) {
	for u := range in {
		in[u] = e.loadComplex(e.four(p, step, step3, u, h))
	}
	return in
}

func (e fftEmitter) loadComplex(m operand.Mem) complexVec {
	im := m
	im.Disp += fftImag
	return complexVec{e.copyOf(m), e.copyOf(im)}
}

func (e fftEmitter) storeComplex(v complexVec, m operand.Mem) {
	e.VMOVUPS(v.re, m)
	m.Disp += fftImag
	e.VMOVUPS(v.im, m)
}

// butterfly transforms four elements and multiplies them by roots.
func (e fftEmitter) butterfly(in [4]complexVec, root func(u int) complexVec) [4]complexVec {
	sum, difference := e.plus(in[0], in[2]), e.minus(in[0], in[2])
	other, side := e.plus(in[1], in[3]), e.minus(in[1], in[3])
	side = complexVec{side.im, e.sub(e.zero(), side.re)}
	return [4]complexVec{
		e.plus(sum, other),
		e.times(e.plus(difference, side), root(0)),
		e.times(e.minus(sum, other), root(1)),
		e.times(e.minus(difference, side), root(2)),
	}
}

func (e fftEmitter) plus(x, y complexVec) complexVec {
	return complexVec{e.add(x.re, y.re), e.add(x.im, y.im)}
}

func (e fftEmitter) minus(x, y complexVec) complexVec {
	return complexVec{e.sub(x.re, y.re), e.sub(x.im, y.im)}
}

func (e fftEmitter) times(x, w complexVec) complexVec {
	return complexVec{e.nmadd(x.im, w.im, e.mul(x.re, w.re)), e.madd(x.re, w.im, e.mul(x.im, w.re))}
}

// emitPairs writes a loop over the elements k and n-k of lines, from 1 on.
func (e fftEmitter) emitPairs(name, doc string, join bool) {
	sign := "func(z *float32, n int, w *float32"
	if join {
		sign += ", scale float32"
	}
	e.begin(name, sign+")", doc+", for elements 1 to n-1.")
	low, high, w := e.arg("z"), e.arg("n"), e.arg("w")
	var factor vec
	if join {
		factor = e.argument("scale")
	} else {
		factor = e.copyOf(e.constant(0.5))
	}
	e.SHLQ(operand.U8(7), high)
	e.ADDQ(low, high)
	e.Label("pair")
	e.ADDQ(operand.U32(fftBlock), low)
	e.SUBQ(operand.U32(fftBlock), high)
	e.ADDQ(operand.U8(2*e.elem), w)
	e.CMPQ(low, high)
	e.JA(operand.LabelRef("end"))
	for h := 0; h < fftImag; h += int(e.isa) {
		l, u := operand.Mem{Base: low, Disp: h}, operand.Mem{Base: high, Disp: h}
		x, y := e.pair(e.loadComplex(l), e.loadComplex(u), e.roots(w, 1)(0), factor, join)
		e.storeComplex(x, l)
		e.storeComplex(y, u)
	}
	e.JMP(operand.LabelRef("pair"))
	e.Label("end")
	e.end()
}

// pair computes elements k and n-k.
func (e fftEmitter) pair(x, y, w complexVec, factor vec, join bool) (complexVec, complexVec) {
	even := complexVec{e.mul(e.add(x.re, y.re), factor), e.mul(e.sub(x.im, y.im), factor)}
	sum, difference := e.mul(e.add(x.im, y.im), factor), e.mul(e.sub(x.re, y.re), factor)
	if join {
		// times the conjugate root
		odd := complexVec{e.madd(sum, w.im, e.mul(difference, w.re)), e.nmadd(difference, w.im, e.mul(sum, w.re))}
		return complexVec{e.add(even.re, odd.im), e.sub(odd.re, even.im)}, complexVec{e.sub(even.re, odd.im), e.add(odd.re, even.im)}
	}
	odd := e.times(complexVec{sum, e.sub(e.zero(), difference)}, w)
	return e.plus(even, odd), complexVec{e.sub(even.re, odd.re), e.sub(odd.im, even.im)}
}
