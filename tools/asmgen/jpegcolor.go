package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitColors writes what makes pixels of samples in package jpeg, 16 at a time.
func emitColors(a *asm) {
	a.isa = avx2
	a.emitYCC()
	a.emitInterpolation("wide", false, 2, 1, 2)
	a.emitInterpolation("square", true, 4, 8, 7)
}

// word16 is a constant in all words of a vector of 16.
func (a *asm) word16(v int32) operand.Mem {
	w := uint32(uint16(v))
	return a.repeated(w<<16|w, 8)
}

// bytesAt loads 16 bytes as words.
func (a *asm) bytesAt(p reg.Register, disp int) vec {
	r := a.YMM()
	a.VPMOVZXBW(operand.Mem{Base: p, Disp: disp}, r)
	return r
}

// emitYCC writes convertYCC. A factor is split into a whole number, which is added, and
// a rest of 16 bits.
func (a *asm) emitYCC() {
	a.text("pixelsAVX2", "func(dst, y, cb, cr *byte, n int)", "pixelsAVX2 sets dst to 16*n pixels of red, green and blue.")
	dst, y, cb, cr, n := a.arg("dst"), a.arg("y"), a.arg("cb"), a.arg("cr"), a.arg("n")
	a.Label("loop")
	l, u, v := a.bytesAt(y, 0), a.bytesAt(cb, 0), a.bytesAt(cr, 0)
	a.VPSUBW(a.word16(128), u, u)
	a.VPSUBW(a.word16(128), v, v)
	r := a.addTo(l, v, a.rounded(v, 91881-1<<16)...)
	b := a.addTo(l, u, append(a.rounded(u, 116130-2<<16), u)...)
	g := a.addTo(l, a.greenOf(u, v))
	a.VPSUBW(v, g, g)
	a.VPACKUSWB(g, r, r)
	a.VPACKUSWB(b, b, b)
	a.storePixels(dst, r, b)
	for _, p := range []reg.Register{y, cb, cr} {
		a.ADDQ(operand.I8(16), p)
	}
	a.ADDQ(operand.I8(48), dst)
	a.DECQ(n)
	a.JNZ(operand.LabelRef("loop"))
	a.end()
}

// addTo returns the sum of words.
func (a *asm) addTo(x, y vec, more ...vec) vec {
	r := a.YMM()
	a.VPADDW(y, x, r)
	for _, z := range more {
		a.VPADDW(z, r, r)
	}
	return r
}

// rounded returns what adds up to x times a factor, over 1<<16 and rounded.
func (a *asm) rounded(x vec, factor int32) []vec {
	high, low := a.YMM(), a.YMM()
	a.VPMULHW(a.word16(factor), x, high)
	a.VPMULLW(a.word16(factor), x, low)
	a.VPSRLW(operand.U8(15), low, low)
	return []vec{high, low}
}

// greenOf returns what chroma adds to green, and v.
func (a *asm) greenOf(u, v vec) vec {
	const minusU, oneLessV = -22554, 1<<16 - 46802
	factors := a.repeated(uint32(oneLessV)<<16|uint32(uint16(minusU&0xffff)), 8)
	l, h := a.YMM(), a.YMM()
	a.VPUNPCKLWD(v, u, l)
	a.VPUNPCKHWD(v, u, h)
	for _, x := range []vec{l, h} {
		a.VPMADDWD(factors, x, x)
		a.VPADDD(a.repeated(1<<15, 8), x, x)
		a.VPSRAD(operand.U8(16), x, x)
	}
	a.VPACKSSDW(h, l, l)
	return l
}

// storePixels stores 16 pixels. Each half of rg has 8 bytes of red and 8 of green, each half
// of b has 8 of blue.
func (a *asm) storePixels(dst reg.Register, rg, b vec) {
	for part := range 2 {
		x, y := a.YMM(), a.YMM()
		a.VPSHUFB(a.pixelOrder("rg", part, 0, 8, -1), rg, x)
		a.VPSHUFB(a.pixelOrder("b", part, -1, -1, 0), b, y)
		a.VPOR(y, x, x)
		high := a.XMM()
		a.VEXTRACTI128(operand.U8(1), x, high)
		at, next := operand.Mem{Base: dst, Disp: 16 * part}, operand.Mem{Base: dst, Disp: 24 + 16*part}
		if part == 0 {
			a.VMOVDQU(x.AsX(), at)
			a.VMOVDQU(high, next)
		} else {
			a.VMOVQ(x.AsX(), at)
			a.VMOVQ(high, next)
		}
	}
}

// pixelOrder says where 16 bytes of the output are found: the first ones of 24 or the
// others. Channels begin at the given bytes, or are elsewhere.
func (a *asm) pixelOrder(name string, part int, channels ...int) operand.Mem {
	words := make([]uint32, 8)
	for j := range 16 {
		at := 16*part + j
		from := uint32(0x80) // makes 0
		if c := channels[at%3]; c >= 0 && at < 24 {
			from = uint32(c + at/3)
		}
		words[j/4] |= from << (8 * (j % 4))
	}
	copy(words[4:], words[:4])
	return a.static("pixels_"+name+string(rune('0'+part)), words)
}

// emitInterpolation writes a function that makes two samples of each, by 3 parts of it
// and one of its neighbor, over 1<<shift. With far each is the sum of 3 parts of near and one
// of far.
func (a *asm) emitInterpolation(name string, far bool, shift uint8, before, after int32) {
	name += "AVX2"
	signature, doc := "func(dst, near *byte, n int)", " makes two samples of each of 16*n; neighbors are read too."
	if far {
		signature = "func(dst, near, far *byte, n int)"
	}
	a.text(name, signature, name+doc)
	dst, near, n := a.arg("dst"), a.arg("near"), a.arg("n")
	var other reg.Register
	if far {
		other = a.arg("far")
	}
	a.Label("loop")
	here := a.between(near, other, 0)
	three := a.YMM()
	a.VPADDW(here, here, three)
	a.VPADDW(here, three, three)
	even := a.interpolated(three, a.between(near, other, -1), before, shift)
	odd := a.interpolated(three, a.between(near, other, 1), after, shift)
	a.VPSLLW(operand.U8(8), odd, odd)
	a.VPOR(odd, even, even)
	a.VMOVDQU(even, operand.Mem{Base: dst})
	a.ADDQ(operand.I8(32), dst)
	a.ADDQ(operand.I8(16), near)
	if far {
		a.ADDQ(operand.I8(16), other)
	}
	a.DECQ(n)
	a.JNZ(operand.LabelRef("loop"))
	a.end()
}

// between returns words of samples: of near, or 3 parts of near and one of far.
func (a *asm) between(near, far reg.Register, disp int) vec {
	x := a.bytesAt(near, disp)
	if far == nil {
		return x
	}
	y := a.bytesAt(far, disp)
	a.VPADDW(x, y, y)
	a.VPADDW(x, x, x)
	a.VPADDW(x, y, y)
	return y
}

func (a *asm) interpolated(three, neighbor vec, bias int32, shift uint8) vec {
	r := a.YMM()
	a.VPADDW(neighbor, three, r)
	a.VPADDW(a.word16(bias), r, r)
	a.VPSRLW(operand.U8(shift), r, r)
	return r
}
