package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
)

// mathLoops lists the transcendental functions.
func mathLoops() []loop {
	return []loop{
		unary("exp", "sets y to e to the x.", 2, func(a *asm) func(x vec) vec { return newExp(a).full }),
		unary("log", "sets y to the natural logarithm of x.", 1, newLog),
		unary("log1p", "sets y to the natural logarithm of 1+x.", 1, newLog1p),
		unary("tanh", "sets y to the hyperbolic tangent of x.", 1, newTanh),
		unary("sigmoid", "sets y = 1/(1+e^-x).", 1, newSigmoid),
		unary("erf", "sets y to the error function of x.", 1, newErf),
		unary("erfc", "sets y to 1 less the error function of x.", 1, newErfc),
	}
}

// expConsts are the constants of e^x: x = n·ln2 + r with |r| <= ln2/2, e^r by
// a polynomial of degree 7 (Cephes), the result scaled by 2^n. ln2 is split
// in two, the first part short enough for n times it to be exact.
type expConsts struct {
	a             *asm
	hi, lo        operand.Op
	log2e, c1, c2 operand.Op
	p             []operand.Op
}

func newExp(a *asm) *expConsts {
	return &expConsts{
		a: a,
		// Beyond these the result is Inf or 0 whatever the number.
		hi: a.float(89), lo: a.float(-104),
		log2e: a.float(math.Log2E), c1: a.float(0.693359375), c2: a.float(-2.12194440e-4),
		p: a.floats(1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1, 1, 1),
	}
}

// full is e^x for every x. Where the result is 0, that is not left to the scaling: a product
// below the least number interrupts the processor for as long as hundreds of others take, and
// sequences are masked by numbers like -10000.
func (e *expConsts) full(x vec) vec {
	a := e.a
	// The second operand of min and max is the result for NaN.
	return e.bounded(vmin(a, a.inReg(e.hi), x))
}

// bounded is full for what is known not to be too large.
func (e *expConsts) bounded(x vec) vec {
	a := e.a
	some := a.compare(cmpNotLess, x, e.lo)
	if a.isa == avx512 {
		p, n := e.reduced(x)
		r := a.vec()
		a.VSCALEFPS_Z(n, p, some, r)
		return r
	}
	p, n := e.reduced(vmax(a, a.inReg(e.lo), x))
	return e.scale(a.keep(some, p), n)
}

// reduced returns e^r and n.
func (e *expConsts) reduced(x vec) (p, n vec) {
	a := e.a
	n = a.roundEven(vmul(a, x, e.log2e))
	r := a.fnma(n, e.c1, x)
	r = a.fnma(n, e.c2, r)
	return a.polynomial(r, e.p), n
}

// scale returns p·2^n for n from -152 to 128 in two steps, so that the powers
// are normal numbers and a subnormal result is rounded once.
func (e *expConsts) scale(p, n vec) vec {
	a := e.a
	i, half := a.vec(), a.vec()
	a.VCVTPS2DQ(n, i)
	a.VPSRAD(operand.U8(1), i, half)
	a.VPSUBD(half, i, i)
	return vmul(a, vmul(a, p, e.power(half)), e.power(i))
}

// power returns 2^i for integers i.
func (e *expConsts) power(i vec) vec {
	a := e.a
	r := a.vec()
	a.VPADDD(a.bits(127), i, r)
	a.VPSLLD(operand.U8(23), r, r)
	return r
}

