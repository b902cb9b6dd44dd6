package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// elemSize is the logarithm of the bytes of an element.
type elemSize uint8

const (
	f32 elemSize = 2
	f64 elemSize = 3
)

func (s elemSize) goType() string { return map[elemSize]string{f32: "float32", f64: "float64"}[s] }

// gemmShape is the instruction set and element type of a set of micro-kernels.
type gemmShape struct {
	isa  isa
	elem elemSize
}

// lanes is the number of elements of a vector.
func (g gemmShape) lanes() int { return int(g.isa) >> g.elem }

// height is the number of rows of the highest tile: its accumulators, two
// vectors a row, leave room for two vectors of B and one of A.
func (g gemmShape) height() int {
	if g.isa == avx2 {
		return 6
	}
	return 14
}

// suffix ends the names of the functions.
func (g gemmShape) suffix() string {
	return map[elemSize]string{f32: "F32", f64: "F64"}[g.elem] + g.isa.suffix()
}

// micro is one family of micro-kernels. All compute a tile of C, of h rows and
// one or two vectors, from h rows of A and as many columns of B.
type micro struct {
	name string
	doc  string
	vecs int
	// rows: A lies in rows that are lda apart. Otherwise it is packed, h
	// elements for every k.
	rows bool
	// masked: only the columns that mask marks exist.
	masked bool
	// packing: B is copied to pb for the tiles that follow.
	packing bool
	// ahead: B is packed, and the memory at next is fetched for the tiles
	// that follow.
	ahead bool
}

// micros lists the families.
var micros = []micro{
	{name: "rowsFull", doc: "A in rows, two vectors of columns", vecs: 2, rows: true},
	{name: "rowsEdge", doc: "A in rows, up to two vectors of columns", vecs: 2, rows: true, masked: true},
	{name: "rowsHalf", doc: "A in rows, up to one vector of columns", vecs: 1, rows: true, masked: true},
	{name: "packEdge", doc: "A packed, up to two vectors of columns", vecs: 2, masked: true},
	{name: "packHalf", doc: "A packed, up to one vector of columns", vecs: 1, masked: true},
	{name: "packFirst", doc: "A packed, two vectors of columns that are copied to pb", vecs: 2, packing: true},
	{name: "packFull", doc: "A packed, B packed; next is fetched into the second-level cache", vecs: 2, ahead: true},
}

// args lists the parameters beyond those all families share.
func (m micro) signature(t string) string {
	a := "a *" + t
	if m.rows {
		a = "a *" + t + ", lda int"
	}
	b := "b *" + t + ", ldb int"
	switch {
	case m.packing:
		b += ", pb *" + t
	case m.ahead:
		b = "b, next *" + t
	}
	s := fmt.Sprintf("func(k int, %s, %s, c *%s, ldc int, beta int", a, b, t)
	if m.masked {
		s += ", width int"
	}
	return s + ")"
}

// emitGemm writes all micro-kernels of a shape.
func emitGemm(a *asm, g gemmShape) {
	a.isa = g.isa
	for _, m := range micros {
		for h := 1; h <= g.height(); h++ {
			k := &microEmitter{asm: a, micro: m, shape: g, h: h}
			k.emit()
		}
	}
}

// microEmitter is a micro-kernel being written.
type microEmitter struct {
	*asm
	micro
	shape gemmShape
	h     int

	k, b, ldb, c, ldc reg.Register
	pb, next          reg.Register
	packed            reg.Register // A packed
	rowsA             rowPointers  // A in rows
	masks             []operand.Op // K registers, or memory with AVX2
	acc               [][]vec
}

// kernelName names the kernel of a family for tiles of h rows.
func kernelName(m micro, g gemmShape, h int) string {
	return fmt.Sprintf("%s%d%s", m.name, h, g.suffix())
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
	e.b = e.arg("b")
	if e.ahead {
		e.next = e.arg("next")
	} else {
		e.ldb = e.stride("ldb")
	}
	if e.packing {
		e.pb = e.arg("pb")
	}
	if e.masked {
		e.loadMasks()
	}
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

// unroll returns the number of steps of k per round and its logarithm. The
// kernels for edges are many and rarely run: they are kept small.
func (m micro) unroll() (n int, log uint8) {
	if m.masked {
		return 2, 1
	}
	return 4, 2
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
	if !e.rows {
		e.PREFETCHT0(operand.Mem{Base: e.packed, Disp: 512})
	}
	if e.ahead {
		e.PREFETCHT1(operand.Mem{Base: e.next})
		e.ADDQ(operand.U8(64), e.next)
	}
}

// step adds the product of a column of A and a row of B, u steps after the
// position of the pointers.
func (e *microEmitter) step(u int) {
	bv := e.loadB(u)
	for i := range e.h {
		x := e.vec()
		e.broadcastA(u, i, x)
		for v := range bv {
			e.multiplyAdd(bv[v], x, e.acc[i][v])
		}
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
		e.PREFETCHT0(operand.Mem{Base: e.b, Index: e.ldb, Scale: 8})
		e.PREFETCHT0(operand.Mem{Base: e.b, Index: e.ldb, Scale: 8, Disp: e.panelBytes() - 4})
		for v := range bv {
			e.VMOVUPS(bv[v], operand.Mem{Base: e.pb, Disp: u*e.panelBytes() + v*int(e.isa)})
		}
	}
	if !e.ahead {
		e.ADDQ(e.ldb, e.b)
	}
	return bv
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

func (e *microEmitter) broadcastA(u, i int, x vec) {
	disp := (u*e.h + i) << e.shape.elem
	m := operand.Mem{Base: e.packed, Disp: disp}
	if e.rows {
		m = e.rowsA.at(i, u<<e.shape.elem)
	}
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

// advance moves the pointers n steps; b has moved already unless it is packed.
func (e *microEmitter) advance(n int) {
	if e.rows {
		e.rowsA.advanceBytes(n << e.shape.elem)
	} else {
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
