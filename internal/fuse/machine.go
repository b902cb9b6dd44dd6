package fuse

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/machine"
)

// Steps that follow one another and are simple run as one, as machine code: a value that
// only they need stays in a vector register.
//
//	block      the cache                          vector registers
//	[0, n)     x[0:n] ─ Exp ─▶ r0;  r0[0:16] ─ Mul ─▶ ─ Add ─▶ ─ Max ─▶ y[0:16], …

// isa is what code is made of: the instructions that the loops of kernels use.
var isa machine.ISA

func init() { kernel.Dispatch(&isa, machine.AVX2, machine.AVX512) }

// fewElements is how many elements a stage must have for machine code to be made: loops
// run as fast on fewer.
const fewElements = 16

// shortRow is how many elements rows with a column have at least that code is called for,
// once for each of them.
const shortRow = 32

// compile puts machine code in the place of runs of steps.
func (m *planner) compile(st *stage) {
	if isa == machine.None || !machine.Available() || st.whole || st.n*st.steps[0].per < fewElements {
		return
	}
	var steps []step
	for from := 0; from < len(st.steps); {
		to := from
		for to < len(st.steps) && m.simple(st, &st.steps[to]) && st.steps[to].per == st.steps[from].per {
			to++
		}
		if to == from {
			to++
			steps = append(steps, st.steps[from])
		} else {
			steps = append(steps, m.compiled(st, from, to)...)
		}
		from = to
	}
	st.steps = steps
	st.widen()
}

// widen makes the blocks of a stage as long as a call of machine code may be if that is
// all that it does: nothing has to stay in the cache from one step to the next.
func (st *stage) widen() {
	if len(st.rows) > 0 || len(st.steps) != 1 || st.steps[0].code == nil || st.steps[0].per != 1 {
		return
	}
	st.block = min(st.n, machine.MaxElements)
	st.grain = max(st.grain, st.block)
	st.registers = 0
}

// simple reports whether there are instructions for a step.
func (m *planner) simple(st *stage, s *step) bool {
	if s.loop == nil || s.runs != nil && !s.spans || st.block*s.per > machine.MaxElements || s.columns != nil && s.per < shortRow {
		return false
	}
	for a := range s.args {
		x := &s.args[a]
		if !sized(x.size) || s.shares(x) && x.size != int(machine.Word) || x.how == expanded && !s.shares(x) {
			return false
		}
	}
	return m.hasLanes(s.value-m.first()) && sized(s.size)
}

// span marks operands of step k whose rows are repeated, as a mask is for the heads of attention,
// and reports whether code for rows can read all operands.
func (m *planner) span(st *stage, s *step, k int) bool {
	if s.per < shortRow {
		return false
	}
	for a := range s.args {
		x := &s.args[a]
		if x.how != expanded && x.how != rowed {
			continue
		}
		walk, ok := elementwise.NewBroadcastTo(m.shapes[k], m.views[k][a])
		if !ok || m.computedBy(x.value) || !walk.KeepsRows(s.per) {
			return false
		}
		x.how, x.walk = spanned, walk
	}
	return true
}

// hasLanes reports whether there are instructions for what instruction k of a program does.
func (p *program) hasLanes(k int) bool {
	return p.code[k].kernel != nil && p.code[k].kernel.Lanes != nil
}

// instructed counts the instructions of a program that machine code can be made of where
// the processor and the system allow it: reports are the same everywhere.
func (p *program) instructed() (n int) {
	if !machine.Available() {
		return 0
	}
	for k := range p.code {
		if p.hasLanes(k) {
			n++
		}
	}
	return n
}

// shares reports whether one element of an operand is for many results: it is repeated, or
// a column.
func (s *step) shares(x *arg) bool { return x.how == single || s.isColumn(x) }

func (s *step) isColumn(x *arg) bool { return s.columns != nil && x.per != s.per }

// sized reports whether code takes elements of a size.
func sized(bytes int) bool {
	return bytes == int(machine.Word) || bytes == int(machine.Byte) && isa.Bytes()
}

