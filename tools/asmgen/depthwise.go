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
	for _, u := range slices.Compact([]int{unroll, 1}) {
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

// emitDepthwiseProducts writes the function that adds up the products of pixels.
func emitDepthwiseProducts(a *asm) {
	name := "depthwiseProducts" + a.isa.suffix()
	a.text(name, "func(dw, x, dy *float32, channels, count, xStep, dyStep int)",
		name+" adds to dw, by channel, the sums of the products of count pixels of x and dy, "+
			"which move by xStep and dyStep bytes.")
	x, dy, dw, xStep, dyStep := a.arg("x"), a.arg("dy"), a.arg("dw"), a.arg("xStep"), a.arg("dyStep")
	l := &channelLoop{asm: a, left: a.arg("channels"), ptrs: []reg.Register{x, dy, dw}}
	l.each(4, func(v vectors) {
		acc := make([]vec, v.n)
		for i := range acc {
			acc[i] = a.zero()
		}
		xp, dyp, count := a.GP64(), a.GP64(), a.arg("count")
		a.MOVQ(x, xp)
		a.MOVQ(dy, dyp)
		a.Label(v.name + "_pixels")
		for i := range acc {
			disp := i * int(a.isa)
			v.addProduct(operand.Mem{Base: xp, Disp: disp}, v.load(operand.Mem{Base: dyp, Disp: disp}), acc[i])
		}
		a.ADDQ(xStep, xp)
		a.ADDQ(dyStep, dyp)
		a.DECQ(count)
		a.JNZ(operand.LabelRef(v.name + "_pixels"))
		for i := range acc {
			m := operand.Mem{Base: dw, Disp: i * int(a.isa)}
			v.store(vadd(a, v.load(m), acc[i]), m)
		}
	})
	a.end()
}

// addProduct adds the product of memory and a register to acc.
func (v vectors) addProduct(m operand.Mem, y, acc vec) {
	if v.tail != nil {
		v.VFMADD231PS(v.load(m), y, acc)
		return
	}
	v.VFMADD231PS(m, y, acc)
}
