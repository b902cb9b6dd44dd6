package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// softmaxEmitter is the function that computes rows of softmax, being written. Sums have the
// order of expShift. NaN needs no care: wherever the greatest element is lost to it, the sum is
// NaN, and so is the row.
//
// Short rows are computed a few at a time, each step of it for all of them: the processor is
// busy with the next row where it would wait for the greatest element or the sum of one.
type softmaxEmitter struct {
	*asm
	y, x, rows, n reg.Register
	most, sums    reg.Register
	atOnce        reg.Register // the greatest number of rows at a time
	count, row    reg.Register // how many rows there are at a time, and one of them
	kept          operand.Mem  // for each of them the greatest element, then the sum's inverse
	lowest        operand.Op
	exp           *expConsts
}

const (
	softmaxRowsAtOnce = 8
	// longestAtOnce bounds the elements of such rows, which stay in the first-level cache.
	longestAtOnce  = 512
	shortestTailed = 128
)

func emitSoftmax(a *asm) {
	name := "softmaxRows" + a.isa.suffix()
	a.text(name, "func(y, x *float32, rows, n int, most, sums *float32)",
		name+" sets every row of n elements of y to e^(x-m) by the sum of these, where m is the greatest of x; most and sums, if not nil, to m and the sum of each row.")
	e := &softmaxEmitter{
		asm: a, y: a.arg("y"), x: a.arg("x"), rows: a.arg("rows"), n: a.arg("n"), most: a.arg("most"), sums: a.arg("sums"),
		atOnce: a.GP64(), count: a.GP64(), row: a.GP64(), kept: a.AllocLocal(4 * softmaxRowsAtOnce),
	}
	e.lowest, e.exp = a.word(0xff800000), newExp(a)
	e.short(1)
	e.short(2)
	e.howMany()
	a.Label("rows")
	a.MOVQ(e.atOnce, e.count)
	a.CMPQ(e.rows, e.count)
	a.CMOVQLT(e.rows, e.count)
	e.each("greatest", []reg.Register{e.x}, func(kept operand.Mem) { a.VMOVSS(e.greatest(), kept) })
	e.back(e.x)
	e.each("exp", []reg.Register{e.x, e.y}, e.divided)
	e.back(e.y)
	e.each("scale", []reg.Register{e.y}, func(kept operand.Mem) { e.scale(e.all(kept)) })
	a.SUBQ(e.count, e.rows)
	a.JNZ(operand.LabelRef("rows"))
	a.Label("after")
	a.end()
}

// short writes a loop over rows of so many vectors, the last of which may be partial, if the
// rows are not longer. Nothing of a row is loaded that it stored: what is stored under a mask
// cannot be loaded again soon.
func (e *softmaxEmitter) short(vectors int) {
	name := []string{"", "short", "short_pair"}[vectors]
	e.CMPQ(e.n, operand.I32(int32(vectors*e.lanes())))
	e.JG(operand.LabelRef("after_" + name))
	left := e.GP64()
	e.LEAQ(operand.Mem{Base: e.n, Disp: -(vectors - 1) * e.lanes()}, left)
	t := e.newTail(left)
	e.Label(name)
	e.inRegisters(name, vectors, t)
	e.LEAQ(operand.Mem{Base: e.x, Index: e.n, Scale: 4}, e.x)
	e.LEAQ(operand.Mem{Base: e.y, Index: e.n, Scale: 4}, e.y)
	e.DECQ(e.rows)
	e.JNZ(operand.LabelRef(name))
	e.JMP(operand.LabelRef("after"))
	e.Label("after_" + name)
}

// inRegisters writes a row of so many vectors.
func (e *softmaxEmitter) inRegisters(name string, vectors int, t tail) {
	last := vectors - 1
	at := func(p reg.Register, i int) operand.Mem { return operand.Mem{Base: p, Disp: i * int(e.isa)} }
	x, y := []vec{t.load(at(e.x, last))}, make([]vec, vectors)
	most := e.choose(t.c, e.copyOf(x[0]), e.inReg(e.lowest))
	if last == 1 {
		x = []vec{e.copyOf(at(e.x, 0)), x[0]}
		most = vmax(e.asm, most, x[0])
	}
	shift := e.all(e.across(vmax, most))
	var each []func()
	for i := range x {
		each = append(each, func() { y[i] = e.exp.bounded(vsub(e.asm, x[i], shift)) })
	}
	e.abreast(each...)
	sum := e.copyOf(e.keep(t.c, y[last]))
	if last == 1 {
		sum = vadd(e.asm, sum, y[0])
	}
	total := e.across(vadd, sum)
	e.keepSums(name, shift, total)
	by := e.all(e.inverse(total))
	if last == 1 {
		e.VMOVUPS(vmul(e.asm, y[0], by), at(e.y, 0))
	}
	t.store(vmul(e.asm, y[last], by), at(e.y, last))
}

// howMany sets the number of rows that are computed at once. What is stored under a mask and
// then overlaps with the next row's store delays what loads it: rows with a tail take that only
// where they are long.
func (e *softmaxEmitter) howMany() {
	e.MOVQ(operand.U32(softmaxRowsAtOnce), e.atOnce)
	one := e.GP64()
	e.MOVQ(operand.U32(1), one)
	e.CMPQ(e.n, operand.I32(longestAtOnce))
	e.CMOVQGT(one, e.atOnce)
	e.TESTQ(operand.I32(int32(e.lanes()-1)), e.n)
	e.JZ(operand.LabelRef("no_tail"))
	if e.isa == avx2 {
		e.CMPQ(e.n, operand.I32(shortestTailed))
		e.CMOVQLT(one, e.atOnce)
	} else {
		e.MOVQ(one, e.atOnce)
	}
	e.Label("no_tail")
}

