package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fold describes a function that makes one number of n float32.
type fold struct {
	name, doc string
	signature string
	accs      int // vectors at a time and the registers that gather them, even
	// stores says that each step has a vector to store at y, reads that it takes one from there.
	stores, reads bool
	// begin prepares constants and returns what is done with them.
	begin func(a *asm) folding
}

// folding is the work of a fold; t is nil but for the last, partial vector.
type folding struct {
	first  vec // of every accumulator
	load   func(m operand.Mem, t *tail) vec
	step   func(acc, v vec, t *tail) (stored vec)
	both   func(acc, v [2]vec)            // two steps at once, if not nil: for what stores nothing
	with   func(acc, v vec, y operand.Op) // the step of what reads y
	join   binary                         // of two accumulators
	again  func()                         // begins a row, if not nil
	finish func(x reg.Register)           // may replace the result, if not nil
}

// emit writes the function. What neither stores nor reads beside x folds rows, each of n
// elements: a call for each of many short ones takes as long as their elements.
func (f fold) emit(a *asm) {
	a.text(f.name+a.isa.suffix(), f.signature, f.name+a.isa.suffix()+" "+f.doc)
	e := &foldEmitter{fold: f, asm: a, x: a.arg("x"), n: a.arg("n")}
	if f.stores || f.reads {
		e.y = a.arg("y")
		e.folding = f.begin(a)
		a.Store(e.run(), a.ReturnIndex(0))
		a.end()
		return
	}
	e.rows(a.arg("z"), a.arg("rows"))
	a.end()
}

// rows writes the loop over rows.
func (e *foldEmitter) rows(z, rows reg.Register) {
	n := e.n
	e.n = e.GP64()
	e.folding = e.begin(e.asm)
	e.Label("row")
	e.MOVQ(n, e.n)
	if e.again != nil {
		e.again()
	}
	r := e.run()
	e.TESTQ(z, z)
	e.JZ(operand.LabelRef("next"))
	e.VMOVSS(r, operand.Mem{Base: z})
	e.ADDQ(operand.I32(4), z)
	e.Label("next")
	e.DECQ(rows)
	e.JNZ(operand.LabelRef("row"))
	e.Store(r, e.ReturnIndex(0))
}

// run writes a fold: accs vectors at a time, single ones, a tail, and the sum across lanes.
func (e *foldEmitter) run() reg.Register {
	e.acc = nil
	for range e.accs {
		e.acc = append(e.acc, e.copyOf(e.first))
	}
	e.vectors("unrolled", e.accs)
	e.vectors("single", 1)
	e.tail()
	if e.y == nil {
		e.LEAQ(operand.Mem{Base: e.x, Index: e.n, Scale: 4}, e.x) // past the tail
	}
	r := e.across(e.join, e.pairs(e.acc))
	if e.finish != nil {
		e.finish(r)
	}
	return r
}

// foldEmitter is a fold being written.
type foldEmitter struct {
	fold
	*asm
	folding
	x, y, n reg.Register
	acc     []vec
}

func (e *foldEmitter) vectors(label string, u int) {
	after := "after_" + label
	step := u * e.lanes()
	e.CMPQ(e.n, operand.I32(int32(step)))
	e.JLT(operand.LabelRef(after))
	e.Label(label)
	if e.both != nil && u > 1 {
		e.pairwise(u)
	} else {
		for i := range u {
			e.vector(i)
		}
	}
	e.ADDQ(operand.I32(int32(4*step)), e.x)
	if e.stores || e.reads {
		e.ADDQ(operand.I32(int32(4*step)), e.y)
	}
	e.SUBQ(operand.I32(int32(step)), e.n)
	e.CMPQ(e.n, operand.I32(int32(step)))
	e.JGE(operand.LabelRef(label))
	e.Label(after)
}

func (e *foldEmitter) vector(i int) {
	v := e.load(operand.Mem{Base: e.x, Disp: i * int(e.isa)}, nil)
	if e.reads {
		e.with(e.acc[i], v, operand.Mem{Base: e.y, Disp: i * int(e.isa)})
		return
	}
	if s := e.step(e.acc[i], v, nil); e.stores {
		e.VMOVUPS(s, operand.Mem{Base: e.y, Disp: i * int(e.isa)})
	}
}

