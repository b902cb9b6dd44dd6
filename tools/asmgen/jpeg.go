package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitTransforms writes the inverse transforms of package jpeg: a block is eight vectors
// of eight words.
func emitTransforms(a *asm) {
	a.isa = xmm
	a.transform("fast", "int16", func(b reg.Register, v [8]vec) [8]vec {
		v = a.transposeWords(a.fastButterfly(v))
		v = a.fastButterfly(v)
		for i := range v {
			a.VPSRAW(operand.U8(5), v[i], v[i])
		}
		return v
	})
	const fixBits, extraBits = 13, 2
	a.transform("accurate", "uint16", func(b reg.Register, v [8]vec) [8]vec {
		v = a.transposeWords(a.unlessFlat(b, v, extraBits, func() [8]vec {
			return a.accurateButterfly(v, fixBits-extraBits)
		}))
		return a.accurateButterfly(v, fixBits+extraBits+3)
	})
}

// transform writes a function that multiplies a block with its quantization, transforms
// the columns and then the rows, by passes, and stores samples. Passes leave columns.
func (a *asm) transform(name, quant string, passes func(b reg.Register, v [8]vec) [8]vec) {
	name += "AVX2"
	a.text(name, fmt.Sprintf("func(dst *byte, stride int, b *[64]int16, q *[64]%s)", quant), name+" sets 8 rows of 8 bytes, which are stride apart, to the samples of a block.")
	b, q := a.arg("b"), a.arg("q")
	var v [8]vec
	for i := range v {
		v[i] = a.XMM()
		a.VMOVDQU(operand.Mem{Base: b, Disp: 16 * i}, v[i])
		a.VPMULLW(operand.Mem{Base: q, Disp: 16 * i}, v[i], v[i])
	}
	a.storeSamples(passes(b, v))
	a.end()
}

// unlessFlat returns what columns gives, or, if all rows of b but the first are zeros, the
// first row of v in all rows, shifted: not the same if that overflows.
func (a *asm) unlessFlat(b reg.Register, v [8]vec, shift uint8, columns func() [8]vec) (out [8]vec) {
	seen := a.XMM()
	a.VMOVDQU(operand.Mem{Base: b, Disp: 16}, seen)
	for i := 2; i < 8; i++ {
		a.VPOR(operand.Mem{Base: b, Disp: 16 * i}, seen, seen)
	}
	a.VPTEST(seen, seen)
	a.JZ(operand.LabelRef("flat"))
	for i, x := range columns() {
		out[i] = a.XMM()
		a.VMOVDQA(x, out[i])
	}
	a.JMP(operand.LabelRef("rows"))
	a.Label("flat")
	for i := range out {
		a.VPSLLW(operand.U8(shift), v[0], out[i])
	}
	a.Label("rows")
	return out
}

// word8 is a constant in all words of a vector of 8.
func (a *asm) word8(v int16) operand.Mem {
	return a.repeated(uint32(uint16(v))<<16|uint32(uint16(v)), 4)
}

func (a *asm) addWords(x vec, y operand.Op) vec {
	r := a.XMM()
	a.VPADDW(y, x, r)
	return r
}

func (a *asm) subWords(x, y vec) vec {
	r := a.XMM()
	a.VPSUBW(y, x, r)
	return r
}

// timesWord multiplies by a constant that is 1<<8 times larger.
func (a *asm) timesWord(x vec, by int16) vec {
	r := a.XMM()
	a.VPSLLW(operand.U8(2), x, r)
	a.VPMULHW(a.word8(by<<6), r, r)
	return r
}

// fastButterfly is the function of that name in package jpeg, of eight columns.
func (a *asm) fastButterfly(v [8]vec) [8]vec {
	add, sub, times := func(x, y vec) vec { return a.addWords(x, y) }, a.subWords, a.timesWord
	t10, t11 := add(v[0], v[4]), sub(v[0], v[4])
	t13 := add(v[2], v[6])
	t12 := sub(times(sub(v[2], v[6]), 362), t13)
	t0, t3, t1, t2 := add(t10, t13), sub(t10, t13), add(t11, t12), sub(t11, t12)

	z13, z10, z11, z12 := add(v[5], v[3]), sub(v[5], v[3]), add(v[1], v[7]), sub(v[1], v[7])
	t7 := add(z11, z13)
	t11 = times(sub(z11, z13), 362)
	z5 := times(add(z10, z12), 473)
	t10 = sub(times(z12, 277), z5)
	t12 = add(sub(times(z10, -413), z10), z5)
	t6 := sub(t12, t7)
	t5 := sub(t11, t6)
	t4 := add(t10, t5)
	return [8]vec{add(t0, t7), add(t1, t6), add(t2, t5), sub(t3, t4), add(t3, t4), sub(t2, t5), sub(t1, t6), sub(t0, t7)}
}

// Numbers of 32 bits, eight in a YMM register.

func (a *asm) long(x vec) vec {
	r := a.YMM()
	a.VPMOVSXWD(x, r)
	return r
}

func (a *asm) addLong(x vec, y operand.Op) vec {
	r := a.YMM()
	a.VPADDD(y, x, r)
	return r
}

func (a *asm) subLong(x, y vec) vec {
	r := a.YMM()
	a.VPSUBD(y, x, r)
	return r
}

func (a *asm) timesLong(x vec, by int32) vec {
	r := a.YMM()
	a.VPMULLD(a.repeated(uint32(by), 8), x, r)
	return r
}