// each writes a loop over these rows, along which it moves pointers.
func (e *softmaxEmitter) each(label string, pointers []reg.Register, f func(kept operand.Mem)) {
	e.XORQ(e.row, e.row)
	e.Label(label + "_row")
	f(e.kept.Idx(e.row, 4))
	for _, p := range pointers {
		e.LEAQ(operand.Mem{Base: p, Index: e.n, Scale: 4}, p)
	}
	e.INCQ(e.row)
	e.CMPQ(e.row, e.count)
	e.JLT(operand.LabelRef(label + "_row"))
}

// back moves a pointer to the first of these rows again.
func (e *softmaxEmitter) back(p reg.Register) {
	bytes := e.GP64()
	e.MOVQ(e.count, bytes)
	e.IMULQ(e.n, bytes)
	e.SHLQ(operand.U8(2), bytes)
	e.SUBQ(bytes, p)
}

// divided stores the exponentials of a row, and what they are going to be multiplied by.
func (e *softmaxEmitter) divided(kept operand.Mem) {
	shift := e.all(kept)
	sum := e.exponentials(shift)
	e.keepSums("exp", shift, sum)
	e.VMOVSS(e.inverse(sum), kept)
}

func (e *softmaxEmitter) inverse(sum reg.Register) reg.Register {
	one := e.XMM()
	e.VMOVSS(e.repeated(0x3f800000, 1), one)
	e.VDIVSS(sum, one, one)
	return one
}

// keepSums stores what a row was divided by.
func (e *softmaxEmitter) keepSums(label string, shift vec, sum reg.Register) {
	e.TESTQ(e.most, e.most)
	e.JZ(operand.LabelRef(label + "_not_kept"))
	e.VMOVSS(shift.AsX(), operand.Mem{Base: e.most})
	e.VMOVSS(sum, operand.Mem{Base: e.sums})
	e.ADDQ(operand.I32(4), e.most)
	e.ADDQ(operand.I32(4), e.sums)
	e.Label(label + "_not_kept")
}

// all repeats a number.
func (e *softmaxEmitter) all(x operand.Op) vec {
	r := e.vec()
	e.VBROADCASTSS(x, r)
	return r
}

// greatest is the greatest element of a row.
func (e *softmaxEmitter) greatest() reg.Register {
	acc := []vec{e.copyOf(e.lowest), e.copyOf(e.lowest)}
	e.pass("greatest", func(i int, at reg.Register, t *tail) {
		m := operand.Mem{Base: e.x, Index: at, Scale: 4, Disp: i * int(e.isa)}
		if t != nil {
			e.extreme(vmax, acc[i], e.choose(t.c, t.load(m), e.inReg(e.lowest)))
			return
		}
		e.extreme(vmax, acc[i], e.copyOf(m))
	})
	return e.across(vmax, vmax(e.asm, acc[0], acc[1]))
}

// exponentials stores those of a row and returns their sum.
func (e *softmaxEmitter) exponentials(shift vec) reg.Register {
	acc := []vec{e.copyOf(e.zero()), e.copyOf(e.zero())}
	e.pass("exp", func(i int, at reg.Register, t *tail) {
		x := operand.Mem{Base: e.x, Index: at, Scale: 4, Disp: i * int(e.isa)}
		y := operand.Mem{Base: e.y, Index: at, Scale: 4, Disp: i * int(e.isa)}
		if t == nil {
			v := e.exp.bounded(vsub(e.asm, e.copyOf(x), shift))
			e.VADDPS(v, acc[i&1], acc[i&1])
			e.VMOVUPS(v, y)
			return
		}
		v := e.exp.bounded(vsub(e.asm, t.load(x), shift))
		e.VADDPS(e.keep(t.c, v), acc[1], acc[1])
		t.store(v, y)
	})
	return e.across(vadd, vadd(e.asm, acc[0], acc[1]))
}

// scale multiplies a row of y.
func (e *softmaxEmitter) scale(by vec) {
	e.pass("scale", func(i int, at reg.Register, t *tail) {
		y := operand.Mem{Base: e.y, Index: at, Scale: 4, Disp: i * int(e.isa)}
		if t == nil {
			e.VMOVUPS(vmul(e.asm, by, y), y)
			return
		}
		t.store(vmul(e.asm, t.load(y), by), y)
	})
}

// pass writes a loop over a row: f for vectors two at a time, for one, and for a tail.
func (e *softmaxEmitter) pass(label string, f func(i int, at reg.Register, t *tail)) {
	at, left := e.GP64(), e.GP64()
	e.XORQ(at, at)
	e.MOVQ(e.n, left)
	for u := 4; u > 0; u /= 2 {
		if u == 4 && (label != "exp" || e.isa == avx2) {
			continue
		}
		name := label + []string{"", "_single", "_pair", "", "_four"}[u]
		step := operand.I32(int32(u * e.lanes()))
		e.CMPQ(left, step)
		e.JLT(operand.LabelRef("after_" + name))
		e.Label(name)
		var vectors []func()
		for i := range u {
			vectors = append(vectors, func() { f(i, at, nil) })
		}
		e.abreast(vectors...)
		e.ADDQ(step, at)
		e.SUBQ(step, left)
		e.CMPQ(left, step)
		e.JGE(operand.LabelRef(name))
		e.Label("after_" + name)
	}
	e.TESTQ(left, left)
	e.JZ(operand.LabelRef("after_" + label))
	t := e.newTail(left)
	f(0, at, &t)
	e.Label("after_" + label)
}
