package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitOdd writes the pass of radix 2, 3 or 5.
func (e fftEmitter) emitOdd(radix int) {
	e.begin(fmt.Sprintf("fft%d", radix), "func(y, x *float32, n, stride int, w *float32)", fmt.Sprintf("does a pass of radix %d over n groups of stride elements; each group has %d roots of w.", radix, radix-1))
	y, x, n, stride, w := e.arg("y"), e.arg("x"), e.arg("n"), e.arg("stride"), e.arg("w")
	far, step, q := e.GP64(), e.GP64(), e.GP64()
	e.MOVQ(stride, step)
	e.SHLQ(operand.U8(7), step)
	e.MOVQ(step, far)
	e.IMULQ(n, far)
	from, to := e.places(far, radix), e.places(step, radix)
	e.Label("group")
	roots := e.roots(w, radix-1)
	e.MOVQ(stride, q)
	e.Label("element")
	for h := 0; h < fftImag; h += int(e.isa) {
		e.oddButterfly(radix, func(u int) operand.Mem { return from(x, u, h) }, func(u int) operand.Mem { return to(y, u, h) }, roots)
	}
	for range 2 {
		e.ADDQ(operand.U8(64), x)
		e.ADDQ(operand.U8(64), y)
	}
	e.DECQ(q)
	e.JNZ(operand.LabelRef("element"))
	for range radix - 1 {
		e.ADDQ(step, y)
	}
	e.ADDQ(operand.U8(2*e.elem*(radix-1)), w)
	e.DECQ(n)
	e.JNZ(operand.LabelRef("group"))
	e.end()
}

// places returns what finds element u, at distance u·step from p.
func (e fftEmitter) places(step reg.Register, radix int) func(p reg.Register, u, h int) operand.Mem {
	index, scale := []reg.Register{nil, step, step, nil, step}, []uint8{0, 1, 2, 1, 4}
	if radix > 3 {
		three := e.GP64()
		e.LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, three)
		index[3] = three
	}
	return func(p reg.Register, u, h int) operand.Mem {
		if u == 0 {
			return operand.Mem{Base: p, Disp: h}
		}
		return operand.Mem{Base: p, Index: index[u], Scale: scale[u], Disp: h}
	}
}

// oddButterfly computes the elements of one group: sums and differences of those with
// conjugate roots are multiplied by real numbers, and what comes of them by roots.
func (e fftEmitter) oddButterfly(radix int, from, to func(u int) operand.Mem, roots func(u int) complexVec) {
	if radix == 2 {
		x, y := e.loadComplex(from(0)), e.loadComplex(from(1))
		e.storeComplex(e.plus(x, y), to(0))
		e.storeComplex(e.times(e.minus(x, y), roots(0)), to(1))
		return
	}
	half := radix / 2
	// Where there are few registers, what comes of sums and differences goes to memory
	// before it is multiplied by roots.
	later := e.isa == avx2 && radix > 3
	first := e.loadComplex(from(0))
	sum, difference := make([]complexVec, half+1), make([]complexVec, half+1)
	all := first
	for k := 1; k <= half; k++ {
		x, y := e.loadComplex(from(k)), e.loadComplex(from(radix-k))
		sum[k], difference[k] = e.plus(x, y), e.minus(x, y)
		all = e.plus(all, sum[k])
	}
	e.storeComplex(all, to(0))
	for u := 1; u <= half; u++ {
		even, odd := first, complexVec{}
		for k := 1; k <= half; k++ {
			s, c := math.Sincos(2 * math.Pi * float64(u*k%radix) / float64(radix))
			cos, sin := e.constant(c), e.constant(s)
			even = complexVec{e.madd(sum[k].re, cos, even.re), e.madd(sum[k].im, cos, even.im)}
			if k == 1 {
				odd = complexVec{e.mul(difference[k].im, sin), e.mul(difference[k].re, sin)}
				continue
			}
			odd = complexVec{e.madd(difference[k].im, sin, odd.re), e.madd(difference[k].re, sin, odd.im)}
		}
		// odd is multiplied by -i: its parts are exchanged above, and the second is negative.
		if later {
			e.storeParts(even, odd, to(u), to(radix-u))
			continue
		}
		e.storeComplex(e.times(complexVec{e.add(even.re, odd.re), e.sub(even.im, odd.im)}, roots(u-1)), to(u))
		e.storeComplex(e.times(complexVec{e.sub(even.re, odd.re), e.add(even.im, odd.im)}, roots(radix-u-1)), to(radix-u))
	}
	for u := 1; u < radix && later; u++ {
		e.storeComplex(e.times(e.loadComplex(to(u)), roots(u-1)), to(u))
	}
}

// storeParts stores even - i·odd and even + i·odd, where odd has its parts exchanged.
func (e fftEmitter) storeParts(even, odd complexVec, x, y operand.Mem) {
	e.VMOVUPS(e.add(even.re, odd.re), x)
	e.VMOVUPS(e.sub(even.re, odd.re), y)
	x.Disp += fftImag
	y.Disp += fftImag
	e.VMOVUPS(e.sub(even.im, odd.im), x)
	e.VMOVUPS(e.add(even.im, odd.im), y)
}

// constant is a vector of one number in memory.
func (e fftEmitter) constant(v float64) operand.Op {
	if e.elem == 4 {
		return e.repeated(math.Float32bits(float32(v)), e.lanes())
	}
	return e.quadFloat(v)
}