func (a *asm) shiftLong(x vec, by uint8) vec {
	r := a.YMM()
	a.VPSLLD(operand.U8(by), x, r)
	return r
}

// accurateButterfly is butterfly of package jpeg, of eight columns, and the division
// behind it, by 1<<shift.
func (a *asm) accurateButterfly(in [8]vec, shift int) [8]vec {
	even, odd := a.evenPart(in), a.oddPart(in)
	var out [8]vec
	for i := range 4 {
		out[i] = a.dividedWords(a.addLong(even[i], odd[i]), shift)
		out[7-i] = a.dividedWords(a.subLong(even[i], odd[i]), shift)
	}
	return out
}

// evenPart returns t10 to t13 of butterfly.
func (a *asm) evenPart(in [8]vec) [4]vec {
	add, sub, times := func(x, y vec) vec { return a.addLong(x, y) }, a.subLong, a.timesLong
	i2, i6 := a.long(in[2]), a.long(in[6])
	z1 := times(add(i2, i6), 4433)
	t2, t3 := sub(z1, times(i6, 15137)), add(z1, times(i2, 6270))
	t0 := a.shiftLong(a.long(a.addWords(in[0], in[4])), 13)
	t1 := a.shiftLong(a.long(a.subWords(in[0], in[4])), 13)
	return [4]vec{add(t0, t3), add(t1, t2), sub(t1, t2), sub(t0, t3)}
}

// oddPart returns a3 to a0 of butterfly.
func (a *asm) oddPart(in [8]vec) [4]vec {
	add, sub, times := func(x, y vec) vec { return a.addLong(x, y) }, a.subLong, a.timesLong
	z3, z4 := a.long(a.addWords(in[7], in[3])), a.long(a.addWords(in[5], in[1]))
	z5 := times(add(z3, z4), 9633)
	z3, z4 = sub(z5, times(z3, 16069)), sub(z5, times(z4, 3196))
	a0, a3 := a.long(in[7]), a.long(in[1])
	z1 := times(add(a0, a3), 7373)
	a0 = add(sub(times(a0, 2446), z1), z3)
	a3 = add(sub(times(a3, 12299), z1), z4)
	a1, a2 := a.long(in[5]), a.long(in[3])
	z2 := times(add(a1, a2), 20995)
	a1 = add(sub(times(a1, 16819), z2), z4)
	a2 = add(sub(times(a2, 25172), z2), z3)
	return [4]vec{a3, a2, a1, a0}
}

// dividedWords divides by 1<<shift, rounded, and makes words, the nearest ones.
func (a *asm) dividedWords(x vec, shift int) vec {
	r, high := a.YMM(), a.XMM()
	a.VPADDD(a.repeated(1<<(shift-1), 8), x, r)
	a.VPSRAD(operand.U8(uint8(shift)), r, r)
	a.VEXTRACTI128(operand.U8(1), r, high)
	out := a.XMM()
	a.VPACKSSDW(high, r.AsX(), out)
	return out
}

// unpacked joins the lower and the upper halves of two vectors, element by element, by
// two instructions.
func (a *asm) unpacked(low, high func(...operand.Op), x, y vec) (l, h vec) {
	l, h = a.XMM(), a.XMM()
	low(y, x, l)
	high(y, x, h)
	return l, h
}

// transposeWords transposes a block.
func (a *asm) transposeWords(v [8]vec) (out [8]vec) {
	var s, t [8]vec
	for i := 0; i < 8; i += 2 {
		s[i], s[i+1] = a.unpacked(a.VPUNPCKLWD, a.VPUNPCKHWD, v[i], v[i+1])
	}
	for i := 0; i < 8; i += 4 {
		for k := range 2 {
			t[i+2*k], t[i+2*k+1] = a.unpackedPairs(s[i+k], s[i+2+k])
		}
	}
	for k := range 4 {
		out[2*k], out[2*k+1] = a.unpacked(a.VPUNPCKLQDQ, a.VPUNPCKHQDQ, t[k], t[4+k])
	}
	return out
}

func (a *asm) unpackedPairs(x, y vec) (l, h vec) {
	return a.unpacked(a.VPUNPCKLDQ, a.VPUNPCKHDQ, x, y)
}

// storeSamples stores the columns of a block as rows of bytes, 128 more than they are.
func (a *asm) storeSamples(v [8]vec) {
	var rows [4]vec // two columns of bytes each
	for i := range 2 {
		for k := range 2 {
			x, y := v[4*i+k], v[4*i+2+k]
			r := a.XMM()
			a.VPACKSSWB(y, x, r)
			a.VPADDB(a.repeated(0x80808080, 4), r, r)
			rows[2*i+k] = r
		}
	}
	var half [2][2]vec // of columns, by their first four rows and the others
	for i := range half {
		l, h := a.unpacked(a.VPUNPCKLBW, a.VPUNPCKHBW, rows[2*i], rows[2*i+1])
		half[i][0], half[i][1] = a.unpacked(a.VPUNPCKLWD, a.VPUNPCKHWD, l, h)
	}
	p, stride := a.arg("dst"), a.arg("stride")
	for k := range 2 {
		l, h := a.unpackedPairs(half[0][k], half[1][k])
		for _, two := range []vec{l, h} {
			a.VMOVQ(two, operand.Mem{Base: p})
			a.VMOVHPS(two, operand.Mem{Base: p, Index: stride, Scale: 1})
			a.LEAQ(operand.Mem{Base: p, Index: stride, Scale: 2}, p)
		}
	}
}
