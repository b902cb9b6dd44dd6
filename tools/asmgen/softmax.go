package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// softmaxEmitter is the function that computes rows of softmax, being written. Sums have the
// order of expShift. NaN needs no care: wherever the greatest element is lost to it, the sum is
// NaN, and so is the row.
type softmaxEmitter struct {
	*asm
	y, x, rows, n reg.Register
	most, sums    reg.Register
	lowest        operand.Op
	exp           *expConsts
}

func emitSoftmax(a *asm) {
	name := "softmaxRows" + a.isa.suffix()
	a.text(name, "func(y, x *float32, rows, n int, most, sums *float32)",
		name+" sets every row of n elements of y to e^(x-m) by the sum of these, where m is the greatest of x; most and sums, if not nil, to m and the sum of each row.")
	e := &softmaxEmitter{asm: a, y: a.arg("y"), x: a.arg("x"), rows: a.arg("rows"), n: a.arg("n"), most: a.arg("most"), sums: a.arg("sums")}
	e.lowest, e.exp = a.word(0xff800000), newExp(a)
	a.Label("row")
	shift := e.all(e.greatest())
	sum := e.exponentials(shift)
	e.keepSums(shift, sum)
	one := a.XMM()
	a.VMOVSS(a.repeated(0x3f800000, 1), one)
	a.VDIVSS(sum, one, one)
	e.scale(e.all(one))
	a.LEAQ(operand.Mem{Base: e.x, Index: e.n, Scale: 4}, e.x)
	a.LEAQ(operand.Mem{Base: e.y, Index: e.n, Scale: 4}, e.y)
	a.DECQ(e.rows)
	a.JNZ(operand.LabelRef("row"))
	a.end()
}

// keepSums stores what a row was divided by.
func (e *softmaxEmitter) keepSums(shift vec, sum reg.Register) {
	e.TESTQ(e.most, e.most)
	e.JZ(operand.LabelRef("not_kept"))
	e.VMOVSS(shift.AsX(), operand.Mem{Base: e.most})
	e.VMOVSS(sum, operand.Mem{Base: e.sums})
	e.ADDQ(operand.I32(4), e.most)
	e.ADDQ(operand.I32(4), e.sums)
	e.Label("not_kept")
}

// all repeats the first lane.
func (e *softmaxEmitter) all(x reg.Register) vec {
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
			v := e.exp.full(vsub(e.asm, e.copyOf(x), shift))
			e.VADDPS(v, acc[i], acc[i])
			e.VMOVUPS(v, y)
			return
		}
		v := e.exp.full(vsub(e.asm, t.load(x), shift))
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
	for u := 2; u > 0; u-- {
		name := label + []string{"", "_single", "_pair"}[u]
		step := operand.I32(int32(u * e.lanes()))
		e.CMPQ(left, step)
		e.JLT(operand.LabelRef("after_" + name))
		e.Label(name)
		for i := range u {
			f(i, at, nil)
		}
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
