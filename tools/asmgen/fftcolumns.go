package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitSwap writes the loop that makes inverse transforms of others.
func (e fftEmitter) emitSwap() {
	e.begin("fftSwap", "func(z *float32, n int, scale float32)", "exchanges the real and imaginary parts of n elements and scales them.")
	z, n, scale := e.arg("z"), e.arg("n"), e.argument("scale")
	e.Label("element")
	for h := 0; h < fftImag; h += int(e.isa) {
		re, im := operand.Mem{Base: z, Disp: h}, operand.Mem{Base: z, Disp: h + fftImag}
		x, y := e.mul(scale, re), e.mul(scale, im)
		e.VMOVUPS(y, re)
		e.VMOVUPS(x, im)
	}
	e.SUBQ(operand.I8(-fftBlock), z)
	e.DECQ(n)
	e.JNZ(operand.LabelRef("element"))
	e.end()
}

// emitTimes writes the loop of transforms that are convolutions.
func (e fftEmitter) emitTimes() {
	e.begin("fftTimes", "func(z *float32, n int, w *float32)", "exchanges the real and imaginary parts of n elements and multiplies each by a root of w.")
	z, n, w := e.arg("z"), e.arg("n"), e.arg("w")
	e.Label("element")
	root := e.roots(w, 1)(0)
	for h := 0; h < fftImag; h += int(e.isa) {
		m := operand.Mem{Base: z, Disp: h}
		x := e.loadComplex(m)
		e.storeComplex(e.times(complexVec{x.im, x.re}, root), m)
	}
	e.SUBQ(operand.I8(-fftBlock), z)
	e.ADDQ(operand.U8(2*e.elem), w)
	e.DECQ(n)
	e.JNZ(operand.LabelRef("element"))
	e.end()
}

// columnLoop is a loop over rows of complex numbers, some of which are lanes.
type columnLoop struct {
	fftEmitter
	row, z, n, apart, im reg.Register
	lanes                reg.Register // the mask of lanes, and
	pairs                []reg.Register
}

// columns begins the loop. The row begins at the first lane of the mask; the address is
// that of the first lane of all. Without masks all lanes are there.
func (e fftEmitter) columns() *columnLoop {
	l := &columnLoop{fftEmitter: e, row: e.arg("x"), z: e.arg("z"), n: e.arg("n"), apart: e.arg("apart"), im: e.arg("im")}
	log := map[int]uint8{4: 2, 8: 3}[e.elem]
	e.SHLQ(operand.U8(log), l.apart)
	if e.isa == avx2 {
		return l
	}
	lanes, pairs := e.arg("lanes"), e.arg("pairs")
	first := e.GP64()
	e.TZCNTQ(lanes, first)
	e.SHLQ(operand.U8(log+1), first)
	e.SUBQ(first, l.row)
	l.lanes = e.K()
	e.KMOVW(lanes.(reg.GPVirtual).As32(), l.lanes)
	for range 2 {
		k := e.K()
		e.KMOVW(pairs.(reg.GPVirtual).As32(), k)
		e.SHRQ(operand.U8(64/e.elem), pairs)
		l.pairs = append(l.pairs, k)
	}
	return l
}

// part is where the real or the imaginary parts of lanes are.
func (l *columnLoop) part(i, h int) operand.Mem {
	m := operand.Mem{Base: l.z, Disp: h}
	if i == 1 {
		m.Index, m.Scale = l.im, 1
	}
	return m
}

// next ends the loop.
func (l *columnLoop) next() {
	l.ADDQ(l.apart, l.row)
	l.SUBQ(operand.I8(-fftBlock), l.z)
	l.DECQ(l.n)
	l.JNZ(operand.LabelRef("row"))
	l.end()
}

// emitTake writes the loop that takes rows of complex numbers apart.
func (e fftEmitter) emitTake() {
	e.begin("fftTake", "func(z, x *float32, n, apart, im, lanes, pairs int)", "sets n elements, whose imaginary parts are im bytes away, to rows of x, which are so many numbers apart.")
	l := e.columns()
	if e.isa == avx2 {
		e.Label("row")
		for h := 0; h < fftImag; h += int(e.isa) {
			v := e.apart(e.copyOf(operand.Mem{Base: l.row, Disp: 2 * h}), e.copyOf(operand.Mem{Base: l.row, Disp: 2*h + int(e.isa)}))
			for i, r := range v {
				e.VPERMPD(operand.U8(0xd8), r, r)
				e.VMOVUPS(r, l.part(i, h))
			}
		}
		l.next()
		return
	}
	even, odd := e.copyOf(e.indices("even", func(i int) int { return 2 * i })), e.copyOf(e.indices("odd", func(i int) int { return 2*i + 1 }))
	e.Label("row")
	low, high := e.vec(), e.vec()
	e.masked(operand.Mem{Base: l.row}, low, l.pairs[0])
	e.masked(operand.Mem{Base: l.row, Disp: 64}, high, l.pairs[1])
	for i, index := range []vec{even, odd} {
		e.masked(e.permuted(low, high, index), l.part(i, 0), l.lanes)
	}
	l.next()
}

