package main

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitDepthwise writes the loops of convolutions of each channel by itself.
func emitDepthwise(a *asm, i isa) {
	a.isa = i
	emitDepthwiseSums(a)
	emitDepthwiseProducts(a)
	emitDepthwiseTiles(a)
}

// channelLoop is a loop over the channels of a pixel being written.
type channelLoop struct {
	*asm
	left reg.Register // channels
	ptrs []reg.Register
}

// each writes the loop, unroll vectors, one, and a part of one at a time. The
// pointers move along.
func (l *channelLoop) each(unroll int, body func(v vectors)) {
	l.eachOf(slices.Compact([]int{unroll, 1}), body)
}

// eachOf is each with several numbers of vectors at a time, of which the last is one.
func (l *channelLoop) eachOf(unrolls []int, body func(v vectors)) {
	for _, u := range unrolls {
		l.whole(u, body)
	}
	l.TESTQ(l.left, l.left)
	l.JZ(operand.LabelRef("done"))
	t := l.newTail(l.left)
	body(vectors{asm: l.asm, n: 1, tail: &t, name: "tail"})
	l.Label("done")
}

func (l *channelLoop) whole(u int, body func(v vectors)) {
	label := fmt.Sprintf("vectors%d", u)
	step := int32(u * l.lanes())
	l.CMPQ(l.left, operand.I32(step))
	l.JLT(operand.LabelRef("after_" + label))
	l.Label(label)
	body(vectors{asm: l.asm, n: u, name: label})
	for _, p := range l.ptrs {
		l.ADDQ(operand.I32(4*step), p)
	}
	l.SUBQ(operand.I32(step), l.left)
	l.CMPQ(l.left, operand.I32(step))
	l.JGE(operand.LabelRef(label))
	l.Label("after_" + label)
}

