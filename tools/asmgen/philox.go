package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitPhilox writes the generator of package random and what makes numbers of its words.
// A vector has one counter in each 64-bit lane; its words are computed in the low half.
func emitPhilox(a *asm, i isa) {
	a.isa = i
	emitStream(a, "words", "uint32", "sets y to the words of n vectors of counters", func(v vec) vec { return v })
	emitStream(a, "uniforms", "float32", "sets y to numbers in [0, 1) of the words of n vectors of counters", func(v vec) vec { return uniformOf(a, v) })
	emitNormals(a)
}

// Where the parts of a random.lanes are, in bytes.
const (
	philoxAt   = 20 * 64
	philoxStep = philoxAt + 64
	philoxHigh = philoxStep + 64
)

// emitStream writes the function that stores what is made of each vector of words. A
// vector of counters gives two vectors of words.
func emitStream(a *asm, name, elem, doc string, of func(v vec) vec) {
	name += a.isa.suffix()
	a.text(name, "func(y *"+elem+", n int, s *uint64)", name+" "+doc+", of which y has room for all.")
	y, n, s := a.arg("y"), a.arg("n"), a.arg("s")
	at := a.copyOf(operand.Mem{Base: s, Disp: philoxAt})
	step := a.copyOf(operand.Mem{Base: s, Disp: philoxStep})
	hi := a.copyOf(operand.Mem{Base: s, Disp: philoxHigh})
	hi3 := a.shiftRight(hi, 32)
	m0, m1 := a.copyOf(a.quad(0xD2511F53)), a.copyOf(a.quad(0xCD9E8D57))
	a.Label("loop")
	c := [4]vec{at, a.shiftRight(at, 32), hi, hi3}
	for r := range 10 {
		c = a.philoxRound(c, m0, m1, operand.Mem{Base: s, Disp: r * 2 * 64})
	}
	a.VPADDQ(step, at, at)
	for i, v := range a.inOrder(c) {
		a.VMOVUPS(of(v), operand.Mem{Base: y, Disp: i * int(a.isa)})
	}
	a.ADDQ(operand.I32(int32(2*a.isa)), y)
	a.DECQ(n)
	a.JNZ(operand.LabelRef("loop"))
	a.end()
}

// philoxRound is one round over four words, whose keys are in memory.
func (a *asm) philoxRound(c [4]vec, m0, m1 vec, key operand.Mem) [4]vec {
	p, q := a.vec(), a.vec()
	a.VPMULUDQ(m0, c[0], p)
	a.VPMULUDQ(m1, c[2], q)
	next := key
	next.Disp += 64
	return [4]vec{a.xor3(a.shiftRight(q, 32), c[1], key), q, a.xor3(a.shiftRight(p, 32), c[3], next), p}
}

// inOrder joins words of blocks to two vectors, whose elements are in the order of the
// stream if lane i of the counters was that of block streamOrder[i].
func (a *asm) inOrder(c [4]vec) []vec {
	low, high := a.wordPairs(c[0], c[1]), a.wordPairs(c[2], c[3])
	first, second := a.vec(), a.vec()
	a.VPUNPCKLQDQ(high, low, first)
	a.VPUNPCKHQDQ(high, low, second)
	return []vec{first, second}
}

// wordPairs puts the low half of y above that of x in each lane.
func (a *asm) wordPairs(x, y vec) vec {
	r := a.vec()
	a.VPSLLQ(operand.U8(32), y, r)
	if a.isa == avx2 {
		a.VPBLENDD(operand.U8(0xAA), r, x, r)
		return r
	}
	a.VPTERNLOGQ(operand.U8(0xF8), a.quad(math.MaxUint32), x, r) // r | x & mask
	return r
}

// uniformOf puts 23 bits of each word into the mantissa of a number in [1, 2), less 1.
func uniformOf(a *asm, w vec) vec {
	one := a.bitsOfAll(127 << 23)
	r := a.or(a.and(w, a.bitsOfAll(1<<23-1)), one)
	a.VSUBPS(one, r, r)
	return r
}