// emitPut writes the loop that puts rows of complex numbers together.
func (e fftEmitter) emitPut() {
	e.begin("fftPut", "func(x, z *float32, n, apart, im, lanes, pairs int, scale float32)", "is the inverse of fftTake, scaled.")
	l := e.columns()
	scale := e.argument("scale")
	if e.isa == avx2 {
		e.Label("row")
		for h := 0; h < fftImag; h += int(e.isa) {
			re, im := e.mul(scale, l.part(0, h)), e.mul(scale, l.part(1, h))
			e.VPERMPD(operand.U8(0xd8), re, re)
			e.VPERMPD(operand.U8(0xd8), im, im)
			e.VMOVUPS(e.of(e.VUNPCKLPS, e.VUNPCKLPD, im, re), operand.Mem{Base: l.row, Disp: 2 * h})
			e.VMOVUPS(e.of(e.VUNPCKHPS, e.VUNPCKHPD, im, re), operand.Mem{Base: l.row, Disp: 2*h + int(e.isa)})
		}
		l.next()
		return
	}
	half := 32 / e.elem
	merge := func(first int) func(i int) int { return func(i int) int { return first + i/2 + i%2*2*half } }
	first, second := e.copyOf(e.indices("low", merge(0))), e.copyOf(e.indices("high", merge(half)))
	e.Label("row")
	re, im := e.mul(scale, l.part(0, 0)), e.mul(scale, l.part(1, 0))
	for i, index := range []vec{first, second} {
		e.masked(e.permuted(re, im, index), operand.Mem{Base: l.row, Disp: 64 * i}, l.pairs[i])
	}
	l.next()
}

// apart returns the even and the odd numbers of two vectors, in the order of their
// halves.
func (e fftEmitter) apart(x, y vec) [2]vec {
	re, im := e.vec(), e.vec()
	if e.elem == 8 {
		e.VUNPCKLPD(y, x, re)
		e.VUNPCKHPD(y, x, im)
	} else {
		e.VSHUFPS(operand.U8(0x88), y, x, re)
		e.VSHUFPS(operand.U8(0xdd), y, x, im)
	}
	return [2]vec{re, im}
}

// indices is a constant for permuted.
func (e fftEmitter) indices(name string, f func(i int) int) operand.Mem {
	var words []uint32
	for i := range 64 / e.elem {
		words = append(words, uint32(f(i)))
		if e.elem == 8 {
			words = append(words, 0)
		}
	}
	return e.static(fmt.Sprintf("%s%d", name, e.elem), words)
}

// permuted returns elements of x and y, which follow those of x.
func (e fftEmitter) permuted(x, y, index vec) vec {
	r := e.copyOf(index)
	if e.elem == 8 {
		e.VPERMI2PD(y, x, r)
	} else {
		e.VPERMI2PS(y, x, r)
	}
	return r
}

// masked moves what a mask has; in registers the rest becomes 0.
func (e fftEmitter) masked(from, to operand.Op, mask reg.Register) {
	load := isMem(from)
	switch {
	case load && e.elem == 8:
		e.VMOVUPD_Z(from, mask, to)
	case load:
		e.VMOVUPS_Z(from, mask, to)
	case e.elem == 8:
		e.VMOVUPD(from, mask, to)
	default:
		e.VMOVUPS(from, mask, to)
	}
}

// emitTurn writes the transposition of eight lines in double precision.
func (e fftEmitter) emitTurn() {
	e.begin("fftTurn", "func(dst, src *float32, ldd, lds int)", "exchanges rows and columns of 8 times 8 numbers, which are ldd and lds apart.")
	from, to := e.rowPointersOf("src", "lds", 8, 3), e.rowPointersOf("dst", "ldd", 8, 3)
	if e.isa == avx2 {
		for r := 0; r < 8; r += 4 {
			for c := 0; c < 8; c += 4 {
				e.turnFour(from, to, r, c)
			}
		}
		e.end()
		return
	}
	var in [8]vec
	for i := range in {
		in[i] = e.copyOf(from.at(i, 0))
	}
	var out [8]vec
	for odd := range 2 {
		var p [4]vec
		for i := range p {
			p[i] = e.ofPair(in[2*i], in[2*i+1], odd)
		}
		for i := range 2 {
			select1 := uint8(0x88 + i*0x55)
			s, t := e.quarters(p[0], p[1], select1), e.quarters(p[2], p[3], select1)
			out[odd+2*i], out[odd+2*i+4] = e.quarters(s, t, 0x88), e.quarters(s, t, 0xdd)
		}
	}
	for i, v := range out {
		e.VMOVUPS(v, to.at(i, 0))
	}
	e.end()
}

// ofPair interleaves the even or odd numbers of two rows.
func (e fftEmitter) ofPair(x, y vec, odd int) vec {
	r := e.vec()
	if odd == 1 {
		e.VUNPCKHPD(y, x, r)
	} else {
		e.VUNPCKLPD(y, x, r)
	}
	return r
}

func (e fftEmitter) quarters(x, y vec, which uint8) vec {
	r := e.vec()
	e.VSHUFF64X2(operand.U8(which), y, x, r)
	return r
}

// turnFour transposes four rows from r on of four columns from c on.
func (e fftEmitter) turnFour(from, to rowPointers, r, c int) {
	var in [4]vec
	for i := range in {
		in[i] = e.copyOf(from.at(r+i, 8*c))
	}
	for odd := range 2 {
		x, y := e.ofPair(in[0], in[1], odd), e.ofPair(in[2], in[3], odd)
		for i := range 2 {
			v := e.vec()
			e.VPERM2F128(operand.U8(0x20+0x11*i), y, x, v)
			e.VMOVUPS(v, to.at(c+odd+2*i, 8*r))
		}
	}
}
