package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitGemm writes all micro-kernels of a shape.
func emitGemm(a *asm, g gemmShape) {
	a.isa, a.anywhere = g.isa, true
	for _, m := range micros {
		for h := 1; h <= m.height(g); h++ {
			k := &microEmitter{asm: a, micro: m, shape: g, h: h}
			k.emit()
		}
	}
	emitAddRows(a, g)
}

// microEmitter is a micro-kernel being written.
type microEmitter struct {
	*asm
	micro
	shape gemmShape
	h     int

	k, b, ldb, c, ldc reg.Register
	pb                reg.Register
	next, stepNext    reg.Register // rows of a panel of B that are fetched, and the way from one to the next
	soon              reg.Register // the row of B that is fetched
	packed            reg.Register // A packed, or transposed
	lda               reg.Register // of a transposed A
	rowsA             rowPointers  // A in rows
	masks             []operand.Op // K registers, or memory with AVX2
	acc               [][]vec
}

func (e *microEmitter) emit() {
	name := kernelName(e.micro, e.shape, e.h)
	e.text(name, e.signature(e.shape.elem.goType()), fmt.Sprintf("%s computes a tile of %d rows: %s.", name, e.h, e.doc))
	e.arguments()
	e.accumulators()
	if e.rows {
		// The pointers to the rows of A leave no registers for C.
		e.loop()
		e.tileC()
	} else {
		e.tileC()
		e.prefetchC()
		e.loop()
	}
	e.addC()
	e.storeC()
	e.end()
}

func (e *microEmitter) arguments() {
	e.k = e.arg("k")
	if e.rows {
		e.rowsA = e.rowPointersOf("a", "lda", e.h, uint8(e.shape.elem))
	} else {
		e.packed = e.arg("a")
	}
	if e.turned {
		e.lda = e.stride("lda")
	}
	e.b = e.arg("b")
	switch {
	case e.ahead:
		e.fetchNext(e.stride("ldn"))
	case e.beside:
		e.ldb = e.stride("ldb")
		e.fetchNext(e.copyOfGP(e.ldb))
	default:
		e.ldb = e.stride("ldb")
	}
	if e.packing {
		e.pb = e.arg("pb")
		e.fetchB()
	}
	if e.masked {
		e.loadMasks()
	}
}

// rowsAhead is the binary logarithm of how many rows of B are fetched before they are
// packed: their way from memory takes longer than as many steps.
const rowsAhead = 6

// fetchB prepares to fetch rows of B, which no other tile has read yet. They go to
// the second-level cache: with rows a multiple of 4096 bytes apart, all of them
// share one set of the first, which would lose them before they are read.
func (e *microEmitter) fetchB() {
	e.soon = e.GP64()
	e.MOVQ(e.ldb, e.soon)
	e.SHLQ(operand.U8(rowsAhead), e.soon)
	e.ADDQ(e.b, e.soon)
}

// fetchNext prepares to fetch a row of a panel of B in each round: those of one tile are as far
// apart as it takes steps in a round, so that other tiles fetch the rows between them. All rows at
// once would be more than the processor waits for at a time.
func (e *microEmitter) fetchNext(ldn reg.Register) {
	_, log := e.unroll()
	e.next, e.stepNext = e.arg("next"), ldn
	e.SHLQ(operand.U8(log), e.stepNext)
}

func (e *microEmitter) copyOfGP(r reg.Register) reg.Register {
	c := e.GP64()
	e.MOVQ(r, c)
	return c
}

// tileC loads where the tile of C lies.
func (e *microEmitter) tileC() {
	e.c = e.arg("c")
	e.ldc = e.stride("ldc")
}

// stride loads a distance in elements as bytes.
func (e *microEmitter) stride(name string) reg.Register {
	r := e.arg(name)
	e.SHLQ(operand.U8(e.shape.elem), r)
	return r
}

// loadMasks makes a mask per vector from the number of columns.
func (e *microEmitter) loadMasks() {
	w := e.arg("width")
	if e.isa == avx2 {
		e.masks = e.maskMemory(w)
		return
	}
	bits := e.GP64()
	e.MOVQ(operand.U32(1), bits)
	e.SHLXQ(w, bits, bits)
	e.DECQ(bits)
	for range e.vecs {
		k := e.K()
		e.KMOVW(bits.As32(), k)
		e.masks = append(e.masks, k)
		e.SHRQ(operand.U8(e.shape.lanes()), bits)
	}
}

