package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// columns describes a loop down the rows of a strip of columns. What belongs
// to the columns stays in registers.
type columns struct {
	name, doc string
	sums      []string // one number a column, that the loop adds to
	streams   []string // one number an element; the first of them is written if stores
	stores    bool
	given     []string // one number a column, that the loop reads
	// gated says that the first number of an element that is read counts as 0 but where the second
	// one, normalized, is greater than 0 and not as great as most.
	gated bool
	// kept says that sums go on from what they were; otherwise they begin with
	// 0 and are added in the end, which rounds less.
	kept bool
	vecs int // of a whole strip
	// body returns what is to be stored, given vectors of all.
	body func(a *asm, sums, in, given []vec) vec
}

// emitColumns writes all loops down columns.
func emitColumns(a *asm, i isa) {
	a.isa = i
	for _, c := range columnLoops(i) {
		c.emit(a)
	}
	for _, c := range gatedLoops(i) {
		c.emit(a)
	}
}

// gatedLoops are those for gradients of what a rectifier follows.
func gatedLoops(i isa) (out []columns) {
	for _, c := range columnLoops(i) {
		switch c.name {
		case "columnProducts":
			c.given = append(c.given, "factor", "offset")
		case "normGrad":
			c.given = append(c.given, "offset")
		default:
			continue
		}
		c.name, c.gated = c.name+"Gated", true
		c.doc += ", d being 0 but where 0 < (x-about)·factor + offset, and that is not as great as most"
		out = append(out, c)
	}
	return out
}

func columnLoops(i isa) []columns {
	few := 2 // vectors for which AVX2 has registers
	if i == avx512 {
		few = 4
	}
	return []columns{
		{name: "columnSums", doc: "adds rows of x to sum, one after the other", sums: []string{"sum"}, streams: []string{"x"}, kept: true, vecs: 4,
			body: func(a *asm, sums, in, _ []vec) vec {
				a.VADDPS(in[0], sums[0], sums[0])
				return nil
			}},
		{name: "columnMax", doc: "sets most to the maximum of it and the rows of x, one after the other", sums: []string{"most"}, streams: []string{"x"}, kept: true, vecs: 4,
			body: func(a *asm, sums, in, _ []vec) vec {
				a.extreme(orNaN(vmax), sums[0], in[0])
				return nil
			}},
		{name: "columnMin", doc: "sets least to the minimum of it and the rows of x, one after the other", sums: []string{"least"}, streams: []string{"x"}, kept: true, vecs: 4,
			body: func(a *asm, sums, in, _ []vec) vec {
				a.extreme(orNaN(vmin), sums[0], in[0])
				return nil
			}},
		{name: "columnMoments", doc: "adds x-about to sum and (x-about)² to squares", sums: []string{"sum", "squares"}, streams: []string{"x"}, given: []string{"about"}, vecs: few,
			body: func(a *asm, sums, in, given []vec) vec {
				d := vsub(a, in[0], given[0])
				a.VADDPS(d, sums[0], sums[0])
				a.VFMADD231PS(d, d, sums[1])
				return nil
			}},
		{name: "columnProducts", doc: "adds d to sum and d·(x-about) to products", sums: []string{"sum", "products"}, streams: []string{"d", "x"}, given: []string{"about"}, vecs: few,
			body: func(a *asm, sums, in, given []vec) vec {
				a.VADDPS(in[0], sums[0], sums[0])
				a.VFMADD231PS(vsub(a, in[1], given[0]), in[0], sums[1])
				return nil
			}},
		{name: "normalize", doc: "sets y = (x-about)·factor + shift", streams: []string{"y", "x"}, stores: true, given: []string{"about", "factor", "shift"}, vecs: few,
			body: func(a *asm, _, in, given []vec) vec {
				return vadd(a, vmul(a, vsub(a, in[0], given[0]), given[1]), given[2])
			}},
		{name: "normGrad", doc: "sets z = (d - shift - (x-about)·slope)·factor", streams: []string{"z", "d", "x"}, stores: true, given: []string{"about", "slope", "shift", "factor"}, vecs: few,
			body: func(a *asm, _, in, given []vec) vec {
				through := vmul(a, vsub(a, in[1], given[0]), given[1])
				return vmul(a, vsub(a, vsub(a, in[0], given[2]), through), given[3])
			}},
	}
}

func (c columns) signature() string {
	all := append(append(append([]string{}, c.sums...), c.streams...), c.given...)
	most := ""
	if c.gated {
		most = "most float32, "
	}
	return "func(" + strings.Join(all, ", ") + " *float32, " + most + "rows, stride, width int)"
}

// emit writes the function: whole strips, and narrower ones by masks.
func (c columns) emit(a *asm) {
	name := c.name + a.isa.suffix()
	a.text(name, c.signature(), fmt.Sprintf("%s %s, for rows that are stride apart and width columns, at most %d.", name, c.doc, c.vecs*a.lanes()))
	e := &columnEmitter{columns: c, asm: a, rows: a.arg("rows"), stride: a.arg("stride")}
	a.SHLQ(operand.U8(2), e.stride)
	width := a.arg("width")
	for _, s := range c.streams {
		e.ptr = append(e.ptr, a.arg(s))
	}
	a.CMPQ(width, operand.I32(int32(c.vecs*a.lanes())))
	a.JNE(operand.LabelRef("narrow"))
	e.strip("whole")
	a.end()
	a.Label("narrow")
	e.masks(width)
	e.strip("part")
	a.end()
}