// inMemory is an argument that stays where the caller has put it.
func (a *asm) inMemory(name string) operand.Mem {
	b, err := a.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// emitDepthwiseSums writes the function that adds up the products of the taps of windows.
func emitDepthwiseSums(a *asm) {
	name := "depthwiseSums" + a.isa.suffix()
	a.text(name, "func(y, x, w *float32, taps *int, n, channels, count, xStep, yStep int)",
		name+" sets count pixels of y, yStep bytes apart, to the sums of the products of n taps: "+
			"pairs of elements from x, which moves by xStep bytes, and elements from w.")
	x, y, w, taps, n := a.arg("x"), a.arg("y"), a.arg("w"), a.arg("taps"), a.arg("n")
	l := &channelLoop{asm: a, left: a.GP64()}
	for range 3 {
		l.ptrs = append(l.ptrs, a.GP64())
	}
	xc, yc, wc := l.ptrs[0], l.ptrs[1], l.ptrs[2]
	a.SHLQ(operand.U8(4), n) // the bytes of all taps
	a.Label("window")
	a.MOVQ(x, xc)
	a.MOVQ(y, yc)
	a.MOVQ(w, wc)
	a.MOVQ(a.inMemory("channels"), l.left)
	l.each(4, func(v vectors) {
		acc := make([]vec, v.n)
		for i := range acc {
			acc[i] = a.zero()
		}
		t, xo, wo := a.GP64(), a.GP64(), a.GP64()
		a.XORQ(t, t)
		a.Label(v.name + "_taps")
		a.MOVQ(operand.Mem{Base: taps, Index: t, Scale: 1}, xo)
		a.MOVQ(operand.Mem{Base: taps, Index: t, Scale: 1, Disp: 8}, wo)
		for i := range acc {
			disp := i * int(a.isa)
			weight := v.load(operand.Mem{Base: wc, Index: wo, Scale: 4, Disp: disp})
			v.addProduct(operand.Mem{Base: xc, Index: xo, Scale: 4, Disp: disp}, weight, acc[i])
		}
		a.ADDQ(operand.U8(16), t)
		a.CMPQ(t, n)
		a.JLT(operand.LabelRef(v.name + "_taps"))
		for i := range acc {
			v.store(acc[i], operand.Mem{Base: yc, Disp: i * int(a.isa)})
		}
	})
	a.ADDQ(a.inMemory("xStep"), x)
	a.ADDQ(a.inMemory("yStep"), y)
	a.DECQ(a.inMemory("count"))
	a.JNZ(operand.LabelRef("window"))
	a.end()
}

// The fields of productSteps in conv, in their order.
const (
	stepChannels = 8 * iota
	stepCount
	stepX
	stepDy
	stepLines
	stepXLine
	stepDyLine
	stepTap
	stepDw
)

// emitDepthwiseProducts writes the functions that add up the products of pixels, for one tap
// and for three side by side, which share what is loaded of dy.
func emitDepthwiseProducts(a *asm) {
	for _, taps := range []int{1, 3} {
		name := fmt.Sprintf("depthwiseProducts%d%s", taps, a.isa.suffix())
		a.text(name, "func(dw, x, dy *float32, steps *int)",
			fmt.Sprintf("%s adds to dw, by channel, the sums of the products of pixels of x and dy, for %d taps; steps are the fields of productSteps.", name, taps))
		p := &products{asm: a, taps: taps, steps: a.arg("steps"), x: a.arg("x"), dy: a.arg("dy"), dw: a.arg("dw")}
		p.xStep, p.dyStep = p.step(stepX), p.step(stepDy)
		if taps > 1 {
			p.tapStep = p.step(stepTap)
		}
		l := &channelLoop{asm: a, left: p.step(stepChannels), ptrs: []reg.Register{p.x, p.dy, p.dw}}
		l.eachOf([]int{4, 2, 1}, p.vectors)
		a.end()
	}
}

// products is the sum of products of pixels being written.
type products struct {
	*asm
	taps                   int
	steps, x, dy, dw       reg.Register
	xStep, dyStep, tapStep reg.Register
}

func (p *products) field(at int) operand.Mem { return operand.Mem{Base: p.steps, Disp: at} }

func (p *products) step(at int) reg.Register {
	r := p.GP64()
	p.MOVQ(p.field(at), r)
	return r
}

// at is a place beside p for a tap: taps are step bytes apart.
func (p *products) at(base, step reg.Register, tap, disp int) operand.Mem {
	m := operand.Mem{Base: base, Disp: disp}
	if tap > 0 {
		m.Index, m.Scale = step, uint8(tap)
	}
	return m
}

// vectors writes the sums of some vectors of channels over all pixels of all lines.
func (p *products) vectors(v vectors) {
	acc := make([]vec, v.n*p.taps)
	for i := range acc {
		acc[i] = p.zero()
	}
	xLine, dyLine, lines := p.GP64(), p.GP64(), p.step(stepLines)
	p.MOVQ(p.x, xLine)
	p.MOVQ(p.dy, dyLine)
	p.Label(v.name + "_lines")
	x, dy, count := p.GP64(), p.GP64(), p.step(stepCount)
	p.MOVQ(xLine, x)
	p.MOVQ(dyLine, dy)
	p.Label(v.name + "_pixels")
	for i := range v.n {
		g := v.load(operand.Mem{Base: dy, Disp: i * int(p.isa)})
		for tap := range p.taps {
			v.addProduct(p.at(x, p.tapStep, tap, i*int(p.isa)), g, acc[i*p.taps+tap])
		}
	}
	p.ADDQ(p.xStep, x)
	p.ADDQ(p.dyStep, dy)
	p.DECQ(count)
	p.JNZ(operand.LabelRef(v.name + "_pixels"))
	p.ADDQ(p.field(stepXLine), xLine)
	p.ADDQ(p.field(stepDyLine), dyLine)
	p.DECQ(lines)
	p.JNZ(operand.LabelRef(v.name + "_lines"))
	p.addTo(v, acc)
}

// addTo writes the addition of the sums to dw.
func (p *products) addTo(v vectors, acc []vec) {
	var dwStep reg.Register
	if p.taps > 1 {
		dwStep = p.step(stepDw)
	}
	for i := range v.n {
		for tap := range p.taps {
			m := p.at(p.dw, dwStep, tap, i*int(p.isa))
			v.store(vadd(p.asm, v.load(m), acc[i*p.taps+tap]), m)
		}
	}
}

// addProduct adds the product of memory and a register to acc.
func (v vectors) addProduct(m operand.Mem, y, acc vec) {
	if v.tail != nil {
		v.VFMADD231PS(v.load(m), y, acc)
		return
	}
	v.VFMADD231PS(m, y, acc)
}