// maskMemory finds the masks in the table of ones and zeros.
func (e *microEmitter) maskMemory(w reg.Register) []operand.Op {
	p := e.tailTable()
	scale := uint8(1) << e.shape.elem
	e.NEGQ(w)
	e.LEAQ(operand.Mem{Base: p, Index: w, Scale: scale, Disp: 64}, p)
	var m []operand.Op
	for v := range e.vecs {
		m = append(m, operand.Mem{Base: p, Disp: v * int(e.isa)})
	}
	return m
}

func (e *microEmitter) accumulators() {
	e.acc = make([][]vec, e.h)
	for i := range e.acc {
		for range e.vecs {
			e.acc[i] = append(e.acc[i], e.zero())
		}
	}
}

// prefetchC asks for the tile of C, into the second-level cache: with rows a
// multiple of 4096 bytes apart, all of them share one set of the first.
func (e *microEmitter) prefetchC() {
	p := e.GP64()
	e.MOVQ(e.c, p)
	for i := range e.h {
		e.PREFETCHT1(operand.Mem{Base: p})
		if e.vecs == 2 && !e.masked {
			e.PREFETCHT1(operand.Mem{Base: p, Disp: 2*int(e.isa) - 4})
		}
		if i < e.h-1 {
			e.ADDQ(e.ldc, p)
		}
	}
}

func (e *microEmitter) loop() {
	unroll, log := e.unroll()
	rounds := e.GP64()
	e.MOVQ(e.k, rounds)
	e.SHRQ(operand.U8(log), rounds)
	e.JZ(operand.LabelRef("rest"))
	e.Label("round")
	e.prefetchAhead()
	for u := range unroll {
		e.step(u)
	}
	e.advance(unroll)
	e.DECQ(rounds)
	e.JNZ(operand.LabelRef("round"))
	e.Label("rest")
	e.ANDQ(operand.U8(uint8(unroll-1)), e.k)
	e.JZ(operand.LabelRef("done"))
	e.Label("one")
	e.step(0)
	e.advance(1)
	e.DECQ(e.k)
	e.JNZ(operand.LabelRef("one"))
	e.Label("done")
}

func (e *microEmitter) prefetchAhead() {
	if !e.rows && !e.turned {
		e.PREFETCHT0(operand.Mem{Base: e.packed, Disp: 512})
	}
	if e.next != nil {
		e.PREFETCHT1(operand.Mem{Base: e.next})
		e.PREFETCHT1(operand.Mem{Base: e.next, Disp: e.panelBytes() - 4})
		e.ADDQ(e.stepNext, e.next)
	}
}

// step adds the product of a column of A and a row of B, u steps after the
// position of the pointers.
func (e *microEmitter) step(u int) {
	if e.single {
		e.multiplyInPlace(u)
		return
	}
	bv := e.loadB(u)
	for i := range e.h {
		e.multiplyRow(e.elementA(u, i), bv, e.acc[i])
	}
	if e.turned {
		e.ADDQ(e.lda, e.packed)
	}
}

// multiplyInPlace is step for a row of A and vectors of B that are read where they are used:
// there are not enough registers for all.
func (e *microEmitter) multiplyInPlace(u int) {
	x := e.vec()
	e.broadcast1(e.elementA(u, 0), x)
	for v := range e.vecs {
		e.multiplyAddFrom(operand.Mem{Base: e.b, Disp: v * int(e.isa)}, x, e.acc[0][v])
	}
	e.ADDQ(e.ldb, e.b)
}

func (e *microEmitter) multiplyAddFrom(b operand.Mem, x, acc vec) {
	if e.shape.elem == f64 {
		e.VFMADD231PD(b, x, acc)
	} else {
		e.VFMADD231PS(b, x, acc)
	}
}

// panelBytes is the length of a row of a packed panel of B.
func (e *microEmitter) panelBytes() int { return 2 * int(e.isa) }

func (e *microEmitter) loadB(u int) []vec {
	bv := make([]vec, e.vecs)
	for v := range bv {
		disp := v * int(e.isa)
		if e.ahead {
			disp += u * e.panelBytes()
		}
		bv[v] = e.loadMasked(operand.Mem{Base: e.b, Disp: disp}, v)
	}
	if e.packing {
		e.PREFETCHT1(operand.Mem{Base: e.soon})
		e.PREFETCHT1(operand.Mem{Base: e.soon, Disp: e.panelBytes() - 4})
		e.ADDQ(e.ldb, e.soon)
		for v := range bv {
			e.VMOVUPS(bv[v], operand.Mem{Base: e.pb, Disp: u*e.panelBytes() + v*int(e.isa)})
		}
	}
	if e.fetchesNext() {
		e.PREFETCHT1(operand.Mem{Base: e.b, Disp: e.panelBytes()})
		e.PREFETCHT1(operand.Mem{Base: e.b, Disp: 2*e.panelBytes() - 4})
	}
	if !e.ahead {
		e.ADDQ(e.ldb, e.b)
	}
	return bv
}