// pairwise takes u vectors two by two.
func (e *foldEmitter) pairwise(u int) {
	at := func(i int) vec { return e.load(operand.Mem{Base: e.x, Disp: i * int(e.isa)}, nil) }
	for i := 0; i < u; i += 2 {
		e.both([2]vec{e.acc[i], e.acc[i+1]}, [2]vec{at(i), at(i + 1)})
	}
}

func (e *foldEmitter) tail() {
	e.TESTQ(e.n, e.n)
	e.JZ(operand.LabelRef("join"))
	t := e.newTail(e.n)
	v := e.load(operand.Mem{Base: e.x}, &t)
	if e.reads {
		e.with(e.acc[e.accs-1], v, t.load(operand.Mem{Base: e.y}))
	} else if s := e.step(e.acc[e.accs-1], v, &t); e.stores {
		t.store(s, operand.Mem{Base: e.y})
	}
	e.Label("join")
}

// pairs joins registers two by two.
func (e *foldEmitter) pairs(acc []vec) vec {
	if len(acc) == 1 {
		return acc[0]
	}
	h := len(acc) / 2
	return e.join(e.asm, e.pairs(acc[:h]), e.pairs(acc[h:]))
}

// across joins the lanes of a register, halves first.
func (a *asm) across(join binary, v vec) reg.Register {
	was := a.isa
	defer func() { a.isa = was }()
	y := v
	if a.isa == avx512 {
		upper := a.YMM()
		a.VEXTRACTF64X4(operand.U8(1), v, upper)
		a.isa = avx2
		y = join(a, v.AsY().(vec), upper)
	}
	a.isa = xmm
	upper := a.XMM()
	if was == avx512 {
		a.VEXTRACTF32X4(operand.U8(1), y, upper) // reaches all registers
	} else {
		a.VEXTRACTF128(operand.U8(1), y, upper)
	}
	x := join(a, y.AsX().(vec), upper)
	for _, pick := range []uint8{0x0e, 0x01} {
		s := a.XMM()
		a.VPERMILPS(operand.U8(pick), x, s)
		x = join(a, x, s)
	}
	return x
}

func emitFolds(a *asm, i isa) {
	a.isa = i
	sumFold(i).emit(a)
	squaresFold().emit(a)
	prodFold(i).emit(a)
	emitSum64(a)
	extremeFold(i, "maxOf", "greatest", vmax, 0xff800000).emit(a)
	extremeFold(i, "minOf", "least", vmin, 0x7f800000).emit(a)
	expShiftFold().emit(a)
	emitSoftmax(a)
}

// loadZero reads a vector, zeros beyond the tail.
func loadZero(a *asm) func(m operand.Mem, t *tail) vec {
	return func(m operand.Mem, t *tail) vec {
		if t != nil {
			return t.load(m)
		}
		return a.copyOf(m)
	}
}

// loadElse reads a vector, lanes of other beyond the tail.
func loadElse(a *asm, other vec) func(m operand.Mem, t *tail) vec {
	return func(m operand.Mem, t *tail) vec {
		if t == nil {
			return a.copyOf(m)
		}
		return a.choose(t.c, t.load(m), other)
	}
}

// foldRows is the signature of what sets z, if not nil, to the folds of rows of n elements of x,
// one at least, and returns the last of them.
const foldRows = "func(z, x *float32, rows, n int) float32"

func sumFold(i isa) fold {
	return fold{name: "sum", doc: "sets z, if not nil, to the sums of rows of n elements of x, and returns the last.", signature: foldRows, accs: 256 / int(i),
		begin: func(a *asm) folding {
			return folding{first: a.zero(), load: loadZero(a), join: vadd,
				step: func(acc, v vec, _ *tail) vec { a.VADDPS(v, acc, acc); return nil }}
		}}
}

func squaresFold() fold {
	return fold{name: "squares", doc: "sets z, if not nil, to the sums of the squares of rows of n elements of x, and returns the last.", signature: foldRows, accs: 8,
		begin: func(a *asm) folding {
			return folding{first: a.zero(), load: loadZero(a), join: vadd,
				step: func(acc, v vec, _ *tail) vec { a.VFMADD231PS(v, v, acc); return nil }}
		}}
}

