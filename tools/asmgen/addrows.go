package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// addedRows is how many rows of B are added to a row of C at a time at most: each is a
// stream of memory, and more than these are followed less well by what fetches ahead.
const addedRows = 4

// emitAddRows writes the functions that add rows of B, each times an element of A, to a
// row of C: for products of few rows, where B is read once and its rows one after the
// other.
func emitAddRows(a *asm, g gemmShape) {
	a.isa = g.isa
	for h := 1; h <= addedRows; h++ {
		e := &addRowsEmitter{asm: a, shape: g, h: h}
		e.emit()
	}
}

func addRowsName(g gemmShape, h int) string { return fmt.Sprintf("addRows%d%s", h, g.suffix()) }

// addRowsEmitter is such a function being written.
type addRowsEmitter struct {
	*asm
	shape gemmShape
	h     int

	y, b reg.Register
	x    []vec         // the elements of A
	rows []operand.Mem // where the rows of B begin
}

func (e *addRowsEmitter) emit() {
	t, name := e.shape.elem.goType(), addRowsName(e.shape, e.h)
	e.text(name, fmt.Sprintf("func(n int, x *%s, step int, b *%s, ldb int, y *%s)", t, t, t),
		fmt.Sprintf("%s adds %d rows of b, n elements long and ldb apart, to y, each times an element of x, which are step apart; n is a multiple of the lanes.", name, e.h))
	n := e.arg("n")
	e.elements()
	e.rowsOfB()
	e.y = e.arg("y")
	e.vectors("pair", n, 2)
	e.vectors("single", n, 1)
	e.end()
}

// elements loads those of A into all lanes.
func (e *addRowsEmitter) elements() {
	p, step := e.arg("x"), e.bytes("step")
	for i := range e.h {
		v := e.vec()
		if e.shape.elem == f64 {
			e.VBROADCASTSD(operand.Mem{Base: p}, v)
		} else {
			e.VBROADCASTSS(operand.Mem{Base: p}, v)
		}
		e.x = append(e.x, v)
		if i < e.h-1 {
			e.ADDQ(step, p)
		}
	}
}

// bytes loads a distance in elements as bytes.
func (e *addRowsEmitter) bytes(name string) reg.Register {
	r := e.arg(name)
	e.SHLQ(operand.U8(e.shape.elem), r)
	return r
}

func (e *addRowsEmitter) rowsOfB() {
	e.b = e.arg("b")
	ldb := e.bytes("ldb")
	e.rows = []operand.Mem{{Base: e.b}, {Base: e.b, Index: ldb, Scale: 1}, {Base: e.b, Index: ldb, Scale: 2}}[:min(e.h, 3)]
	if e.h == 4 {
		third := e.GP64()
		e.LEAQ(operand.Mem{Base: ldb, Index: ldb, Scale: 2}, third)
		e.rows = append(e.rows, operand.Mem{Base: e.b, Index: third, Scale: 1})
	}
}

// vectors writes the loop over u vectors at a time.
func (e *addRowsEmitter) vectors(label string, n reg.Register, u int) {
	after, columns := "after_"+label, int32(u*e.shape.lanes())
	e.CMPQ(n, operand.I32(columns))
	e.JLT(operand.LabelRef(after))
	e.Label(label)
	for i := range u {
		e.vector(i * int(e.isa))
	}
	e.ADDQ(operand.I32(int32(u*int(e.isa))), e.b)
	e.ADDQ(operand.I32(int32(u*int(e.isa))), e.y)
	e.SUBQ(operand.I32(columns), n)
	e.CMPQ(n, operand.I32(columns))
	e.JGE(operand.LabelRef(label))
	e.Label(after)
}

// vector adds, in the order of the rows, to the vector of y that lies disp bytes ahead.
func (e *addRowsEmitter) vector(disp int) {
	y := operand.Mem{Base: e.y, Disp: disp}
	sum := e.copyOf(y)
	for i, row := range e.rows {
		row.Disp = disp
		if e.shape.elem == f64 {
			e.VFMADD231PD(row, e.x[i], sum)
		} else {
			e.VFMADD231PS(row, e.x[i], sum)
		}
	}
	e.VMOVUPS(sum, y)
}
