package fuse

import (
	"math/bits"
	"slices"
	"sync"
	"unsafe"

	"github.com/gorge-tf/gorge/tf/core"
)

// A frame is what one range of a stage works with.
type frame struct {
	memory    [][]byte // by value: where it is, nil if in a register
	registers [][]byte
	rows      [][]byte
	expanded  [][]byte
	operands  []core.Operand
	streams   []unsafe.Pointer
	strides   []int  // of streams, in bytes
	from      int    // the first row of the block that registers hold
	room      []byte // of registers and expanded
	rowRoom   []byte
	temps     []*core.Tensor
}

// frames are those that are not in use. All programs share them: a model has hundreds of
// programs, of which few run at once.
var frames = sync.Pool{New: func() any { return new(frame) }}

// frame returns a frame for p.
func (p *program) frame() *frame {
	f := frames.Get().(*frame)
	n := p.first() + len(p.code)
	f.memory = slices.Grow(f.memory[:0], n)[:n]
	return f
}

// release gives a frame back. It keeps its room, but refers to no tensors.
func (f *frame) release() {
	for i, t := range f.temps {
		t.Release()
		f.temps[i] = nil
	}
	f.temps = f.temps[:0]
	clear(f.memory)
	clear(f.operands[:cap(f.operands)])
	clear(f.rows) // of another frame, perhaps
	frames.Put(f)
}

// allocate finds the memory of all values that are not in registers. Output fresh, if there
// is one, is not in the memory of an input.
func (f *frame) allocate(c *core.OpContext, p *program, pl *plan, fresh int) error {
	for i := range p.inputs {
		f.memory[i] = bytesOf(c.Input(i))
	}
	for i, t := range p.consts {
		f.memory[p.inputs+i] = bytesOf(t)
	}
	for o, k := range p.outs {
		t, err := pl.output(c, o, p.code[k].node.OutTypes[0], pl.wholes[o], o != fresh)
		if err != nil {
			return core.AtNode(err, p.code[k].node, nil)
		}
		f.memory[p.first()+k] = bytesOf(t)
	}
	for _, k := range p.pastes {
		f.memory[p.first()+k] = f.memory[p.first()+p.code[k].lead]
	}
	for _, k := range pl.temps {
		t, err := c.Temp(p.code[k].node.OutTypes[0], pl.shapes[k])
		if err != nil {
			return core.AtNode(err, p.code[k].node, nil)
		}
		f.temps = append(f.temps, t)
		f.memory[p.first()+k] = bytesOf(t)
	}
	return nil
}

// output makes output o, where it may in the memory of an input if one is needed no more.
func (pl *plan) output(c *core.OpContext, o int, d core.DType, s core.Shape, reuse bool) (*core.Tensor, error) {
	if reuse && c.Last != nil {
		for _, i := range pl.reuse[o] {
			if b := c.Input(i).Buffer(); c.Last[i] && b != nil && b.Sole() {
				return c.AllocFrom(i, o, d, s)
			}
		}
	}
	return c.Alloc(o, d, s)
}

// bytesOf returns the memory of a tensor.
func bytesOf(t *core.Tensor) []byte {
	if b := t.Buffer(); b != nil {
		return b.Bytes()
	}
	return nil
}

// run runs a stage. Where it is cut depends on its shapes only.
func (p *program) run(c *core.OpContext, st *stage, f *frame) {
	if st.whole {
		s := &st.steps[0]
		c.ParallelFor(st.n, st.grain, func(lo, hi int) {
			x := &s.args[0]
			s.fold.rows(f.memory[s.value][lo*s.per*s.size:hi*s.per*s.size], f.memory[x.value][lo*x.per*x.size:hi*x.per*x.size], x.per)
		})
		return
	}
	f.fillRows(st)
	if st.n <= st.grain {
		f.run(st, 0, st.n)
		return
	}
	c.ParallelFor(st.n, st.grain, func(lo, hi int) { p.runRange(st, f, lo, hi) })
}

// runRange computes rows [lo, hi) of a stage in a frame of its own.
func (p *program) runRange(st *stage, f *frame, lo, hi int) {
	own := p.frame()
	copy(own.memory, f.memory)
	own.rows = append(own.rows[:0], f.rows...)
	own.run(st, lo, hi)
	own.release()
}

// fillRows makes the buffers of rows that are repeated, which all ranges read.
func (f *frame) fillRows(st *stage) {
	f.rows = f.rows[:0]
	if len(st.rows) == 0 {
		return
	}
	need := 0
	for _, r := range st.rows {
		need += aligned((r.block + r.period) * r.size)
	}
	f.rowRoom = enough(f.rowRoom, need)
	rest := lined(f.rowRoom)
	for _, r := range st.rows {
		n := (r.block + r.period) * r.size
		repeat(rest[:n], f.memory[r.value][:r.period*r.size])
		f.rows, rest = append(f.rows, rest[:n:n]), rest[aligned(n):]
	}
}

// run computes the rows [from, to) of a stage, block by block.
func (f *frame) run(st *stage, from, to int) {
	f.prepare(st)
	for f.from = from; f.from < to; f.from += st.block {
		n := min(st.block, to-f.from)
		for i := range st.steps {
			f.step(st, &st.steps[i], n)
		}
	}
}

// lineBytes is what buffers begin at multiples of, as tensors do.
const lineBytes = 64

func aligned(n int) int { return (n + lineBytes - 1) &^ (lineBytes - 1) }