func prodFold(i isa) fold {
	return fold{name: "prod", doc: "sets z, if not nil, to the products of rows of n elements of x, and returns the last.", signature: foldRows, accs: 256 / int(i),
		begin: func(a *asm) folding {
			one := a.copyOf(a.float(1))
			return folding{first: one, join: vmul, load: loadElse(a, one),
				step: func(acc, v vec, _ *tail) vec { a.VMULPS(v, acc, acc); return nil }}
		}}
}

// dotFold sums up products: eight registers, as a sum waits for the one before for as
// long as four multiplications take.
func dotFold() fold {
	return fold{name: "dot", doc: "returns the sum of the products of x and y.", signature: "func(x *float32, n int, y *float32) float32", accs: 8, reads: true,
		begin: func(a *asm) folding {
			return folding{first: a.zero(), load: loadZero(a), join: vadd,
				with: func(acc, v vec, y operand.Op) { a.VFMADD231PS(y, v, acc) }}
		}}
}

// emitDot writes the product of a row and a vector.
func emitDot(a *asm, i isa) {
	a.isa = i
	dotFold().emit(a)
}

// extremeFold is the fold to the greatest or least element. The instructions
// lose a NaN unless it comes last, so NaN is looked for beside.
func extremeFold(i isa, name, which string, f binary, first uint32) fold {
	return fold{name: name, doc: "sets z, if not nil, to the " + which + " elements of rows of n elements of x, NaN if there is one, and returns the last.",
		signature: foldRows, accs: 256 / int(i),
		begin: func(a *asm) folding {
			init := a.copyOf(a.word(first))
			seen := a.vec()
			return folding{first: init, join: f, again: func() { a.VMOVUPS(a.zero(), seen) }, load: loadElse(a, init),
				step: func(acc, v vec, _ *tail) vec {
					a.mark(seen, v)
					a.extreme(f, acc, v)
					return nil
				},
				both: func(acc, v [2]vec) {
					a.markPair(seen, v)
					a.extreme(f, acc[0], v[0])
					a.extreme(f, acc[1], v[1])
				},
				finish: func(x reg.Register) { a.orSeenNaN(seen, x) },
			}
		}}
}

// extreme sets acc to f(acc, v).
func (a *asm) extreme(f binary, acc, v vec) { a.VMOVAPS(f(a, acc, v), acc) }

// mark makes lanes of seen NaN where v is.
func (a *asm) mark(seen, v vec) {
	if a.isa == avx2 {
		a.VORPS(a.compare(cmpUnordered, v, v), seen, seen)
		return
	}
	a.VMOVAPS(v, a.compare(cmpUnordered, v, v), seen)
}

// markPair makes lanes of seen NaN where either of v is: one comparison serves both.
func (a *asm) markPair(seen vec, v [2]vec) {
	c := a.compare(cmpUnordered, v[0], v[1])
	if a.isa == avx2 {
		a.VORPS(c, seen, seen)
		return
	}
	a.VADDPS(v[0], v[1], c, seen)
}

// orSeenNaN sets x to NaN if a lane of seen is.
func (a *asm) orSeenNaN(seen vec, x reg.Register) {
	r := a.GP32()
	if a.isa == avx2 {
		a.VMOVMSKPS(seen, r)
	} else {
		a.KMOVW(a.compare(cmpUnordered, seen, seen), r)
	}
	a.TESTL(r, r)
	a.JZ(operand.LabelRef("number"))
	a.VMOVSS(a.repeated(0x7fc00000, 1), x)
	a.Label("number")
}

func expShiftFold() fold {
	return fold{name: "expShift", doc: "sets y = e^(x-shift) and returns the sum of y.", stores: true,
		signature: "func(y, x *float32, n int, shift float32) float32", accs: 2,
		begin: func(a *asm) folding {
			shift, e := a.broadcast("shift"), newExp(a)
			return folding{first: a.zero(), load: loadZero(a), join: vadd,
				step: func(acc, v vec, t *tail) vec {
					y := e.full(vsub(a, v, shift))
					add := y
					if t != nil {
						add = a.keep(t.c, y)
					}
					a.VADDPS(add, acc, acc)
					return y
				}}
		}}
}
