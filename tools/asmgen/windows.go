package main

import (
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// emitWindows writes the functions that pool: each runs over some windows side
// by side, which cover the same elements from the first one on.
func emitWindows(a *asm, i isa) {
	a.isa = i
	emitPool(a, "poolMax", "sets y to the greatest elements of windows, NaN where there is one", orNaN(vmax), true)
	emitPool(a, "poolSum", "sets y to the sums of the elements of windows", vadd, false)
	for _, gated := range []bool{false, true} {
		emitPoolMaxGrad(a, "poolMaxGrad", "adds gradients y of the maxima of windows to the first of the greatest elements of each in dx", false, gated)
		emitPoolMaxGrad(a, "poolMaxGradApart", "sets dx in windows that do not overlap to gradients y of their maxima, for the first of the greatest elements of each, and zeros", true, gated)
	}
}

// windows is a function over windows being written. Its arguments: offsets of
// the elements that a window covers, in elements from x on; how many of them;
// channels; how many windows; how far those are apart.
type windows struct {
	*asm
	x, y, offsets, taps, channels, count, step reg.Register
	xc, yc, n                                  reg.Register // of the channels that are left in a window
}

const windowsArgs = "offsets *int, taps, channels, count, step int)"

// emitPool writes a function that joins the elements of each window. It may ask for
// memory ahead: that delays sums, which do little else, while maxima gain by it.
func emitPool(a *asm, name, doc string, join binary, ahead bool) {
	w := newWindows(a, name, "func(y, x *float32, "+windowsArgs, doc)
	w.each(4, func(v vectors) {
		acc := make([]vec, v.n)
		o := w.firstOffset()
		if ahead {
			w.ahead(v, o)
		}
		for i := range acc {
			acc[i] = v.load(w.at(w.xc, o, i))
		}
		w.otherTaps(v, func(o reg.Register) {
			if ahead {
				w.ahead(v, o)
			}
			for i := range acc {
				w.VMOVUPS(join(w.asm, acc[i], v.load(w.at(w.xc, o, i))), acc[i])
			}
		})
		for i := range acc {
			v.store(acc[i], operand.Mem{Base: w.yc, Disp: i * int(w.isa)})
		}
	}, []pointer{{w.xc, w.x}, {w.yc, w.y}})
}

// ahead asks for what windows further on read: their lines of an image are more streams
// than the processor follows by itself.
func (w *windows) ahead(v vectors, o reg.Register) {
	const bytes = 2048
	if v.tail != nil {
		return
	}
	for i := range v.n {
		m := w.at(w.xc, o, i)
		m.Disp += bytes
		w.PREFETCHT0(m)
	}
}

// emitPoolMaxGrad writes the function that gives the gradient of each window to
// the first of its greatest elements. Where windows lie apart dx is not read. Where they are
// gated that element has to be greater than 0, and not as great as most.
func emitPoolMaxGrad(a *asm, name, doc string, apart, gated bool) {
	args := windowsArgs
	if gated {
		name, doc, args = name+"Gated", doc+", where that element is greater than 0 and not as great as most", strings.TrimSuffix(args, ")")+", most float32)"
	}
	w := newWindows(a, name, "func(dx, x, y *float32, "+args, doc)
	dx, dxc := a.arg("dx"), a.GP64()
	one := a.float(1)
	gate := func(best, y vec) vec { return y }
	if gated {
		most, none := a.broadcast("most"), a.zero()
		gate = func(best, y vec) vec {
			return a.keep(a.compare(cmpNotGreaterEqual, best, most), a.keep(a.compare(cmpGreater, best, none), y))
		}
	}
	w.each(2, func(v vectors) {
		best, chosen := make([]vec, v.n), make([]vec, v.n)
		o := w.firstOffset()
		for i := range best {
			best[i], chosen[i] = v.load(w.at(w.xc, o, i)), a.zero()
		}
		tap := a.zero()
		w.otherTaps(v, func(o reg.Register) {
			a.VADDPS(one, tap, tap)
			for i := range best {
				x := v.load(w.at(w.xc, o, i))
				c := a.compare(cmpGreater, x, best[i])
				a.VMOVUPS(a.choose(c, x, best[i]), best[i])
				a.VMOVUPS(a.choose(c, tap, chosen[i]), chosen[i])
			}
		})
		for i := range best { // the registers are free now
			a.VMOVUPS(gate(best[i], v.load(operand.Mem{Base: w.yc, Disp: i * int(w.isa)})), best[i])
		}
		zero := a.zero() // added, it makes -0 what a sum makes of it
		give := func(o reg.Register) {
			for i := range best {
				at, before := w.at(dxc, o, i), zero
				if !apart {
					before = v.load(at)
				}
				v.store(vadd(a, before, a.keep(a.compare(cmpEqual, chosen[i], tap), best[i])), at)
			}
		}
		a.clear(tap)
		give(w.firstOffset())
		w.againTaps(v, func(o reg.Register) {
			a.VADDPS(one, tap, tap)
			give(o)
		})
	}, []pointer{{w.xc, w.x}, {w.yc, w.y}, {dxc, dx}})
}

func newWindows(a *asm, name, signature, doc string) *windows {
	a.text(name+a.isa.suffix(), signature, name+a.isa.suffix()+" "+doc+".")
	w := &windows{asm: a, x: a.arg("x"), y: a.arg("y"), offsets: a.arg("offsets"), taps: a.arg("taps"), channels: a.arg("channels"), count: a.arg("count"), step: a.arg("step")}
	w.xc, w.yc, w.n = a.GP64(), a.GP64(), a.GP64()
	a.SHLQ(operand.U8(2), w.step)
	return w
}

// vectors are those of a group of channels: whole ones, or the last part of one.
type vectors struct {
	*asm
	n    int
	tail *tail
	name string
}

func (v vectors) load(m operand.Mem) vec {
	if v.tail != nil {
		return v.tail.load(m)
	}
	return v.copyOf(m)
}

func (v vectors) store(x vec, m operand.Mem) {
	if v.tail != nil {
		v.tail.store(x, m)
		return
	}
	v.VMOVUPS(x, m)
}

// A pointer moves over the channels of a window, from where the window is.
type pointer struct{ channels, window reg.Register }

// each writes the loops: over windows, and over their channels. ptrs move along.
func (w *windows) each(unroll int, body func(v vectors), ptrs []pointer) {
	w.Label("window")
	l := &channelLoop{asm: w.asm, left: w.n}
	for _, p := range ptrs {
		w.MOVQ(p.window, p.channels)
		l.ptrs = append(l.ptrs, p.channels)
	}
	w.MOVQ(w.channels, w.n)
	l.each(unroll, body)
	for _, p := range ptrs {
		if p.channels == w.yc {
			w.LEAQ(operand.Mem{Base: w.y, Index: w.channels, Scale: 4}, w.y)
		} else {
			w.ADDQ(w.step, p.window)
		}
	}
	w.DECQ(w.count)
	w.JNZ(operand.LabelRef("window"))
	w.end()
}

// firstOffset loads the offset of the first element.
func (w *windows) firstOffset() reg.Register {
	o := w.GP64()
	w.MOVQ(operand.Mem{Base: w.offsets}, o)
	return o
}

// at is vector i of an element.
func (w *windows) at(base, offset reg.Register, i int) operand.Mem {
	return operand.Mem{Base: base, Index: offset, Scale: 4, Disp: i * int(w.isa)}
}

// otherTaps writes the loop over the other elements of a window.
func (w *windows) otherTaps(v vectors, f func(offset reg.Register)) { w.tapsFrom(v.name+"_taps", f) }

// againTaps is a second such loop.
func (w *windows) againTaps(v vectors, f func(offset reg.Register)) { w.tapsFrom(v.name+"_again", f) }

func (w *windows) tapsFrom(label string, f func(offset reg.Register)) {
	t, o := w.GP64(), w.GP64()
	w.MOVQ(operand.U32(1), t)
	w.CMPQ(w.taps, operand.I32(1))
	w.JE(operand.LabelRef("after_" + label))
	w.Label(label)
	w.MOVQ(operand.Mem{Base: w.offsets, Index: t, Scale: 8}, o)
	f(o)
	w.INCQ(t)
	w.CMPQ(t, w.taps)
	w.JLT(operand.LabelRef(label))
	w.Label("after_" + label)
}
