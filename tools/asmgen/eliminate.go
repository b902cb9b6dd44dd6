package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitEliminate writes a step of the factorization of a few columns.
func emitEliminate(a *asm) {
	a.isa = avx512
	a.text("eliminateAVX512", "func(a *float64, n, stride int, pivot *float64, k int, divisor float64) int",
		"eliminateAVX512 divides element k of n rows of 8 elements by the divisor, adds as many times the pivot's elements after k, and returns the row whose element k+1 is the greatest.")
	row, n, stride, pivot, k := a.arg("a"), a.arg("n"), a.arg("stride"), a.Load(a.Param("pivot"), a.GP64()), a.arg("k")
	divisor := a.XMM()
	a.Load(a.Param("divisor"), divisor)
	a.SHLQ(operand.U8(3), stride)
	bits := a.GP64()
	at, after := a.maskOf(1, k.(reg.GPVirtual), bits), a.maskOf(0xfe, k.(reg.GPVirtual), bits)
	from, next := a.copyOf(operand.Mem{Base: pivot}), a.vec()
	a.LEAQ(operand.Mem{Base: k, Disp: 1}, bits)
	a.VPBROADCASTQ(bits, next)
	most, best, i := a.XMM(), a.GP64(), a.GP64()
	least, sign := a.copyOf(a.quadFloat(-1)), a.copyOf(a.quad(1<<63-1))
	a.VMOVAPS(least.AsX(), most)
	a.XORQ(best, best)
	a.XORQ(i, i)
	e := elimination{a, row, k, i, best, at, after, divisor, most, from, next, sign}
	a.Label("row")
	e.row()
	a.ADDQ(stride, row)
	a.INCQ(i)
	a.CMPQ(i, n)
	a.JLT(operand.LabelRef("row"))
	a.Store(best, a.ReturnIndex(0))
	a.end()
}

// elimination is the loop over rows.
type elimination struct {
	*asm
	at, k, i, best reg.Register
	here, after    reg.Register // masks of element k and of those after it
	divisor, most  vec
	from, next     vec // the pivot's elements, and which element is that after k
	sign           vec
}

// maskOf is the mask bits<<k of eight elements.
func (a *asm) maskOf(bits uint32, k, r reg.GPVirtual) reg.Register {
	a.MOVQ(operand.U32(bits), r)
	a.SHLXQ(k, r, r)
	a.ANDQ(operand.U32(0xff), r)
	m := a.K()
	a.KMOVW(r.As32(), m)
	return m
}

// row changes a row and compares its next element with the greatest so far.
func (e elimination) row() {
	x, by, v, y := e.XMM(), e.vec(), e.copyOf(operand.Mem{Base: e.at}), e.vec()
	e.VMOVSD(operand.Mem{Base: e.at, Index: e.k, Scale: 8}, x)
	e.VDIVSD(e.divisor, x, x)
	e.VBROADCASTSD(x, by)
	e.VFMADD231PD(e.from, by, e.after, v)
	e.VMOVUPD(by, e.here, v)
	e.VMOVUPS(v, operand.Mem{Base: e.at})
	e.VPERMPD(v, e.next, y)
	e.VANDPS(e.sign.AsX(), y.AsX(), x)
	e.VUCOMISD(e.most, x)
	e.JBE(operand.LabelRef("less"))
	e.VMOVAPS(x, e.most)
	e.MOVQ(e.i, e.best)
	e.Label("less")
}
