package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitOdd writes the pass of radix 3 or 5.
func emitOdd(a *asm, radix int) {
	name := fmt.Sprintf("fft%d%s", radix, a.isa.suffix())
	a.text(name, "func(y, x *float32, n, stride int, w *float32)", fmt.Sprintf("%s does a pass of radix %d over n groups of stride elements; each group has %d roots of w.", name, radix, radix-1))
	y, x, n, stride, w := a.arg("y"), a.arg("x"), a.arg("n"), a.arg("stride"), a.arg("w")
	far, step, q := a.GP64(), a.GP64(), a.GP64()
	a.MOVQ(stride, step)
	a.SHLQ(operand.U8(7), step)
	a.MOVQ(step, far)
	a.IMULQ(n, far)
	from, to := a.places(far, radix), a.places(step, radix)
	a.Label("group")
	roots := a.roots(w, radix-1)
	a.MOVQ(stride, q)
	a.Label("element")
	for h := 0; h < fftImag; h += int(a.isa) {
		a.oddButterfly(radix, func(u int) operand.Mem { return from(x, u, h) }, func(u int) operand.Mem { return to(y, u, h) }, roots)
	}
	for range 2 {
		a.ADDQ(operand.U8(64), x)
		a.ADDQ(operand.U8(64), y)
	}
	a.DECQ(q)
	a.JNZ(operand.LabelRef("element"))
	for range radix - 1 {
		a.ADDQ(step, y)
	}
	a.ADDQ(operand.U8(8*(radix-1)), w)
	a.DECQ(n)
	a.JNZ(operand.LabelRef("group"))
	a.end()
}

// places returns what finds element u, at distance u·step from p.
func (a *asm) places(step reg.Register, radix int) func(p reg.Register, u, h int) operand.Mem {
	index, scale := []reg.Register{nil, step, step, nil, step}, []uint8{0, 1, 2, 1, 4}
	if radix > 3 {
		three := a.GP64()
		a.LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, three)
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
func (a *asm) oddButterfly(radix int, from, to func(u int) operand.Mem, roots func(u int) complexVec) {
	half := radix / 2
	// Where there are few registers, what comes of sums and differences goes to memory
	// before it is multiplied by roots.
	later := a.isa == avx2 && radix > 3
	first := a.loadComplex(from(0))
	sum, difference := make([]complexVec, half+1), make([]complexVec, half+1)
	all := first
	for k := 1; k <= half; k++ {
		x, y := a.loadComplex(from(k)), a.loadComplex(from(radix-k))
		sum[k], difference[k] = a.plus(x, y), a.minus(x, y)
		all = a.plus(all, sum[k])
	}
	a.storeComplex(all, to(0))
	for u := 1; u <= half; u++ {
		even, odd := first, complexVec{}
		for k := 1; k <= half; k++ {
			s, c := math.Sincos(2 * math.Pi * float64(u*k%radix) / float64(radix))
			cos, sin := a.constant(c), a.constant(s)
			even = complexVec{a.fma(sum[k].re, cos, even.re), a.fma(sum[k].im, cos, even.im)}
			if k == 1 {
				odd = complexVec{vmul(a, difference[k].im, sin), vmul(a, difference[k].re, sin)}
				continue
			}
			odd = complexVec{a.fma(difference[k].im, sin, odd.re), a.fma(difference[k].re, sin, odd.im)}
		}
		// odd is multiplied by -i: its parts are exchanged above, and the second is negative.
		if later {
			a.storeParts(even, odd, to(u), to(radix-u))
			continue
		}
		a.storeComplex(a.times(complexVec{vadd(a, even.re, odd.re), vsub(a, even.im, odd.im)}, roots(u-1)), to(u))
		a.storeComplex(a.times(complexVec{vsub(a, even.re, odd.re), vadd(a, even.im, odd.im)}, roots(radix-u-1)), to(radix-u))
	}
	for u := 1; u < radix && later; u++ {
		a.storeComplex(a.times(a.loadComplex(to(u)), roots(u-1)), to(u))
	}
}

// storeParts stores even - i·odd and even + i·odd, where odd has its parts exchanged.
func (a *asm) storeParts(even, odd complexVec, x, y operand.Mem) {
	a.VMOVUPS(vadd(a, even.re, odd.re), x)
	a.VMOVUPS(vsub(a, even.re, odd.re), y)
	x.Disp += fftImag
	y.Disp += fftImag
	a.VMOVUPS(vsub(a, even.im, odd.im), x)
	a.VMOVUPS(vadd(a, even.im, odd.im), y)
}

// constant is a vector of one number in memory.
func (a *asm) constant(v float64) operand.Op {
	return a.repeated(math.Float32bits(float32(v)), a.lanes())
}