// emitNormals writes the function that makes two normal numbers of each two words: those
// of the Box-Muller transform in the steps, and with the roundings, of random.boxMuller.
func emitNormals(a *asm) {
	name := "normals" + a.isa.suffix()
	a.text(name, "func(y *float32, w *uint32, n int)", name+" sets y to standard normal numbers made of the words w, of n vectors. They may be the same memory.")
	y, w, n := a.arg("y"), a.arg("w"), a.arg("n")
	a.Label("loop")
	words := a.copyOf(operand.Mem{Base: w})
	radius := a.radius(a.fraction(words))
	sin, cos := a.sincos(a.fraction(a.shiftRight(words, 32)))
	a.VMULPS(radius, sin, sin)
	a.VMULPS(radius, cos, cos)
	a.storePairs(sin, cos, y)
	a.ADDQ(operand.I32(int32(a.isa)), y)
	a.ADDQ(operand.I32(int32(a.isa)), w)
	a.DECQ(n)
	a.JNZ(operand.LabelRef("loop"))
	a.end()
}

// fraction is the number in [0, 1) that float32From makes of a word, which is exact in
// float64.
func (a *asm) fraction(words vec) vec {
	m := a.vec()
	a.VPSLLQ(operand.U8(29+12), words, m) // 23 bits, to the top
	a.VPSRLQ(operand.U8(12), m, m)
	m = a.orQuad(m, a.quadFloat(1))
	a.VSUBPD(a.quadFloat(1), m, m)
	return m
}

// radius is √(−2 log u) for u in [0, 1): half a vector of float32. See random.logf.
func (a *asm) radius(u vec) vec {
	const floor = 64 // of exponents, so that they are positive
	bias := uint64(floor) << 23
	bias -= 896<<23 + 0x3f330000
	a.VMAXPD(a.quadFloat(float64(float32(1e-7))), u, u)
	i := a.shiftRight(u, 29) // the bits that it has as float32, but for the exponent's bias
	a.VPADDQ(a.quad(bias), i, i)
	k := a.shiftRight(i, 23)
	index := a.shiftRight(i, 19)
	inv, log := a.logEntry(index)
	z := a.vec()
	a.VPSLLQ(operand.U8(52), k, z)
	a.VPSUBQ(z, u, z)
	a.VPADDQ(a.quad(floor<<52), z, z)
	e := a.orQuad(k, a.quadFloat(1<<52)) // k as a number
	a.VSUBPD(a.quadFloat(1<<52+floor), e, e)
	a.VMULPD(a.quadFloat(0x1.62e42fefa39efp-1), e, e)
	a.VADDPD(e, log, log)
	a.VMULPD(inv, z, z)
	a.VSUBPD(a.quadFloat(1), z, z) // r
	r2, p, q := a.vec(), a.vec(), a.vec()
	a.VMULPD(z, z, r2)
	a.VMULPD(a.quadFloat(0x1.5575b0be00b6ap-2), z, p)
	a.VADDPD(a.quadFloat(-0x1.ffffef20a4123p-2), p, p)
	a.VMULPD(a.quadFloat(-0x1.00ea348b88334p-2), r2, q)
	a.VADDPD(p, q, p)
	a.VMULPD(r2, p, p)
	a.VADDPD(z, log, log)
	a.VADDPD(log, p, p)
	half := a.narrow(p)
	a.VMULPS(a.halfFloat(-2), half, half)
	a.VSQRTPS(half, half)
	return half
}

// logTable has the columns of random.logTable.
var logTable = [2][16]float64{
	{
		0x1.661ec79f8f3bep+0, 0x1.571ed4aaf883dp+0, 0x1.49539f0f010bp+0, 0x1.3c995b0b80385p+0, 0x1.30d190c8864a5p+0, 0x1.25e227b0b8eap+0, 0x1.1bb4a4a1a343fp+0, 0x1.12358f08ae5bap+0,
		0x1.0953f419900a7p+0, 1, 0x1.e608cfd9a47acp-1, 0x1.ca4b31f026aap-1, 0x1.b2036576afce6p-1, 0x1.9c2d163a1aa2dp-1, 0x1.886e6037841edp-1, 0x1.767dcf5534862p-1,
	},
	{
		-0x1.57bf7808caadep-2, -0x1.2bef0a7c06ddbp-2, -0x1.01eae7f513a67p-2, -0x1.b31d8a68224e9p-3, -0x1.6574f0ac07758p-3, -0x1.1aa2bc79c81p-3, -0x1.a4e76ce8c0e5ep-4, -0x1.1973c5a611cccp-4,
		-0x1.252f438e10c1ep-5, 0, 0x1.aa5aa5df25984p-5, 0x1.c5e53aa362eb4p-4, 0x1.526e57720db08p-3, 0x1.bc2860d22477p-3, 0x1.1058bc8a07ee1p-2, 0x1.4043057b6ee09p-2,
	},
}

