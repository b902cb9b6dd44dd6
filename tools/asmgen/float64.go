package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// loop64 describes a loop over n float64: the vectors that it stores of those that it loads.
type loop64 struct {
	name, doc string
	in        []string // pointers; what is stored lies at the first ones
	scalars   []string
	body      func(e *emitter64, in, scalars []vec) []vec
}

// emitter64 is such a loop being written.
type emitter64 struct {
	*powEmitter
	loop64
	pointers []reg.Register
}

// emitFloat64 writes all loops over float64.
func emitFloat64(a *asm) {
	for _, l := range []loop64{
		unary64("sqrt64", "sets y to the square root of x.", (*emitter64).root),
		unary64("rsqrt64", "sets y = 1/√x.", func(e *emitter64, x vec) vec {
			return e.pd(e.VDIVPD, e.root(x), e.copyOf(e.quadFloat(1)))
		}),
		unary64("exp64", "sets y to the exponential of x.", (*emitter64).exp),
		unary64("log64", "sets y to the logarithm of x.", (*emitter64).log),
		unary64("tanh64", "sets y to the hyperbolic tangent of x.", (*emitter64).tanh),
		unary64("sigmoid64", "sets y = 1/(1+e^-x).", (*emitter64).sigmoid),
		unary64("erf64", "sets y to the error function of x.", (*emitter64).erf),
		{name: "addScaled64", doc: "adds s·x to y, the product rounded.", in: []string{"y", "x"}, scalars: []string{"s"}, body: func(e *emitter64, in, s []vec) []vec {
			return []vec{e.plus(in[0], e.times(in[1], s[0]))}
		}},
		{name: "rotate64", doc: "sets x = c·x + s·y and y = c·y - s·x, products rounded.", in: []string{"x", "y"}, scalars: []string{"c", "s"}, body: func(e *emitter64, in, s []vec) []vec {
			x, y := in[0], in[1]
			return []vec{e.plus(e.times(x, s[0]), e.times(y, s[1])), e.minus(e.times(y, s[0]), e.times(x, s[1]))}
		}},
	} {
		l.emit(a)
	}
	emitDot64(a)
}

// unary64 describes y = f(x).
func unary64(name, doc string, f func(e *emitter64, x vec) vec) loop64 {
	return loop64{name: name, doc: doc, in: []string{"y", "x"}, body: func(e *emitter64, in, _ []vec) []vec { return []vec{f(e, in[1])} }}
}

// emit writes the loop over vectors, and once more for what remains.
func (l loop64) emit(a *asm) {
	signature := "func(" + l.in[0] + ", " + l.in[1] + " *float64, n int"
	for _, s := range l.scalars {
		signature += ", " + s + " float64"
	}
	a.text(l.name+a.isa.suffix(), signature+")", l.name+a.isa.suffix()+" "+l.doc)
	e := &emitter64{powEmitter: &powEmitter{asm: a}, loop64: l}
	for _, p := range l.in {
		e.pointers = append(e.pointers, a.arg(p))
	}
	n := a.arg("n")
	var scalars []vec
	for _, s := range l.scalars {
		scalars = append(scalars, a.broadcast64(s))
	}
	e.vectors(n, scalars)
	e.rest(n, scalars)
	a.end()
}

// vectors writes the loop over whole vectors, which leaves in n what remains, less a vector.
func (e *emitter64) vectors(n reg.Register, scalars []vec) {
	step := operand.I32(int32(e.isa) / 8)
	e.SUBQ(step, n)
	e.JLT(operand.LabelRef("rest"))
	e.Label("vectors")
	var in []vec
	for _, p := range e.pointers {
		in = append(in, e.copyOf(operand.Mem{Base: p}))
	}
	for i, v := range e.body(e, in, scalars) {
		e.VMOVUPS(v, operand.Mem{Base: e.pointers[i]})
	}
	for _, p := range e.pointers {
		e.ADDQ(operand.I32(int32(e.isa)), p)
	}
	e.SUBQ(step, n)
	e.JGE(operand.LabelRef("vectors"))
}

// rest writes what is done to the last, partial vector.
func (e *emitter64) rest(n reg.Register, scalars []vec) {
	e.Label("rest")
	e.ADDQ(operand.I32(int32(e.isa)/8), n)
	e.JZ(operand.LabelRef("end"))
	t := e.newTail64(n)
	var in []vec
	for _, p := range e.pointers {
		in = append(in, t.load(operand.Mem{Base: p}))
	}
	for i, v := range e.body(e, in, scalars) {
		t.store(v, operand.Mem{Base: e.pointers[i]})
	}
	e.Label("end")
}

// broadcast64 loads a float64 argument into all lanes.
func (a *asm) broadcast64(name string) vec {
	p, err := a.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	r := a.vec()
	a.VBROADCASTSD(p.Addr, r)
	return r
}

// newTail64 is newTail for n lanes of 64 bits: twice as many of 32.
func (a *asm) newTail64(n reg.Register) tail {
	twice := a.GP64()
	a.MOVQ(n, twice)
	a.ADDQ(n, twice)
	return a.newTail(twice)
}

