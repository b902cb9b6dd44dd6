package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// complexLoops are the loops over complex numbers of single precision, as twice as many float32.
func complexLoops() []loop {
	return []loop{
		{name: "mulComplex", doc: "sets z = x · y, of complex numbers; n is even.", stores: []string{"z"}, loads: []string{"x", "y"}, unroll: 2,
			body: func(a *asm) func(in, s []vec) []vec {
				first := a.alternating(1<<31, 0)
				return func(in, _ []vec) []vec {
					re, im, turned := a.vec(), a.vec(), a.vec()
					a.VMOVSLDUP(in[0], re)
					a.VMOVSHDUP(in[0], im)
					a.VPERMILPS(operand.U8(0b10110001), in[1], turned)
					return []vec{vadd(a, vmul(a, re, in[1]), a.xor(vmul(a, im, turned), first))}
				}
			}},
		unary("conj", "sets y to the conjugates of x; n is even.", 4, func(a *asm) func(x vec) vec {
			second := a.alternating(0, 1<<31)
			return func(x vec) vec { return a.xor(x, second) }
		}),
	}
}

// alternating prepares a constant of two words in turn.
func (a *asm) alternating(even, odd uint32) vec {
	words := make([]uint32, a.lanes())
	for i := range words {
		words[i] = []uint32{even, odd}[i%2]
	}
	name := "even"
	if even == 0 {
		name = "odd"
	}
	return a.copyOf(a.static("sign_"+name, words))
}

// complexEmitter writes a loop over complex numbers of single precision that computes in double
// precision, up to a vector with a result that is not finite.
type complexEmitter struct {
	*emitter64
	done reg.Register
}

// complexParts are real and imaginary parts of as many numbers as a vector has float64. The order of
// numbers is that of pairs from two vectors.
type complexParts struct{ re, im vec }

func emitComplex(a *asm) {
	emitComplexLoop(a, "quotients", "z, x, y *float32, n, step", "sets z = x / y of complex numbers. step is 0 if x is a vector that is used again and again, else 1.",
		func(e *complexEmitter) (complexParts, vec) {
			step := a.arg("step")
			a.IMULQ(e.done, step)
			x, y := e.parts(operand.Mem{Base: a.arg("x"), Index: step, Scale: 8}), e.parts(e.number("y"))
			s := e.pd(e.VDIVPD, e.plus(e.times(y.re, y.re), e.times(y.im, y.im)), e.copyOf(e.quadFloat(1)))
			re := e.times(e.plus(e.times(x.re, y.re), e.times(x.im, y.im)), s)
			im := e.times(e.minus(e.times(x.im, y.re), e.times(x.re, y.im)), s)
			return complexParts{re, im}, e.plus(e.minus(re, re), e.minus(im, im))
		})
	emitComplexLoop(a, "roots", "z, x *float32, n", "sets z to the square roots of complex numbers that are not left of 0.",
		func(e *complexEmitter) (complexParts, vec) {
			x, half := e.parts(e.number("x")), e.quadFloat(0.5)
			size := e.root(e.plus(e.times(x.re, x.re), e.times(x.im, x.im)))
			t := e.root(e.times(e.plus(e.and(x.re, e.quad(1<<63-1)), size), half))
			u := e.pd(e.VDIVPD, e.plus(t, t), x.im)
			left := e.compare64(cmpLess, x.re, e.zero())
			re := e.choose64(left, e.and(u, e.quad(1<<63-1)), t)
			im := e.choose64(left, e.or(t, e.and(x.im, e.quad(1<<63))), u)
			return complexParts{re, im}, e.minus(u, u)
		})
}

// emitComplexLoop writes a function whose body returns results, and what is NaN where they do not
// count.
func emitComplexLoop(a *asm, name, arguments, doc string, body func(e *complexEmitter) (complexParts, vec)) {
	name += a.isa.suffix()
	a.text(name, "func("+arguments+" int) (done int)", name+" "+doc+" It ends before the first vector with what is not finite. n is a multiple of 8.")
	e := &complexEmitter{&emitter64{powEmitter: &powEmitter{asm: a}}, a.GP64()}
	a.XORQ(e.done, e.done)
	a.Label("vector")
	a.CMPQ(e.done, a.arg("n"))
	a.JGE(operand.LabelRef("end"))
	z, rest := body(e)
	e.leaveIfNone(rest)
	e.store(z, e.number("z"))
	a.ADDQ(operand.I32(int32(a.isa)/8), e.done)
	a.JMP(operand.LabelRef("vector"))
	a.Label("end")
	a.Store(e.done, a.ReturnIndex(0))
	a.end()
}

// number is where the numbers of this turn are.
func (e *complexEmitter) number(pointer string) operand.Mem {
	return operand.Mem{Base: e.arg(pointer), Index: e.done, Scale: 8}
}

// parts loads numbers.
func (e *complexEmitter) parts(m operand.Mem) complexParts {
	low, high, p := e.vec(), e.vec(), complexParts{e.vec(), e.vec()}
	e.VCVTPS2PD(m, low)
	e.VCVTPS2PD(m.Offset(int(e.isa)/2), high)
	e.VUNPCKLPD(high, low, p.re)
	e.VUNPCKHPD(high, low, p.im)
	return p
}

// store rounds numbers and stores them.
func (e *complexEmitter) store(p complexParts, m operand.Mem) {
	for i, f := range []func(ops ...operand.Op){e.VUNPCKLPD, e.VUNPCKHPD} {
		e.VMOVUPS(e.narrow(e.pd(f, p.im, p.re)), m.Offset(i*int(e.isa)/2))
	}
}

// leaveIfNone ends the loop if a lane is NaN.
func (e *complexEmitter) leaveIfNone(v vec) {
	c := e.compare64(cmpUnordered, v, v)
	r := e.GP64()
	if e.isa == avx2 {
		e.VMOVMSKPD(c, r.As32())
	} else {
		e.KMOVW(c, r.As32())
	}
	e.TESTL(r.As32(), r.As32())
	e.JNZ(operand.LabelRef("end"))
}