// columnEmitter is such a loop being written.
type columnEmitter struct {
	columns
	*asm
	rows, stride reg.Register
	ptr          []reg.Register // of the streams
	mask         []operand.Op   // of vectors; nil for whole strips
	most, none   vec            // of gates
}

// masks makes a mask for every vector from the number of columns.
func (e *columnEmitter) masks(width reg.Register) {
	if e.isa == avx2 {
		p := e.GP64()
		e.LEAQ(e.static("columns", columnWords()), p)
		e.NEGQ(width)
		e.LEAQ(operand.Mem{Base: p, Index: width, Scale: 4, Disp: 4 * maskedColumns}, p)
		for v := range e.vecs {
			e.mask = append(e.mask, operand.Mem{Base: p, Disp: v * int(e.isa)})
		}
		return
	}
	bits := e.GP64()
	e.MOVQ(operand.I32(-1), bits)
	e.SHLXQ(width, bits, bits)
	e.NOTQ(bits)
	for range e.vecs {
		k := e.K()
		e.KMOVW(bits.As32(), k)
		e.mask = append(e.mask, k)
		e.SHRQ(operand.U8(e.lanes()), bits)
	}
}

// maskedColumns is the number of columns that the table of masks suffices for.
const maskedColumns = 32

// columnWords are the masks of AVX2: ones, then as many zeros.
func columnWords() []uint32 {
	w := make([]uint32, 2*maskedColumns)
	for i := range maskedColumns {
		w[i] = 0xffffffff
	}
	return w
}

// strip writes the loop down the rows.
func (e *columnEmitter) strip(label string) {
	given, sums := e.perColumn(e.given, true), e.perColumn(e.sums, e.kept)
	if e.gated {
		e.most, e.none = e.broadcast("most"), e.zero()
	}
	e.Label(label)
	for v := range e.vecs {
		e.vector(v, given[v], sums[v])
	}
	for _, p := range e.ptr {
		e.ADDQ(e.stride, p)
	}
	e.DECQ(e.rows)
	e.JNZ(operand.LabelRef(label))
	for i, s := range e.sums {
		p := e.arg(s)
		for v := range e.vecs {
			m := operand.Mem{Base: p, Disp: v * int(e.isa)}
			if !e.kept {
				e.VADDPS(e.load(m, v), sums[v][i], sums[v][i])
			}
			e.store(sums[v][i], m, v)
		}
	}
}

// perColumn loads what belongs to columns, by vector and name, or zeros.
func (e *columnEmitter) perColumn(names []string, load bool) [][]vec {
	out := make([][]vec, e.vecs)
	for _, n := range names {
		if !load {
			for v := range out {
				out[v] = append(out[v], e.zero())
			}
			continue
		}
		p := e.arg(n)
		for v := range out {
			out[v] = append(out[v], e.load(operand.Mem{Base: p, Disp: v * int(e.isa)}, v))
		}
	}
	return out
}

func (e *columnEmitter) vector(v int, given, sums []vec) {
	ptr, disp := e.ptr, v*int(e.isa)
	if e.stores {
		ptr = ptr[1:]
	}
	var in []vec
	for _, p := range ptr {
		in = append(in, e.load(operand.Mem{Base: p, Disp: disp}, v))
	}
	if e.gated {
		in[0] = e.gate(in[0], in[1], given)
	}
	if r := e.body(e.asm, sums, in, given); e.stores {
		e.store(r, operand.Mem{Base: e.ptr[0], Disp: disp}, v)
	}
}

// gate returns d where the loop of a rectifier would, which x was normalized for.
func (e *columnEmitter) gate(d, x vec, given []vec) vec {
	of := func(name string) vec { return given[slices.Index(e.given, name)] }
	y := vadd(e.asm, vmul(e.asm, vsub(e.asm, x, of("about")), of("factor")), of("offset"))
	return e.keep(e.compare(cmpNotGreaterEqual, y, e.most), e.keep(e.compare(cmpGreater, y, e.none), d))
}

func (e *columnEmitter) load(m operand.Mem, v int) vec {
	r := e.vec()
	switch {
	case e.mask == nil:
		e.VMOVUPS(m, r)
	case e.isa == avx2:
		e.VMASKMOVPS(m, e.copyOf(e.mask[v]), r)
	default:
		e.VMOVUPS_Z(m, e.mask[v], r)
	}
	return r
}

func (e *columnEmitter) store(x vec, m operand.Mem, v int) {
	switch {
	case e.mask == nil:
		e.VMOVUPS(x, m)
	case e.isa == avx2:
		e.VMASKMOVPS(x, e.copyOf(e.mask[v]), m)
	default:
		e.VMOVUPS(x, e.mask[v], m)
	}
}