// enough returns memory in which n bytes fit that begin as they should. Programs need
// various sizes, so that it is made of a power of 2: few are thrown away.
func enough(have []byte, n int) []byte {
	if n += lineBytes; len(have) < n {
		return make([]byte, 1<<bits.Len(uint(n-1)))
	}
	return have
}

// lined returns b from where buffers may begin.
func lined(b []byte) []byte {
	return b[-uintptr(unsafe.Pointer(unsafe.SliceData(b)))%lineBytes:]
}

// prepare makes room for registers and for operands that are spread out.
func (f *frame) prepare(st *stage) {
	f.room = enough(f.room, (st.registers+st.expanded)*aligned(st.room))
	rest := lined(f.room)
	take := func(all [][]byte, n int) [][]byte {
		all = all[:0]
		for range n {
			all, rest = append(all, rest[:st.room:st.room]), rest[aligned(st.room):]
		}
		return all
	}
	f.registers, f.expanded = take(f.registers, st.registers), take(f.expanded, st.expanded)
}

// repeat fills b with x again and again.
func repeat(b, x []byte) {
	for n := copy(b, x); n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
}

// step computes the results of one instruction for n rows.
func (f *frame) step(st *stage, s *step, n int) {
	if s.code != nil {
		f.execute(st, s, n)
		return
	}
	if s.move != nil {
		f.move(s, n)
		return
	}
	f.operands = slices.Grow(f.operands[:0], len(s.args))[:len(s.args)]
	in, z := f.operands, f.result(s, n)
	if s.runs != nil {
		f.walk(s, in, z, f.from*s.per, n*s.per)
		return
	}
	if s.columns != nil {
		for a := range s.args {
			x := &s.args[a]
			in[a] = core.Operand{Data: f.along(x, n), Repeated: x.per != s.per}
		}
		s.columns(z, in, s.per)
		return
	}
	if s.fold != nil {
		x := &s.args[0]
		s.fold.rows(z, f.along(x, n), x.per)
		return
	}
	for a := range s.args {
		x := &s.args[a]
		in[a] = core.Operand{Data: f.operand(st, s, x, n), Repeated: x.how == single}
	}
	s.loop(z, in)
}

// result returns where the results of n rows go.
func (f *frame) result(s *step, n int) []byte {
	if s.register != none {
		return f.registers[s.register][:n*s.per*s.size]
	}
	return f.memory[s.value][f.from*s.per*s.size : (f.from+n)*s.per*s.size]
}

// along returns the elements of an operand that has its own for each of n rows.
func (f *frame) along(x *arg, n int) []byte {
	if x.register != none {
		return f.registers[x.register][:n*x.per*x.size]
	}
	return f.memory[x.value][f.from*x.per*x.size : (f.from+n)*x.per*x.size]
}

// operand returns the elements of an operand that belong to the results of n rows.
func (f *frame) operand(st *stage, s *step, x *arg, n int) []byte {
	lo, n := f.from*s.per, n*s.per
	switch x.how {
	case single:
		return f.memory[x.value][:x.size]
	case rowed:
		at := lo % st.rows[x.at].period
		return f.rows[x.at][at*x.size : (at+n)*x.size]
	case expanded:
		return f.expand(x, lo, n)
	}
	return f.along(x, n/s.per)
}

// walk runs the loop for each run along which operands go on or are repeated, for n
// results from lo on.
func (f *frame) walk(s *step, in []core.Operand, z []byte, lo, n int) {
	r := s.runs
	if r.n == 0 {
		r.walk.Runs(lo, lo+n, func(at int, off []int, n int) {
			for a := range s.args {
				in[a] = f.part(&s.args[a], off[a], n, r.inner[a] == 0)
			}
			s.loop(z[(at-lo)*s.size:(at-lo+n)*s.size], in)
		})
		return
	}
	for i, j, done := lo/r.n, lo%r.n, 0; done < n; i, j = i+1, 0 {
		m := min(r.n-j, n-done)
		for a := range s.args {
			in[a] = f.part(&s.args[a], i*r.outer[a]+j*r.inner[a], m, r.inner[a] == 0)
		}
		s.loop(z[done*s.size:(done+m)*s.size], in)
		done += m
	}
}

// part returns n elements of an operand, or one that is repeated, from one on.
func (f *frame) part(x *arg, from, n int, repeated bool) core.Operand {
	data, from := f.origin(x, from)
	if repeated {
		n = 1
	}
	return core.Operand{Data: data[from*x.size : (from+n)*x.size], Repeated: repeated}
}

// origin returns where an operand is, and the place there of one of its elements.
func (f *frame) origin(x *arg, from int) ([]byte, int) {
	if x.register != none {
		return f.registers[x.register], from - f.from*x.per
	}
	return f.memory[x.value], from
}

// expand spreads out an operand for n results from lo on.
func (f *frame) expand(x *arg, lo, n int) []byte {
	b := f.expanded[x.at][:n*x.size]
	repeated := x.walk.Inner()[0] == 0
	x.walk.Runs(lo, lo+n, func(at int, off []int, n int) {
		data, first := f.origin(x, off[0])
		to, first := b[(at-lo)*x.size:(at-lo+n)*x.size], first*x.size
		if repeated {
			repeat(to, data[first:first+x.size])
		} else {
			copy(to, data[first:first+n*x.size])
		}
	})
	return b
}