// logEntry looks up both columns at the low four bits of each lane.
func (a *asm) logEntry(index vec) (inv, log vec) {
	var out [2]vec
	for i, name := range []string{"log_inv", "log_of"} {
		at := a.static64(name, logTable[i][:])
		out[i] = a.vec()
		if a.isa == avx512 {
			a.VMOVUPS(index, out[i])
			lower, upper := at, at
			upper.Disp += 64
			a.VPERMI2PD(upper, a.copyOf(lower), out[i])
			continue
		}
		low, base, all := a.vec(), a.GP64(), a.vec()
		a.VPAND(a.quad(15), index, low)
		a.LEAQ(at, base)
		a.VPCMPEQQ(all, all, all)
		a.VGATHERQPD(all, operand.Mem{Base: base, Index: low, Scale: 8}, out[i])
	}
	return out[0], out[1]
}

// sincos are the sine and the cosine of 2πv for v in [0, 1): half a vector of float32
// each. See random.sincosf; its case of small angles gives what the others give.
func (a *asm) sincos(v vec) (sin, cos vec) {
	a.VMULPD(a.quadFloat(2*math.Pi), v, v)
	x := a.widen(a.narrow(v)) // rounded to float32
	turns := a.vec()
	a.VMULPD(a.quadFloat(0x1.45F306DC9C883p+23), x, turns)
	n := a.half()
	a.truncate(turns, n)
	a.VPADDD(a.halfWord(1<<23), n, n)
	a.VPSRLD(operand.U8(24), n, n)
	quarter := a.vec()
	a.VCVTDQ2PD(n, quarter)
	a.VMULPD(a.quadFloat(0x1.921FB54442D18p0), quarter, quarter)
	a.VSUBPD(quarter, x, x)
	t := a.vec()
	a.VMULPD(x, x, t)
	return a.quadrant(a.narrow(a.sinPoly(x, t)), a.narrow(a.cosPoly(t)), n)
}

func (a *asm) sinPoly(x, t vec) vec {
	x3, p, q := a.vec(), a.vec(), a.vec()
	a.VMULPD(t, x, x3)
	a.VMULPD(a.quadFloat(-0x1.994eb3774cf24p-13), t, p)
	a.VADDPD(a.quadFloat(0x1.1107605230bc4p-7), p, p)
	a.VMULPD(a.quadFloat(-0x1.555545995a603p-3), x3, q)
	a.VADDPD(x, q, q)
	a.VMULPD(t, x3, x3)
	a.VMULPD(p, x3, x3)
	a.VADDPD(x3, q, q)
	return q
}

func (a *asm) cosPoly(t vec) vec {
	t2, p, q, r := a.vec(), a.vec(), a.vec(), a.vec()
	a.VMULPD(t, t, t2)
	a.VMULPD(a.quadFloat(0x1.99343027bf8c3p-16), t, p)
	a.VADDPD(a.quadFloat(-0x1.6c087e89a359dp-10), p, p)
	a.VMULPD(a.quadFloat(-0x1.ffffffd0c621cp-2), t, q)
	a.VADDPD(a.quadFloat(1), q, q)
	a.VMULPD(a.quadFloat(0x1.55553e1068f19p-5), t2, r)
	a.VADDPD(r, q, q)
	a.VMULPD(t, t2, t2)
	a.VMULPD(p, t2, t2)
	a.VADDPD(t2, q, q)
	return q
}

// quadrant is random.quadrant.
func (a *asm) quadrant(sin, cos, n vec) (s, c vec) {
	odd, swap := a.half(), a.half()
	two := a.halfWord(2)
	a.VPADDD(a.halfWord(1), n, odd)
	a.halfAnd(two, odd, odd)
	a.VPSLLD(operand.U8(30), odd, odd)
	a.halfXor(odd, sin, sin)
	a.halfAnd(two, n, odd)
	a.VPSLLD(operand.U8(30), odd, odd)
	a.halfXor(odd, cos, cos)
	a.VPSLLD(operand.U8(31), n, odd) // all ones if n is odd
	a.VPSRAD(operand.U8(31), odd, odd)
	a.halfXor(sin, cos, swap)
	a.halfAnd(odd, swap, swap)
	a.halfXor(swap, sin, sin)
	a.halfXor(swap, cos, cos)
	return sin, cos
}

