package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pixelsEmitter is the loop that makes new pixels of four old ones each, being written.
type pixelsEmitter struct {
	*asm
	z, x, y, places  reg.Register
	pixels, channels reg.Register
	v, w             vec             // weights of the rows
	at               [4]reg.Register // where the old pixels are, two of each row
	weight           [4]vec
	tail             tail // of the channels of a pixel
}

// placeSize is the size of a Place: four integers and four weights.
const placeSize = 48

func emitPixels(a *asm) {
	const sums = " sets pixels of z to v·(V·x[At]+W·x[Next]) + w·(VY·y[AtY]+WY·y[NextY]), each product and each sum rounded"
	e := newPixels(a, "blendPixels", sums+".")
	rest := a.GP64()
	e.MOVQ(e.channels, rest)
	e.ANDQ(operand.I32(int32(e.lanes()-1)), rest)
	e.tail = e.newTail(rest)
	e.loop(e.pixel)
	if a.isa != avx2 {
		return
	}
	a.isa = xmm // as large as short pixels: whole vectors take less time than parts
	defer func() { a.isa = avx2 }()
	e = newPixels(a, "blendShortPixels", sums+", as if all had four channels: the next one replaces what is too much.")
	step := a.GP64()
	e.MOVQ(e.channels, step)
	e.SHLQ(operand.U8(2), step)
	e.loop(func() {
		e.VMOVUPS(e.sum(func(m operand.Mem) vec { return e.copyOf(m) }), operand.Mem{Base: e.z})
		e.ADDQ(step, e.z)
	})
}

func newPixels(a *asm, name, doc string) *pixelsEmitter {
	name += max(a.isa, avx2).suffix()
	a.text(name, "func(z, x, y *float32, places *byte, pixels, channels int, v, w float32)", name+doc)
	e := &pixelsEmitter{asm: a, z: a.arg("z"), x: a.arg("x"), y: a.arg("y"), places: a.arg("places"), pixels: a.arg("pixels"), channels: a.arg("channels")}
	e.v, e.w = a.broadcast("v"), a.broadcast("w")
	return e
}

// loop writes the loop over pixels.
func (e *pixelsEmitter) loop(pixel func()) {
	e.Label("pixel")
	for i := range e.at {
		e.at[i], e.weight[i] = e.GP64(), e.vec()
		e.MOVQ(operand.Mem{Base: e.places, Disp: 8 * i}, e.at[i])
		e.VBROADCASTSS(operand.Mem{Base: e.places, Disp: 32 + 4*i}, e.weight[i])
	}
	pixel()
	e.ADDQ(operand.I32(placeSize), e.places)
	e.DECQ(e.pixels)
	e.JNZ(operand.LabelRef("pixel"))
	e.end()
}

// pixel writes what makes one new pixel.
func (e *pixelsEmitter) pixel() {
	n, lanes := e.GP64(), int32(e.lanes())
	e.MOVQ(e.channels, n)
	e.CMPQ(n, operand.I32(lanes))
	e.JLT(operand.LabelRef("rest"))
	e.Label("whole")
	e.VMOVUPS(e.sum(func(m operand.Mem) vec { return e.copyOf(m) }), operand.Mem{Base: e.z})
	e.ADDQ(operand.I32(4*lanes), e.z)
	for _, at := range e.at {
		e.ADDQ(operand.I32(lanes), at)
	}
	e.SUBQ(operand.I32(lanes), n)
	e.CMPQ(n, operand.I32(lanes))
	e.JGE(operand.LabelRef("whole"))
	e.Label("rest")
	e.TESTQ(n, n)
	e.JZ(operand.LabelRef("next"))
	e.tail.store(e.sum(e.tail.load), operand.Mem{Base: e.z})
	e.LEAQ(operand.Mem{Base: e.z, Index: n, Scale: 4}, e.z)
	e.Label("next")
}

// sum returns a vector of the new pixel.
func (e *pixelsEmitter) sum(load func(m operand.Mem) vec) vec {
	return e.blended(e.v, e.ofRow(e.x, 0, load), e.w, e.ofRow(e.y, 2, load))
}

// ofRow returns a vector of what the new pixel has of one old row, of two old pixels from i on.
func (e *pixelsEmitter) ofRow(row reg.Register, i int, load func(m operand.Mem) vec) vec {
	old := func(i int) vec { return load(operand.Mem{Base: row, Index: e.at[i], Scale: 4}) }
	return e.blended(e.weight[i], old(i), e.weight[i+1], old(i+1))
}

// blended returns v·x + w·y, no product of which is fused with the sum.
func (a *asm) blended(v, x, w, y vec) vec { return vadd(a, vmul(a, x, v), vmul(a, y, w)) }
