package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// convMicro is one family of micro-kernels for convolutions. They compute a
// tile of C as those of a product do, but the steps of k come in runs, each at
// places of its own in A and B: a row of a filter, or a line of windows. So
// images are multiplied where they lie and sums stay in registers.
type convMicro struct {
	micro
	// columns: A lies in columns that are lda apart, the h elements of one side
	// by side. Otherwise it lies in rows.
	columns bool
}

var convMicros = []convMicro{
	{micro: micro{name: "runsFull", doc: "A in rows, two vectors of columns", vecs: 2}},
	{micro: micro{name: "runsEdge", doc: "A in rows, up to two vectors of columns", vecs: 2, masked: true}},
	{micro: micro{name: "runsHalf", doc: "A in rows, up to one vector of columns", vecs: 1, masked: true}},
	{micro: micro{name: "sumsFull", doc: "A in columns, two vectors of columns", vecs: 2}, columns: true},
	{micro: micro{name: "sumsEdge", doc: "A in columns, up to two vectors of columns", vecs: 2, masked: true}, columns: true},
	{micro: micro{name: "sumsHalf", doc: "A in columns, up to one vector of columns", vecs: 1, masked: true}, columns: true},
}

// convSignature lists the parameters of all families: a width that is full is
// not looked at, and ahead only with that.
func convSignature(t string) string {
	return fmt.Sprintf("func(runs *int, a *%[1]s, lda int, b *%[1]s, ldb int, c *%[1]s, ldc int, beta int, bias *%[1]s, width, ahead int)", t)
}

// emitConv writes all micro-kernels of a shape.
func emitConv(a *asm, g gemmShape) {
	a.isa, a.anywhere = g.isa, true
	for _, m := range convMicros {
		for h := 1; h <= g.height(); h++ {
			k := &convEmitter{microEmitter: microEmitter{asm: a, micro: m.micro, shape: g, h: h}, columns: m.columns}
			k.emit()
		}
	}
}

// convEmitter is a micro-kernel being written.
type convEmitter struct {
	microEmitter
	columns bool
	lda     reg.Register
	ahead   reg.Register // the way from a row of B to what is fetched in its round; nil: nothing is
}

func (e *convEmitter) emit() {
	name := kernelName(e.micro, e.shape, e.h)
	e.text(name, convSignature(e.shape.elem.goType()), fmt.Sprintf("%s computes a tile of %d rows over runs: %s.", name, e.h, e.doc))
	e.lda, e.ldb = e.stride("lda"), e.stride("ldb")
	if e.masked {
		e.loadMasks()
	}
	e.accumulators()
	e.tileC()
	e.prefetchC()
	e.runs()
	e.tileC()
	e.addC()
	e.addBias()
	e.storeC()
	e.end()
}

// runs sums up all runs. Each is the distances of its A and B from the
// pointers, in bytes, and its length; one of length 0 ends them.
func (e *convEmitter) runs() {
	const runBytes = 24
	runs := e.arg("runs")
	bases := e.bases()
	if !e.columns && !e.masked {
		e.ahead = e.arg("ahead")
	}
	e.k, e.b = e.GP64(), e.GP64()
	rounds := e.GP64()
	e.Label("run")
	e.Load(e.Param("a"), bases[0])
	e.ADDQ(operand.Mem{Base: runs}, bases[0])
	for i := 1; i < len(bases); i++ {
		e.LEAQ(operand.Mem{Base: bases[i-1], Index: e.lda, Scale: 2}, bases[i])
		e.ADDQ(e.lda, bases[i])
	}
	e.rowsA = rowPointers{a: e.asm, base: bases, stride: e.lda}
	e.Load(e.Param("b"), e.b)
	e.ADDQ(operand.Mem{Base: runs, Disp: 8}, e.b)
	e.MOVQ(operand.Mem{Base: runs, Disp: 16}, e.k)
	e.steps(rounds)
	e.ADDQ(operand.U8(runBytes), runs)
	e.CMPQ(operand.Mem{Base: runs, Disp: 16}, operand.U8(0))
	e.JNE(operand.LabelRef("run"))
}

// bases are registers for a pointer to every three rows of A, one alone for
// columns.
func (e *convEmitter) bases() []reg.Register {
	n := (e.h + 2) / 3
	if e.columns {
		n = 1
	}
	b := make([]reg.Register, n)
	for i := range b {
		b[i] = e.GP64()
	}
	return b
}

// steps sums up a run of k steps.
func (e *convEmitter) steps(rounds reg.Register) {
	const unroll, log = 4, 2
	e.MOVQ(e.k, rounds)
	e.SHRQ(operand.U8(log), rounds)
	e.JZ(operand.LabelRef("rest"))
	e.Label("round")
	if e.ahead != nil {
		e.PREFETCHT1(operand.Mem{Base: e.b, Index: e.ahead, Scale: 1})
		e.PREFETCHT1(operand.Mem{Base: e.b, Index: e.ahead, Scale: 1, Disp: e.panelBytes() - 4})
	}
	for u := range unroll {
		e.step(u)
	}
	if !e.columns {
		e.rowsA.advanceBytes(unroll << e.shape.elem)
	}
	e.DECQ(rounds)
	e.JNZ(operand.LabelRef("round"))
	e.Label("rest")
	e.ANDQ(operand.U8(unroll-1), e.k)
	e.JZ(operand.LabelRef("done"))
	e.Label("one")
	e.step(0)
	if !e.columns {
		e.rowsA.advanceBytes(1 << e.shape.elem)
	}
	e.DECQ(e.k)
	e.JNZ(operand.LabelRef("one"))
	e.Label("done")
}

// step adds the product of a column of A and a row of B.
func (e *convEmitter) step(u int) {
	bv := make([]vec, e.vecs)
	for v := range bv {
		bv[v] = e.loadMasked(operand.Mem{Base: e.b, Disp: v * int(e.isa)}, v)
	}
	e.ADDQ(e.ldb, e.b)
	for i := range e.h {
		e.multiplyRow(e.elementA(u, i), bv, e.acc[i])
	}
	if e.columns {
		e.ADDQ(e.lda, e.rowsA.base[0])
	}
}

// elementA is the element of A of row i, u steps after the pointers.
func (e *convEmitter) elementA(u, i int) operand.Mem {
	if e.columns {
		return operand.Mem{Base: e.rowsA.base[0], Disp: i << e.shape.elem}
	}
	return e.rowsA.at(i, u<<e.shape.elem)
}

// addBias adds a row to each, unless there is none.
func (e *convEmitter) addBias() {
	bias := e.arg("bias")
	e.TESTQ(bias, bias)
	e.JZ(operand.LabelRef("biased"))
	for v := range e.vecs {
		t := e.loadMasked(operand.Mem{Base: bias, Disp: v * int(e.isa)}, v)
		for i := range e.h {
			e.add(t, e.acc[i][v])
		}
	}
	e.Label("biased")
}
