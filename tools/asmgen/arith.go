package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

type vec = reg.VecVirtual

// binary is an operation on two vectors; the second may be in memory.
type binary func(a *asm, x vec, y operand.Op) vec

// three adapts an instruction of three operands.
func three(f func(a *asm, ops ...operand.Op)) binary {
	return func(a *asm, x vec, y operand.Op) vec {
		r := a.vec()
		f(a, y, x, r)
		return r
	}
}

var (
	vadd = three(func(a *asm, ops ...operand.Op) { a.VADDPS(ops...) })
	vsub = three(func(a *asm, ops ...operand.Op) { a.VSUBPS(ops...) })
	vmul = three(func(a *asm, ops ...operand.Op) { a.VMULPS(ops...) })
	vdiv = three(func(a *asm, ops ...operand.Op) { a.VDIVPS(ops...) })
	// vmax and vmin return y where either is NaN or both are zero.
	vmax = three(func(a *asm, ops ...operand.Op) { a.VMAXPS(ops...) })
	vmin = three(func(a *asm, ops ...operand.Op) { a.VMINPS(ops...) })
)

// orNaN makes an operation that returns y beside NaN return x if x is NaN.
func orNaN(f binary) binary {
	return func(a *asm, x vec, y operand.Op) vec {
		r := f(a, x, y)
		return a.choose(a.compare(cmpUnordered, x, x), x, r)
	}
}

// fma returns x·y + z.
func (a *asm) fma(x vec, y operand.Op, z operand.Op) vec {
	r := a.copyOf(x)
	if isMem(y) && isMem(z) {
		y = a.copyOf(y)
	}
	if isMem(y) {
		a.VFMADD132PS(y, z, r)
	} else {
		a.VFMADD213PS(z, y, r)
	}
	return r
}

func isMem(op operand.Op) bool { _, ok := op.(operand.Mem); return ok }

// fnma returns z - x·y.
func (a *asm) fnma(x vec, y operand.Op, z vec) vec {
	r := a.copyOf(z)
	a.VFNMADD231PS(y, x, r)
	return r
}

// polynomial evaluates by Horner's rule, the highest coefficient first.
func (a *asm) polynomial(x vec, c []operand.Op) vec {
	r := a.copyOf(c[0])
	for _, k := range c[1:] {
		a.VFMADD213PS(k, x, r)
	}
	return r
}

func binaryLoops() []loop {
	ops := []struct {
		name, doc string
		f         binary
	}{
		{"add", "sets z = x + y.", vadd}, {"sub", "sets z = x - y.", vsub},
		{"mul", "sets z = x · y.", vmul}, {"div", "sets z = x / y.", vdiv},
		{"max", "sets z = max(x, y).", orNaN(vmax)}, {"min", "sets z = min(x, y).", orNaN(vmin)},
	}
	var all []loop
	for _, op := range ops {
		all = append(all, loop{name: op.name, doc: op.doc, stores: []string{"z"}, loads: []string{"x", "y"}, unroll: 4,
			body: func(a *asm) func(in, s []vec) []vec {
				return func(in, _ []vec) []vec { return []vec{op.f(a, in[0], in[1])} }
			}})
	}
	return all
}

// reversed exchanges the operands.
func reversed(f binary) binary {
	return func(a *asm, x vec, y operand.Op) vec { return f(a, y.(vec), x) }
}

func scalarLoops() []loop {
	ops := []struct {
		name, doc string
		f         binary
	}{
		{"addScalar", "sets z = x + s.", vadd}, {"subScalar", "sets z = x - s.", vsub}, {"scalarSub", "sets z = s - x.", reversed(vsub)},
		{"mulScalar", "sets z = x · s.", vmul}, {"divScalar", "sets z = x / s.", vdiv}, {"scalarDiv", "sets z = s / x.", reversed(vdiv)},
		{"maxScalar", "sets z = max(x, s).", orNaN(vmax)}, {"minScalar", "sets z = min(x, s).", orNaN(vmin)},
	}
	var all []loop
	for _, op := range ops {
		all = append(all, loop{name: op.name, doc: op.doc, stores: []string{"z"}, loads: []string{"x"}, scalars: []string{"s"}, unroll: 4,
			body: func(a *asm) func(in, s []vec) []vec {
				return func(in, s []vec) []vec { return []vec{op.f(a, in[0], s[0])} }
			}})
	}
	return append(all, loop{name: "blend", doc: "sets z = v·x + w·y, each product rounded.", stores: []string{"z"}, loads: []string{"x", "y"}, scalars: []string{"v", "w"}, unroll: 2,
		body: func(a *asm) func(in, s []vec) []vec {
			return func(in, s []vec) []vec { return []vec{a.blended(s[0], in[0], s[1], in[1])} }
		}})
}

// unary describes a loop y = f(x).
func unary(name, doc string, unroll int, prepare func(a *asm) func(x vec) vec) loop {
	return loop{name: name, doc: doc, stores: []string{"y"}, loads: []string{"x"}, unroll: unroll,
		body: func(a *asm) func(in, s []vec) []vec {
			f := prepare(a)
			return func(in, _ []vec) []vec { return []vec{f(in[0])} }
		}}
}