// storePairs stores the elements of two half vectors by turns.
func (a *asm) storePairs(x, y vec, to reg.Register) {
	low, high := a.half(), a.half()
	a.VUNPCKLPS(y, x, low)
	a.VUNPCKHPS(y, x, high)
	if a.isa == avx2 {
		a.VMOVUPS(low, operand.Mem{Base: to})
		a.VMOVUPS(high, operand.Mem{Base: to, Disp: 16})
		return
	}
	first, second := a.YMM(), a.YMM()
	a.VSHUFF32X4(operand.U8(0), high, low, first)
	a.VSHUFF32X4(operand.U8(3), high, low, second)
	a.VMOVUPS(first, operand.Mem{Base: to})
	a.VMOVUPS(second, operand.Mem{Base: to, Disp: 32})
}

// static64 is static for numbers of 64 bits.
func (a *asm) static64(name string, v []float64) operand.Mem {
	words := make([]uint32, 0, 2*len(v))
	for _, f := range v {
		b := math.Float64bits(f)
		words = append(words, uint32(b), uint32(b>>32))
	}
	return a.static(name, words)
}

// quad is a constant of 64 bits in every lane, in memory.
func (a *asm) quad(v uint64) operand.Mem {
	return a.static64(fmt.Sprintf("quad%d_%016x", a.isa/8, v), list(math.Float64frombits(v), int(a.isa)/8))
}

func (a *asm) quadFloat(v float64) operand.Mem { return a.quad(math.Float64bits(v)) }

// bitsOfAll is a constant of 32 bits in every lane, in memory.
func (a *asm) bitsOfAll(v uint32) operand.Mem { return a.repeated(v, a.lanes()) }

// halfWord is a constant of 32 bits in every lane of half a vector.
func (a *asm) halfWord(v uint32) operand.Mem { return a.repeated(v, a.lanes()/2) }

func (a *asm) halfFloat(v float32) operand.Mem { return a.halfWord(math.Float32bits(v)) }

func list[T any](v T, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// half returns a register for half a vector.
func (a *asm) half() vec {
	if a.isa == avx2 {
		return a.XMM()
	}
	return a.YMM()
}

// shiftRight shifts the 64 bits of every lane.
func (a *asm) shiftRight(x vec, by uint8) vec {
	r := a.vec()
	a.VPSRLQ(operand.U8(by), x, r)
	return r
}

// xor3 changes x to the bits that an odd number of the three have.
func (a *asm) xor3(x, y vec, z operand.Mem) vec {
	if a.isa == avx2 {
		a.VPXOR(y, x, x)
		a.VPXOR(z, x, x)
		return x
	}
	a.VPTERNLOGQ(operand.U8(0x96), z, y, x)
	return x
}

// orQuad is or over 64-bit lanes.
func (a *asm) orQuad(x vec, y operand.Mem) vec { return a.or(x, y) }

// narrow rounds float64 to half a vector of float32, widen is the other way.
func (a *asm) narrow(x vec) vec {
	r := a.half()
	if a.isa == avx2 {
		a.VCVTPD2PSY(x, r)
	} else {
		a.VCVTPD2PS(x, r)
	}
	return r
}

func (a *asm) widen(x vec) vec {
	r := a.vec()
	a.VCVTPS2PD(x, r)
	return r
}

// truncate makes integers of float64.
func (a *asm) truncate(x, to vec) {
	if a.isa == avx2 {
		a.VCVTTPD2DQY(x, to)
		return
	}
	a.VCVTTPD2DQ(x, to)
}

func (a *asm) halfAnd(x operand.Op, y, to vec) {
	if a.isa == avx2 {
		a.VPAND(x, y, to)
		return
	}
	a.VPANDD(x, y, to)
}

func (a *asm) halfXor(x operand.Op, y, to vec) {
	if a.isa == avx2 {
		a.VPXOR(x, y, to)
		return
	}
	a.VPXORD(x, y, to)
}