// fetchesNext reports whether the panel of B beside the tile's is fetched: rows of B that come from
// beyond the second-level cache, each in another page, take longer than few rows of C.
func (e *microEmitter) fetchesNext() bool {
	return e.rows && !e.masked && !e.beside && e.vecs == 2
}

// loadMasked loads vector v of a row of B or C.
func (e *microEmitter) loadMasked(m operand.Mem, v int) vec {
	r := e.vec()
	switch {
	case !e.masked:
		e.VMOVUPS(m, r)
	case e.isa == avx2:
		mask := e.copyOf(e.masks[v])
		e.VMASKMOVPS(m, mask, r)
	case e.shape.elem == f64:
		e.VMOVUPD_Z(m, e.masks[v], r)
	default:
		e.VMOVUPS_Z(m, e.masks[v], r)
	}
	return r
}

// elementA is the element of A of row i, u steps after the pointers.
func (e *microEmitter) elementA(u, i int) operand.Mem {
	if e.rows {
		return e.rowsA.at(i, u<<e.shape.elem)
	}
	if e.turned {
		u = 0 // the pointer has moved
	}
	return operand.Mem{Base: e.packed, Disp: (u*e.h + i) << e.shape.elem}
}

// multiplyRow adds the product of an element of A and a row of B to a row of
// the tile. An element that one vector alone needs is repeated by the
// multiplication: loads of their own would take longer than all of those.
func (e *microEmitter) multiplyRow(a operand.Mem, bv, acc []vec) {
	if len(bv) == 1 && e.isa == avx512 {
		if e.shape.elem == f64 {
			e.VFMADD231PD_BCST(a, bv[0], acc[0])
		} else {
			e.VFMADD231PS_BCST(a, bv[0], acc[0])
		}
		return
	}
	x := e.vec()
	e.broadcast1(a, x)
	for v := range bv {
		e.multiplyAdd(bv[v], x, acc[v])
	}
}

// broadcast1 loads one element into all lanes.
func (e *microEmitter) broadcast1(m operand.Mem, x vec) {
	if e.shape.elem == f64 {
		e.VBROADCASTSD(m, x)
	} else {
		e.VBROADCASTSS(m, x)
	}
}

func (e *microEmitter) multiplyAdd(b, x, acc vec) {
	if e.shape.elem == f64 {
		e.VFMADD231PD(b, x, acc)
	} else {
		e.VFMADD231PS(b, x, acc)
	}
}

// advance moves the pointers n steps; b has moved already unless it is packed, and so has a
// transposed A.
func (e *microEmitter) advance(n int) {
	switch {
	case e.rows:
		e.rowsA.advanceBytes(n << e.shape.elem)
	case !e.turned:
		e.ADDQ(operand.I32(int32(n*e.h<<e.shape.elem)), e.packed)
	}
	if e.packing {
		e.ADDQ(operand.I32(int32(n*e.panelBytes())), e.pb)
	}
	if e.ahead {
		e.ADDQ(operand.I32(int32(n*e.panelBytes())), e.b)
	}
}

// addC adds what C holds unless beta is 0.
func (e *microEmitter) addC() {
	beta := e.arg("beta")
	e.TESTQ(beta, beta)
	e.JZ(operand.LabelRef("store"))
	p := e.GP64()
	e.MOVQ(e.c, p)
	for i := range e.h {
		for v := range e.acc[i] {
			t := e.loadMasked(operand.Mem{Base: p, Disp: v * int(e.isa)}, v)
			e.add(t, e.acc[i][v])
		}
		if i < e.h-1 {
			e.ADDQ(e.ldc, p)
		}
	}
	e.Label("store")
}

func (e *microEmitter) add(t, acc vec) {
	if e.shape.elem == f64 {
		e.VADDPD(t, acc, acc)
	} else {
		e.VADDPS(t, acc, acc)
	}
}

func (e *microEmitter) storeC() {
	for i := range e.h {
		for v := range e.acc[i] {
			e.storeMasked(e.acc[i][v], operand.Mem{Base: e.c, Disp: v * int(e.isa)}, v)
		}
		if i < e.h-1 {
			e.ADDQ(e.ldc, e.c)
		}
	}
}

func (e *microEmitter) storeMasked(x vec, m operand.Mem, v int) {
	switch {
	case !e.masked:
		e.VMOVUPS(x, m)
	case e.isa == avx2:
		e.VMASKMOVPS(x, e.copyOf(e.masks[v]), m)
	case e.shape.elem == f64:
		e.VMOVUPD(x, e.masks[v], m)
	default:
		e.VMOVUPS(x, e.masks[v], m)
	}
}
