package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitPack writes the routines that bring tiles of float32 matrices into the
// order in which the micro-kernels read them.
func emitPack(a *asm) {
	a.isa = avx512
	for h := 1; h <= 16; h++ {
		packTransposed(a, h)
	}
	packCopied(a)
}

// packTransposed writes the routine that turns h rows into columns, 16
// columns at a time.
func packTransposed(a *asm, h int) {
	name := fmt.Sprintf("packRows%dAVX512", h)
	a.text(name, "func(k int, src *float32, lds int, dst *float32, ldd int)",
		fmt.Sprintf("%s sets dst[i·ldd+j] = src[j·lds+i] for i < k and j < %d; it writes 16 elements per i, and rows of dst up to the next multiple of 16.", name, h))
	k := a.arg("k")
	rows := a.rowPointers("src", "lds", h)
	dst, ldd := a.arg("dst"), a.arg("ldd")
	a.SHLQ(operand.U8(2), ldd)
	n := a.GP64()
	full := a.GP64()
	a.MOVQ(operand.U32(16), full)
	a.Label("loop")
	a.MOVQ(k, n)
	a.CMPQ(k, full)
	a.CMOVQGT(full, n)
	t := a.newTail(n)
	in := make([]vec, 16)
	for j := range h {
		in[j] = t.load(rows.at(j, 0))
	}
	for _, v := range a.transpose16(in) {
		a.VMOVUPS(v, operand.Mem{Base: dst})
		a.ADDQ(ldd, dst)
	}
	rows.advance(16)
	a.SUBQ(full, k)
	a.JG(operand.LabelRef("loop"))
	a.end()
}

// transpose16 transposes 16 registers of 16 float32; nil stands for zeros.
func (a *asm) transpose16(in []vec) []vec {
	zero := a.zero()
	for i := range in {
		if in[i] == nil {
			in[i] = zero
		}
	}
	return a.joinLanes(a.quads(a.pairs(in)))
}

// pairs interleaves neighbouring rows.
func (a *asm) pairs(in []vec) []vec {
	out := make([]vec, len(in))
	for i := range out {
		out[i] = a.ZMM()
		x, y := in[i&^1], in[i|1]
		if i%2 == 0 {
			a.VUNPCKLPS(y, x, out[i])
		} else {
			a.VUNPCKHPS(y, x, out[i])
		}
	}
	return out
}

// quads completes the transposition inside each 128-bit lane: register 4g+i
// holds column i of every lane for rows 4g to 4g+3.
func (a *asm) quads(t []vec) []vec {
	q := make([]vec, 16)
	for g := 0; g < 16; g += 4 {
		for i := range 4 {
			q[g+i] = a.ZMM()
			x, y := t[g+i/2], t[g+2+i/2]
			if i%2 == 0 {
				a.VUNPCKLPD(y, x, q[g+i])
			} else {
				a.VUNPCKHPD(y, x, q[g+i])
			}
		}
	}
	return q
}

// joinLanes brings the lanes of the four row groups together.
func (a *asm) joinLanes(q []vec) []vec {
	s := make([]vec, 16)
	for g := 0; g < 16; g += 8 {
		for i := range 4 {
			s[g+i], s[g+4+i] = a.ZMM(), a.ZMM()
			a.VSHUFF32X4(operand.U8(0x88), q[g+4+i], q[g+i], s[g+i])
			a.VSHUFF32X4(operand.U8(0xdd), q[g+4+i], q[g+i], s[g+4+i])
		}
	}
	o := make([]vec, 16)
	for i := range 8 {
		o[i], o[8+i] = a.ZMM(), a.ZMM()
		a.VSHUFF32X4(operand.U8(0x88), s[8+i], s[i], o[i])
		a.VSHUFF32X4(operand.U8(0xdd), s[8+i], s[i], o[8+i])
	}
	return o
}

// packCopied writes the routine that copies up to 16 neighbouring columns.
func packCopied(a *asm) {
	a.text("packColsAVX512", "func(k int, src *float32, lds int, dst *float32, ldd, width int)",
		"packColsAVX512 sets dst[i·ldd+j] = src[i·lds+j] for i < k and j < width <= 16; it writes 16 elements per i.")
	k := a.arg("k")
	src, lds := a.arg("src"), a.arg("lds")
	dst, ldd := a.arg("dst"), a.arg("ldd")
	t := a.newTail(a.arg("width"))
	a.SHLQ(operand.U8(2), lds)
	a.SHLQ(operand.U8(2), ldd)
	a.Label("loop")
	a.VMOVUPS(t.load(operand.Mem{Base: src}), operand.Mem{Base: dst})
	a.ADDQ(lds, src)
	a.ADDQ(ldd, dst)
	a.DECQ(k)
	a.JNZ(operand.LabelRef("loop"))
	a.end()
}

// rowPointers are registers that reach h rows: a base for every three rows,
// the others by way of the stride.
type rowPointers struct {
	a      *asm
	base   []reg.Register
	stride reg.Register
}

// rowPointers loads the address of the first of h rows and their distance in
// float32.
func (a *asm) rowPointers(base, stride string, h int) rowPointers {
	return a.rowPointersOf(base, stride, h, 2)
}

// rowPointersOf is rowPointers for elements of 1<<shift bytes.
func (a *asm) rowPointersOf(base, stride string, h int, shift uint8) rowPointers {
	p := rowPointers{a: a, base: []reg.Register{a.arg(base)}, stride: a.arg(stride)}
	a.SHLQ(operand.U8(shift), p.stride)
	for len(p.base)*3 < h {
		r := a.GP64()
		a.LEAQ(operand.Mem{Base: p.base[len(p.base)-1], Index: p.stride, Scale: 2}, r)
		a.ADDQ(p.stride, r)
		p.base = append(p.base, r)
	}
	return p
}

// at is the memory disp bytes into row j.
func (p rowPointers) at(j, disp int) operand.Mem {
	m := operand.Mem{Base: p.base[j/3], Disp: disp}
	if j%3 > 0 {
		m.Index, m.Scale = p.stride, uint8(j%3)
	}
	return m
}

// advance moves all rows by n float32.
func (p rowPointers) advance(n int) { p.advanceBytes(4 * n) }

func (p rowPointers) advanceBytes(n int) {
	for _, b := range p.base {
		p.a.ADDQ(operand.I32(int32(n)), b)
	}
}