// emitDot64 writes the sum of products, in four vectors of sums.
func emitDot64(a *asm) {
	name := "dot64" + a.isa.suffix()
	a.text(name, "func(x, y *float64, n int) float64", name+" returns the sum of the products of x and y.")
	x, y, n := a.arg("x"), a.arg("y"), a.arg("n")
	sum := []vec{a.zero(), a.zero(), a.zero(), a.zero()}
	step := func(i int) {
		a.VFMADD231PD(operand.Mem{Base: y, Disp: i * int(a.isa)}, a.copyOf(operand.Mem{Base: x, Disp: i * int(a.isa)}), sum[i])
	}
	a.steps64("four", 4, n, step, x, y)
	a.steps64("one", 1, n, step, x, y)
	a.TESTQ(n, n)
	a.JZ(operand.LabelRef("end"))
	t := a.newTail64(n)
	a.VFMADD231PD(t.load(operand.Mem{Base: y}), t.load(operand.Mem{Base: x}), sum[0])
	a.Label("end")
	e := &powEmitter{asm: a}
	total := e.plus(e.plus(sum[0], sum[1]), e.plus(sum[2], sum[3]))
	a.Store(a.total64(total), a.ReturnIndex(0))
	a.end()
}

// emitSum64 writes the sum, in four vectors.
func emitSum64(a *asm) {
	name := "sum64" + a.isa.suffix()
	a.text(name, "func(x *float64, n int) float64", name+" returns the sum of x.")
	x, n := a.arg("x"), a.arg("n")
	sum := []vec{a.zero(), a.zero(), a.zero(), a.zero()}
	a.steps64("four", 4, n, func(i int) { a.VADDPD(operand.Mem{Base: x, Disp: i * int(a.isa)}, sum[i], sum[i]) }, x)
	a.steps64("one", 1, n, func(int) { a.VADDPD(operand.Mem{Base: x}, sum[0], sum[0]) }, x)
	a.TESTQ(n, n)
	a.JZ(operand.LabelRef("end"))
	t := a.newTail64(n)
	a.VADDPD(t.load(operand.Mem{Base: x}), sum[0], sum[0])
	a.Label("end")
	e := &powEmitter{asm: a}
	a.Store(a.total64(e.plus(e.plus(sum[0], sum[1]), e.plus(sum[2], sum[3]))), a.ReturnIndex(0))
	a.end()
}

// steps64 writes the loop over k vectors at a time, of which step takes each.
func (a *asm) steps64(label string, k int, n reg.Register, step func(i int), pointers ...reg.Register) {
	some := operand.I32(int32(k * int(a.isa) / 8))
	a.CMPQ(n, some)
	a.JLT(operand.LabelRef("after_" + label))
	a.Label(label)
	for i := range k {
		step(i)
	}
	for _, p := range pointers {
		a.ADDQ(operand.I32(int32(k*int(a.isa))), p)
	}
	a.SUBQ(some, n)
	a.CMPQ(n, some)
	a.JGE(operand.LabelRef(label))
	a.Label("after_" + label)
}

// total64 adds up the lanes.
func (a *asm) total64(total vec) reg.Register {
	if a.isa == avx512 {
		low, high := a.YMM(), a.YMM()
		a.VEXTRACTF64X4(operand.U8(1), total, high)
		a.VEXTRACTF64X4(operand.U8(0), total, low)
		a.VADDPD(high, low, low)
		total = low
	}
	low, high := a.XMM(), a.XMM()
	a.VEXTRACTF128(operand.U8(1), total, high)
	a.VEXTRACTF128(operand.U8(0), total, low)
	a.VADDPD(high, low, low)
	a.VPERMILPD(operand.U8(1), low, high)
	a.VADDSD(high, low, low)
	return low
}

func (e *emitter64) root(x vec) vec {
	r := e.vec()
	e.VSQRTPD(x, r)
	return r
}

// compare64 is compare for float64.
func (e *emitter64) compare64(p uint8, x vec, y operand.Op) cond {
	if e.isa == avx2 {
		c := e.YMM()
		e.VCMPPD(operand.U8(p), y, x, c)
		return c
	}
	k := e.K()
	e.VCMPPD(operand.U8(p), y, x, k)
	return k
}

// choose64 is choose for float64.
func (e *emitter64) choose64(c cond, yes operand.Op, no vec) vec {
	if e.isa == avx2 {
		return e.choose(c, yes, no)
	}
	r := e.copyOf(no)
	e.VMOVUPD(yes, c, r)
	return r
}

// step64 changes sum to x·sum + c.
func (e *emitter64) step64(sum, x vec, c float64) { e.VFMADD213PD(e.quadFloat(c), x, sum) }

// polynomial64 evaluates by Horner's rule, the highest coefficient first.
func (e *emitter64) polynomial64(x vec, c ...float64) vec {
	r := e.copyOf(e.quadFloat(c[0]))
	for _, k := range c[1:] {
		e.step64(r, x, k)
	}
	return r
}

// whole64, added to a number, leaves its integer in the low bits.
const whole64 = 3 << 51