func unaryLoops() []loop {
	return []loop{
		unary("neg", "sets y = -x.", 4, func(a *asm) func(x vec) vec {
			sign := a.word(1 << 31)
			return func(x vec) vec { return a.xor(x, sign) }
		}),
		unary("abs", "sets y = |x|.", 4, func(a *asm) func(x vec) vec {
			rest := a.word(1<<31 - 1)
			return func(x vec) vec { return a.and(x, rest) }
		}),
		unary("sign", "sets y to -1, 0 or 1, and to x where that is NaN.", 4, func(a *asm) func(x vec) vec {
			sign, one, zero := a.word(1<<31), a.float(1), a.zero()
			return func(x vec) vec {
				y := a.keep(a.compare(cmpNotEqual, x, zero), a.or(a.and(x, sign), one))
				return a.choose(a.compare(cmpUnordered, x, x), x, y)
			}
		}),
		unary("square", "sets y = x².", 4, func(a *asm) func(x vec) vec {
			return func(x vec) vec { return vmul(a, x, x) }
		}),
		unary("sqrt", "sets y = √x.", 2, func(a *asm) func(x vec) vec {
			return func(x vec) vec { return a.sqrt(x) }
		}),
		unary("rsqrt", "sets y = 1/√x.", 2, func(a *asm) func(x vec) vec {
			one := a.inReg(a.float(1))
			if a.isa == avx2 {
				return func(x vec) vec { return vdiv(a, one, a.sqrt(x)) }
			}
			half := a.float(0.5)
			return func(x vec) vec { return a.rsqrt(x, one, half) }
		}),
		unary("relu", "sets y = max(x, 0).", 4, func(a *asm) func(x vec) vec {
			zero := a.zero()
			return func(x vec) vec { return a.keep(a.compare(cmpNotLessEqual, x, zero), x) }
		}),
		unary("truncate", "sets y to x as int32, the least one for what does not fit.", 4, func(a *asm) func(x vec) vec {
			return func(x vec) vec { return a.converted(a.VCVTTPS2DQ, x) }
		}),
		unary("fromInt32", "sets y to x, which are int32, as float32.", 4, func(a *asm) func(x vec) vec {
			return func(x vec) vec { return a.converted(a.VCVTDQ2PS, x) }
		}),
	}
}

func (a *asm) converted(f func(ops ...operand.Op), x vec) vec {
	r := a.vec()
	f(x, r)
	return r
}

func (a *asm) sqrt(x vec) vec {
	r := a.vec()
	a.VSQRTPS(x, r)
	return r
}

// rsqrt improves an estimate y of 14 bits by a step of Newton's method, y +
// y/2·(1 - x·y²): division and square root would take several times as long.
// Where that is infinity times zero, the estimate is exact.
func (a *asm) rsqrt(x, one vec, half operand.Op) vec {
	y := a.vec()
	a.VRSQRT14PS(x, y)
	off := a.fnma(vmul(a, x, y), y, one)
	better := a.fma(vmul(a, y, half), off, y)
	return a.choose(a.compare(cmpUnordered, off, off), y, better)
}

// gradient describes a loop z = f(x, y).
func gradient(name, doc string, prepare func(a *asm) func(x, y vec) vec) loop {
	return loop{name: name, doc: doc, stores: []string{"z"}, loads: []string{"x", "y"}, unroll: 4,
		body: func(a *asm) func(in, s []vec) []vec {
			f := prepare(a)
			return func(in, _ []vec) []vec { return []vec{f(in[0], in[1])} }
		}}
}

func gradientLoops() []loop {
	return []loop{
		gradient("reluGrad", "sets z to x where y > 0 and to 0 elsewhere.", func(a *asm) func(x, y vec) vec {
			zero := a.zero()
			return func(x, y vec) vec { return a.keep(a.compare(cmpGreater, y, zero), x) }
		}),
		gradient("relu6Grad", "sets z to x where y is above 0 and below 6, and to 0 elsewhere.", func(a *asm) func(x, y vec) vec {
			zero, six := a.zero(), a.inReg(a.float(6))
			return func(x, y vec) vec {
				return a.keep(a.compare(cmpLess, y, six), a.keep(a.compare(cmpGreater, y, zero), x))
			}
		}),
		gradient("tanhGrad", "sets z = y·(1-x²).", func(a *asm) func(x, y vec) vec {
			one := a.inReg(a.float(1))
			return func(x, y vec) vec { return vmul(a, y, a.fnma(x, x, one)) }
		}),
		gradient("sigmoidGrad", "sets z = y·x·(1-x).", func(a *asm) func(x, y vec) vec {
			one := a.inReg(a.float(1))
			return func(x, y vec) vec { return vmul(a, vmul(a, y, x), vsub(a, one, x)) }
		}),
	}
}