// compiled returns what runs the steps from one up to another one: machine code, or where
// that needs too many registers the halves of them; single steps are left as they are.
func (m *planner) compiled(st *stage, from, to int) []step {
	if to-from < 2 {
		return st.steps[from:to]
	}
	if s, ok := m.lower(st, from, to); ok {
		return []step{s}
	}
	mid := (from + to) / 2
	return append(m.compiled(st, from, mid), m.compiled(st, mid, to)...)
}

// lower makes one step of several.
func (m *planner) lower(st *stage, from, to int) (s step, ok bool) {
	l := &lowering{planner: m, st: st, code: machine.New(isa), values: make(map[source]machine.Value, 2*(to-from))}
	for i := from; i < to; i++ {
		s := &st.steps[i]
		if !l.step(s) {
			return step{}, false
		}
		if s.register == none || st.reads(s.value, to) {
			l.store(s)
		}
	}
	if !l.fits() {
		return step{}, false
	}
	code, err := l.code.Assemble()
	if err != nil {
		return step{}, false
	}
	p, err := machine.Load(isa, code)
	return step{code: p, args: l.streams, per: st.steps[from].per, byRow: l.byRow, covers: to - from}, err == nil
}

// reads reports whether a step from one on reads a value.
func (st *stage) reads(v, from int) bool {
	for i := from; i < len(st.steps); i++ {
		for a := range st.steps[i].args {
			if st.steps[i].args[a].value == v {
				return true
			}
		}
	}
	return false
}

// A lowering makes code of steps.
type lowering struct {
	*planner
	st      *stage
	code    *machine.Code
	values  map[source]machine.Value
	streams []arg
	in      []machine.Value // the operands of a step
	byRow   bool            // a stream is a column
}

// A source is an operand as it is read.
type source struct{ value, at int }

// computed is the place of sources that are read, or computed, element by element;
// shared that of those that have one element.
const computed, shared = -1, -2

// step adds what a step computes, and reports whether there are instructions for that.
func (l *lowering) step(s *step) bool {
	l.in = l.in[:0]
	for a := range s.args {
		l.in = append(l.in, l.operand(s, &s.args[a]))
	}
	v, ok := l.program.code[s.value-l.first()].kernel.Lanes(l.code, l.in)
	l.values[source{s.value, computed}] = v
	return ok
}

// operand returns the value of an operand, which is read when it is used first.
func (l *lowering) operand(s *step, x *arg) machine.Value {
	from := source{x.value, computed}
	switch {
	case x.how == spanned:
		return l.span(x)
	case s.shares(x):
		from.at = shared
	case x.how == rowed:
		from.at = x.at
	}
	v, ok := l.values[from]
	if ok {
		return v
	}
	if s.shares(x) {
		v = l.code.Spread()
	} else {
		v = l.code.Load(machine.Size(x.size))
	}
	l.values[from], l.streams = v, append(l.streams, *x)
	l.byRow = l.byRow || s.isColumn(x)
	return v
}

// span returns the value of an operand whose rows are repeated. Each has a stream of its own: how
// they are repeated may differ.
func (l *lowering) span(x *arg) machine.Value {
	l.streams, l.byRow = append(l.streams, *x), true
	return l.code.Load(machine.Size(x.size))
}

// store writes the result of a step to where others read it.
func (l *lowering) store(s *step) {
	l.code.Store(l.values[source{s.value, computed}], machine.Size(s.size))
	l.streams = append(l.streams, arg{value: s.value, size: s.size, how: along, register: s.register, per: s.per})
}

// fits reports whether each register of the stage is used in one way: code goes through
// rows and vectors one after another, so a result must not lie where another operand has
// elements that are read later.
func (l *lowering) fits() bool {
	for i := range l.streams {
		for k := range l.streams[:i] {
			x, y := &l.streams[i], &l.streams[k]
			if x.register != none && x.register == y.register && (x.size != y.size || x.per != y.per) {
				return false
			}
		}
	}
	return true
}