// exp reduces by multiples of ln 2, cut into two parts, and scales twice, so that results at both
// ends are rounded once.
func (e *emitter64) exp(x vec) vec {
	x = e.pd(e.VMINPD, x, e.copyOf(e.quadFloat(710)))
	x = e.pd(e.VMAXPD, x, e.copyOf(e.quadFloat(-746)))
	k := e.copyOf(e.quadFloat(whole64))
	e.VFMADD231PD(e.quadFloat(math.Log2E), x, k)
	n := e.minus(k, e.quadFloat(whole64))
	r := e.copyOf(x)
	e.VFNMADD231PD(e.quadFloat(6.93147180369123816490e-01), n, r)
	e.VFNMADD231PD(e.quadFloat(1.90821492927058770002e-10), n, r)
	p := e.polynomial64(r, 1./6227020800, 1./479001600, 1./39916800, 1./3628800, 1./362880, 1./40320, 1./5040, 1./720, 1./120, 1./24, 1./6, 1./2)
	square := e.times(r, r)
	e.VFMADD213PD(r, square, p)
	p = e.plus(p, e.quadFloat(1))
	half := e.plus(e.times(n, e.quadFloat(0.5)), e.quadFloat(whole64))
	rest := e.plus(e.minus(n, e.minus(half, e.quadFloat(whole64))), e.quadFloat(whole64))
	return e.times(e.times(p, e.power2(half)), e.power2(rest))
}

// power2 is 2 to the integer in the low bits.
func (e *emitter64) power2(k vec) vec {
	r := e.vec()
	e.VPSLLQ(operand.U8(52), k, r)
	e.VPADDQ(e.quadFloat(1), r, r)
	return r
}

// log is that of fdlibm: x is 2^k·(1+f), with 1+f between √½ and √2.
func (e *emitter64) log(x vec) vec {
	small := e.compare64(cmpLess, x, e.quadFloat(0x1p-1022))
	y := e.choose64(small, e.times(x, e.quadFloat(0x1p54)), x)
	const from = 0x3fe6a09e00000000
	bits, power := e.vec(), e.vec()
	e.VPSUBQ(e.quad(from), y, bits)
	e.VPSRLQ(operand.U8(52), bits, power)
	e.VPSLLQ(operand.U8(52), power, bits)
	e.VPSUBQ(bits, y, y) // 1+f
	// The power is of 12 bits; with 2^11 more it has no sign.
	e.VPADDQ(e.quad(1<<11), power, power)
	power = e.and(power, e.quad(1<<12-1))
	power = e.or(power, e.quadFloat(1<<52))
	k := e.minus(power, e.quadFloat(1<<52+1<<11))
	k = e.minus(k, e.choose64(small, e.quadFloat(54), e.zero()))
	f := e.minus(y, e.quadFloat(1))
	s := e.pd(e.VDIVPD, e.plus(f, e.quadFloat(2)), f)
	s2 := e.times(s, s)
	r := e.times(s2, e.polynomial64(s2, 1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01,
		2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01))
	square := e.times(e.times(f, f), e.quadFloat(0.5))
	low := e.times(k, e.quadFloat(1.90821492927058770002e-10))
	e.VFMADD231PD(e.plus(square, r), s, low)
	z := e.minus(f, e.minus(square, low))
	e.VFMADD231PD(e.quadFloat(6.93147180369123816490e-01), k, z)
	return e.logSpecial(x, z)
}

// logSpecial replaces the logarithms of what is not positive and finite.
func (e *emitter64) logSpecial(x, z vec) vec {
	inf := e.quad(0x7ff << 52)
	z = e.choose64(e.compare64(cmpNotLess, x, inf), x, z) // Inf, NaN
	z = e.choose64(e.compare64(cmpLess, x, e.zero()), e.quad(0x7ff8<<48), z)
	return e.choose64(e.compare64(cmpEqual, x, e.zero()), e.quad(0xfff<<52), z)
}

// tanh is that of Cephes: a quotient of polynomials near 0, else 1 - 2/(e^2x + 1). One division
// serves both.
func (e *emitter64) tanh(x vec) vec {
	size := e.and(x, e.quad(1<<63-1))
	near := e.compare64(cmpLess, size, e.quadFloat(0.625))
	far := e.plus(e.exp(e.plus(size, size)), e.quadFloat(1))
	square := e.times(size, size)
	over := e.polynomial64(square, -9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3)
	under := e.polynomial64(square, 1, 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3)
	over = e.choose64(near, e.times(e.times(size, square), over), e.copyOf(e.quadFloat(-2)))
	under = e.choose64(near, under, far)
	base := e.choose64(near, size, e.copyOf(e.quadFloat(1)))
	y := e.plus(base, e.pd(e.VDIVPD, under, over))
	return e.or(y, e.and(x, e.quad(1<<63)))
}

// sigmoid never takes the exponential of a positive number.
func (e *emitter64) sigmoid(x vec) vec {
	power := e.exp(e.or(x, e.quad(1<<63)))
	over := e.choose64(e.compare64(cmpLess, x, e.zero()), power, e.copyOf(e.quadFloat(1)))
	return e.pd(e.VDIVPD, e.plus(power, e.quadFloat(1)), over)
}
