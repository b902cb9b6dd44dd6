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
	v, w             vec          // weights of the rows
	atV, atW         vec          // weights of the pixels within a row
	at, next         reg.Register // places of the old pixels
}

// placeSize is the size of a Place: two integers and two weights.
const placeSize = 24

func emitPixels(a *asm) {
	name := "blendPixels" + a.isa.suffix()
	a.text(name, "func(z, x, y *float32, places *byte, pixels, channels int, v, w float32)",
		name+" sets pixels of z to v·(V·x[At]+W·x[Next]) + w·(V·y[At]+W·y[Next]), each product and each sum rounded.")
	e := &pixelsEmitter{asm: a, z: a.arg("z"), x: a.arg("x"), y: a.arg("y"), places: a.arg("places"), pixels: a.arg("pixels"), channels: a.arg("channels")}
	e.v, e.w = a.broadcast("v"), a.broadcast("w")
	e.Label("pixel")
	e.pixel()
	e.ADDQ(operand.I32(placeSize), e.places)
	e.DECQ(e.pixels)
	e.JNZ(operand.LabelRef("pixel"))
	e.end()
}

// pixel writes what makes one new pixel.
func (e *pixelsEmitter) pixel() {
	e.at, e.next, e.atV, e.atW = e.GP64(), e.GP64(), e.vec(), e.vec()
	e.MOVQ(operand.Mem{Base: e.places}, e.at)
	e.MOVQ(operand.Mem{Base: e.places, Disp: 8}, e.next)
	e.VBROADCASTSS(operand.Mem{Base: e.places, Disp: 16}, e.atV)
	e.VBROADCASTSS(operand.Mem{Base: e.places, Disp: 20}, e.atW)
	n, lanes := e.GP64(), int32(e.lanes())
	e.MOVQ(e.channels, n)
	e.CMPQ(n, operand.I32(lanes))
	e.JLT(operand.LabelRef("rest"))
	e.Label("whole")
	e.VMOVUPS(e.sum(func(m operand.Mem) vec { return e.copyOf(m) }), operand.Mem{Base: e.z})
	e.ADDQ(operand.I32(4*lanes), e.z)
	e.ADDQ(operand.I32(lanes), e.at)
	e.ADDQ(operand.I32(lanes), e.next)
	e.SUBQ(operand.I32(lanes), n)
	e.CMPQ(n, operand.I32(lanes))
	e.JGE(operand.LabelRef("whole"))
	e.Label("rest")
	e.TESTQ(n, n)
	e.JZ(operand.LabelRef("next"))
	t := e.newTail(n)
	t.store(e.sum(t.load), operand.Mem{Base: e.z})
	e.LEAQ(operand.Mem{Base: e.z, Index: n, Scale: 4}, e.z)
	e.Label("next")
}

// sum returns a vector of the new pixel.
func (e *pixelsEmitter) sum(load func(m operand.Mem) vec) vec {
	return e.blended(e.v, e.ofRow(e.x, load), e.w, e.ofRow(e.y, load))
}

// ofRow returns a vector of what the new pixel has of one old row.
func (e *pixelsEmitter) ofRow(row reg.Register, load func(m operand.Mem) vec) vec {
	return e.blended(e.atV, load(operand.Mem{Base: row, Index: e.at, Scale: 4}), e.atW, load(operand.Mem{Base: row, Index: e.next, Scale: 4}))
}

// blended returns v·x + w·y, no product of which is fused with the sum.
func (a *asm) blended(v, x, w, y vec) vec { return vadd(a, vmul(a, x, v), vmul(a, y, w)) }