// newLog: x = m·2^e with m from √½ to √2, log m by a polynomial (Cephes).
func newLog(a *asm) func(x vec) vec {
	l := &logConsts{
		a:      a,
		normal: a.word(0x00800000), scale: a.float(1 << 23), sqrtHalf: a.word(0x3f3504f3), one: a.float(1),
		exponent: a.word(0xff800000), c1: a.float(0.693359375), c2: a.float(-2.12194440e-4), minusHalf: a.float(-0.5),
		p: a.floats(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
			-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
		nan: a.word(0x7fc00000), inf: a.word(0x7f800000), minusInf: a.word(0xff800000), shift: a.float(-23),
	}
	return func(x vec) vec { return l.special(x, l.finite(x)) }
}

type logConsts struct {
	a                       *asm
	normal, scale, shift    operand.Op
	sqrtHalf, exponent, one operand.Op
	c1, c2, minusHalf       operand.Op
	p                       []operand.Op
	nan, inf, minusInf      operand.Op
}

// finite is log x for positive finite x.
func (l *logConsts) finite(x vec) vec {
	a := l.a
	small := a.compare(cmpLess, x, l.normal)
	x = a.choose(small, vmul(a, x, l.scale), x)
	shift := a.keep(small, a.inReg(l.shift))
	m, e := l.split(x)
	e = vadd(a, e, shift)
	f := vsub(a, m, l.one)
	z := vmul(a, f, f)
	y := vmul(a, vmul(a, a.polynomial(f, l.p), f), z)
	y = a.fma(e, l.c2, y)
	y = a.fma(z, l.minusHalf, y)
	return a.fma(e, l.c1, vadd(a, f, y))
}

// split returns m and e of a normal number.
func (l *logConsts) split(x vec) (m, e vec) {
	a := l.a
	d := a.vec()
	a.VPSUBD(l.sqrtHalf, x, d)
	e = a.vec()
	a.VPSRAD(operand.U8(23), d, e)
	a.VCVTDQ2PS(e, e)
	m = a.vec()
	a.VPSUBD(a.and(d, l.exponent), x, m)
	return m, e
}

// special puts in the results for zero, negative numbers, Inf and NaN.
func (l *logConsts) special(x, y vec) vec {
	a := l.a
	zero := a.zero()
	y = a.choose(a.compare(cmpLess, x, zero), l.nan, y)
	y = a.choose(a.compare(cmpEqual, x, zero), l.minusInf, y)
	return a.choose(a.compare(cmpNotLess, x, l.inf), x, y)
}

// newLog1p goes by the logarithm of the rounded u = 1+x: what rounding has cost
// is made good by x/(u-1), as in the HP-15C's Advanced Functions Handbook.
func newLog1p(a *asm) func(x vec) vec {
	log, one, inf := newLog(a), a.float(1), a.word(0x7f800000)
	return func(x vec) vec {
		u := vadd(a, x, one)
		d := vsub(a, u, one)
		y := vmul(a, x, vdiv(a, log(u), d))
		y = a.choose(a.compare(cmpEqual, d, a.zero()), x, y)
		return a.choose(a.compare(cmpEqual, u, inf), x, y)
	}
}

// quotient returns x/y for y neither large nor small; a division takes longer
// than the rest of a function. An estimate of 14 bits of the reciprocal is
// improved by a step of Newton's method.
func (a *asm) quotient(x operand.Op, y vec) vec {
	if a.isa == avx2 {
		return vdiv(a, a.inReg(x), y)
	}
	r := a.vec()
	a.VRCP14PS(y, r)
	off := a.fnma(r, y, a.inReg(a.float(1)))
	return vmul(a, a.fma(r, off, r), x)
}

// newTanh: x times a quotient of two polynomials in x², of degree 4 each, with
// the least greatest relative error for |x| up to 9.01; from there on the result
// is 1. Rounding may lead beyond that.
func newTanh(a *asm) func(x vec) vec {
	most, least, one, minusOne := a.float(9.01), a.float(-9.01), a.float(1), a.float(-1)
	p := a.floats(1.3336675423503084e-8, 2.059615104187744e-5, 3.4948036682934274e-3, 0.13380365404264627, 1)
	q := a.floats(7.769212826639842e-7, 3.284351095042129e-4, 2.5873998746246765e-2, 0.46713680820072767, 1)
	return func(x vec) vec {
		// The second operand of min and max is the result for NaN.
		x = vmax(a, a.inReg(least), vmin(a, a.inReg(most), x))
		z := vmul(a, x, x)
		y := a.quotient(vmul(a, x, a.polynomial(z, p)), a.polynomial(z, q))
		return vmax(a, a.inReg(minusOne), vmin(a, a.inReg(one), y))
	}
}

// newSigmoid takes e^-|x| only, which cannot overflow: the result is 1/(1+e)
// for x >= 0 and e/(1+e) for x < 0.
func newSigmoid(a *asm) func(x vec) vec {
	e := newExp(a)
	sign, one := a.word(1<<31), a.float(1)
	return func(x vec) vec {
		t := e.full(a.or(x, sign))
		num := a.choose(a.compare(cmpLess, x, a.zero()), t, a.inReg(one))
		return vdiv(a, num, vadd(a, t, one))
	}
}

// erfConsts are the constants of the error function: for |x| < 1 it is x times a
// polynomial in x². From ½ on its complement is e^(-x²) times u times one in
// u = 1/(1+|x|/2). Both have the least greatest relative error.
type erfConsts struct {
	a          *asm
	exp        *expConsts
	sign, abs  operand.Op
	half, one  operand.Op
	most       operand.Op // beyond, the result does not change
	near, tail []operand.Op
}

func newErfConsts(a *asm, most float64) *erfConsts {
	return &erfConsts{
		a: a, exp: newExp(a), sign: a.word(1 << 31), abs: a.word(1<<31 - 1), half: a.float(0.5), one: a.float(1), most: a.float(most),
		near: a.stored(7.853861306095239e-5, -8.010193718248951e-4, 5.1883277113232715e-3, -2.685381195935939e-2, 0.11283585149583468, -0.3761262582439011, 1.1283791657267814),
		tail: a.stored(-6.137638183729298e-2, 0.296747228178276, -0.5127340574203679, 0.30640012998758465, -4.4960620120192515e-2,
			0.2097958514225951, 0.241489291229122, 0.2825717199165999, 0.28207661112689075),
	}
}

// parts returns erf x where near holds, for |x| below a limit, and erfc |x| elsewhere.
func (e *erfConsts) parts(x vec, limit operand.Op) (near cond, erf, erfc vec) {
	a := e.a
	// The second operand of min is the result for NaN.
	t := vmin(a, a.inReg(e.most), a.and(x, e.abs))
	square := vmul(a, t, t)
	erf = vmul(a, x, a.polynomial(square, e.near))
	u := a.quotient(e.one, a.fma(t, e.half, e.one))
	minus := vsub(a, a.zero(), square)
	rest := a.fma(t, t, minus) // what rounding has taken from the square
	p, n := e.exp.reduced(minus)
	p = vmul(a, p, vmul(a, u, a.polynomial(u, e.tail)))
	p = a.fnma(p, rest, p)
	if a.isa == avx512 {
		erfc = a.vec()
		a.VSCALEFPS(n, p, erfc)
	} else {
		erfc = e.exp.scale(p, n)
	}
	return a.compare(cmpLess, t, limit), erf, erfc
}

func newErf(a *asm) func(x vec) vec {
	e := newErfConsts(a, 5) // the complement is 1e-12 there
	return func(x vec) vec {
		near, erf, erfc := e.parts(x, e.one)
		far := a.or(vsub(a, a.inReg(e.one), erfc), a.and(x, e.sign))
		return a.choose(near, erf, far)
	}
}

func newErfc(a *asm) func(x vec) vec {
	e, two := newErfConsts(a, 10.2), a.float(2) // the complement is 0 there
	return func(x vec) vec {
		near, erf, erfc := e.parts(x, e.half) // 1 - erf x loses digits towards 1
		far := a.choose(a.compare(cmpLess, x, a.zero()), vsub(a, a.inReg(two), erfc), erfc)
		return a.choose(near, vsub(a, a.inReg(e.one), erf), far)
	}
}
