package main

import (
	"math"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// loop describes an elementwise function over n float32: pointers to store to
// and to load from, and scalars that all elements share.
type loop struct {
	name, doc     string
	stores, loads []string
	scalars       []string
	unroll        int
	// past makes whole vectors bypass the caches; what is stored to has to be aligned.
	past bool
	// reports: the function returns 1 if the first load has a number whose absolute value is
	// not less than this, or NaN. 0: nothing is returned.
	reports float32
	// rows: the function computes rows, each with its own scalar.
	rows bool
	// body prepares constants and returns what is done to a vector of every
	// load and scalar: the vectors for every store.
	body func(a *asm) func(in, scalars []reg.VecVirtual) []reg.VecVirtual
}

// scalarRowLoops are the loops with one scalar over rows of n elements, each of which has its own.
func scalarRowLoops() []loop {
	var all []loop
	for _, l := range scalarLoops() {
		name, ok := strings.CutSuffix(l.name, "Scalar")
		if ok && slices.Contains([]string{"add", "sub", "mul", "div"}, name) {
			l.name, l.doc, l.rows = name+"Column", strings.TrimSuffix(l.doc, ".")+" for rows of n elements, one at least, s[i] being for row i.", true
			all = append(all, l)
		}
	}
	return all
}

// pointers lists stores and loads, one that is both once.
func (l loop) pointers() []string {
	all := append([]string{}, l.stores...)
	for _, p := range l.loads {
		if !slices.Contains(l.stores, p) {
			all = append(all, p)
		}
	}
	return all
}

func (l loop) signature() string {
	if l.rows {
		return "func(" + strings.Join(l.pointers(), ", ") + ", s *float32, rows, n int)"
	}
	s := "func(" + strings.Join(l.pointers(), ", ") + " *float32, n int"
	if len(l.scalars) > 0 {
		s += ", " + strings.Join(l.scalars, ", ") + " float32"
	}
	if l.reports > 0 {
		return s + ") (is int)"
	}
	return s + ")"
}

// emit writes the function: an unrolled loop, a loop of one vector, a tail.
func (l loop) emit(a *asm) {
	a.text(l.name+a.isa.suffix(), l.signature(), l.name+a.isa.suffix()+" "+l.doc)
	e := &loopEmitter{loop: l, asm: a, pointerOf: map[string]reg.Register{}}
	for _, p := range l.pointers() {
		e.pointerOf[p] = a.arg(p)
	}
	e.n = a.arg("n")
	if l.rows {
		e.eachRow(a.arg("s"), a.arg("rows"))
		a.end()
		return
	}
	for _, s := range l.scalars {
		e.scalars = append(e.scalars, a.broadcast(s))
	}
	e.do = l.body(a)
	if l.reports > 0 {
		e.watch()
	}
	e.all()
	if l.past {
		a.SFENCE() // other processors see these stores before what the caller does next
	}
	if l.reports > 0 {
		e.report()
	}
	a.end()
}

// eachRow writes the loop over rows.
func (e *loopEmitter) eachRow(s, rows reg.Register) {
	n := e.n
	e.n, e.scalars = e.GP64(), []reg.VecVirtual{e.vec()}
	e.do = e.body(e.asm)
	e.Label("row")
	e.VBROADCASTSS(operand.Mem{Base: s}, e.scalars[0])
	e.ADDQ(operand.I32(4), s)
	e.MOVQ(n, e.n)
	e.all()
	for _, p := range e.pointers() {
		e.LEAQ(operand.Mem{Base: e.pointerOf[p], Index: e.n, Scale: 4}, e.pointerOf[p])
	}
	e.DECQ(rows)
	e.JNZ(operand.LabelRef("row"))
}

// all writes the loops over the elements.
func (e *loopEmitter) all() {
	if e.unroll > 1 {
		e.vectors("unrolled", e.unroll)
	}
	e.vectors("single", 1)
	e.tail()
}

// loopEmitter is a loop being written.
type loopEmitter struct {
	loop
	*asm
	pointerOf map[string]reg.Register
	n         reg.Register
	scalars   []reg.VecVirtual
	most      reg.VecVirtual // see watch
	do        func(in, scalars []reg.VecVirtual) []reg.VecVirtual
}

// watch makes the body collect the greatest absolute value, as an integer, in which NaN is
// greater than any.
func (e *loopEmitter) watch() {
	e.most = e.zero()
	do, abs := e.do, e.word(1<<31-1)
	e.do = func(in, scalars []reg.VecVirtual) []reg.VecVirtual {
		e.VPMAXUD(e.and(in[0], abs), e.most, e.most)
		return do(in, scalars)
	}
}

// report stores whether that is not less than what the loop reports.
func (e *loopEmitter) report() {
	large, is := e.vec(), e.GP64()
	e.VPSUBD(e.most, e.inReg(e.word(math.Float32bits(e.reports)-1)), large) // negative if most is greater
	if e.isa == avx2 {
		e.VMOVMSKPS(large, is.As32())
	} else {
		k := e.K()
		e.VPMOVD2M(large, k)
		e.KMOVW(k, is.As32())
	}
	e.NEGQ(is)
	e.SHRQ(operand.U8(63), is)
	e.Store(is, e.ReturnIndex(0))
}

// vectors writes the loop over u whole vectors at a time.
func (e *loopEmitter) vectors(label string, u int) {
	after := "after_" + label
	step := u * e.lanes()
	e.CMPQ(e.n, operand.I32(int32(step)))
	e.JLT(operand.LabelRef(after))
	e.Label(label)
	for i := range u {
		e.vector(i * int(e.isa))
	}
	for _, p := range e.pointers() {
		e.ADDQ(operand.I32(int32(4*step)), e.pointerOf[p])
	}
	e.SUBQ(operand.I32(int32(step)), e.n)
	e.CMPQ(e.n, operand.I32(int32(step)))
	e.JGE(operand.LabelRef(label))
	e.Label(after)
}

func (e *loopEmitter) vector(disp int) {
	var in []reg.VecVirtual
	for _, p := range e.loads {
		in = append(in, e.copyOf(operand.Mem{Base: e.pointerOf[p], Disp: disp}))
	}
	for i, v := range e.do(in, e.scalars) {
		e.put(v, operand.Mem{Base: e.pointerOf[e.stores[i]], Disp: disp})
	}
}

func (e *loopEmitter) put(v reg.VecVirtual, m operand.Mem) {
	if e.past {
		e.VMOVNTPS(v, m)
		return
	}
	e.VMOVUPS(v, m)
}

func (e *loopEmitter) tail() {
	e.TESTQ(e.n, e.n)
	e.JZ(operand.LabelRef("done"))
	t := e.newTail(e.n)
	var in []reg.VecVirtual
	for _, p := range e.loads {
		in = append(in, t.load(operand.Mem{Base: e.pointerOf[p]}))
	}
	for i, v := range e.do(in, e.scalars) {
		t.store(v, operand.Mem{Base: e.pointerOf[e.stores[i]]})
	}
	e.Label("done")
}

// emitElementwise writes all elementwise functions.
func emitElementwise(a *asm, i isa) {
	a.isa = i
	for _, l := range loops() {
		l.emit(a)
	}
	emitSelect(a)
	emitComparisons(a)
	emitConversions(a)
	emitPixels(a)
	emitPow(a)
	emitFloat64(a)
	emitComplex(a)
}

// loops lists all elementwise functions.
func loops() []loop {
	return slices.Concat(binaryLoops(), scalarLoops(), scalarRowLoops(), unaryLoops(), gradientLoops(), mathLoops(), trigLoops(), complexLoops())
}
