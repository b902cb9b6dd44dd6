package fuse

import (
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
	room      []byte // of registers and expanded
	rowRoom   []byte
	temps     []*core.Tensor
}

func (p *program) frame() *frame {
	if f, ok := p.frames.Get().(*frame); ok {
		return f
	}
	most := 0
	for i := range p.code {
		most = max(most, len(p.code[i].args))
	}
	return &frame{memory: make([][]byte, p.first()+len(p.code)), operands: make([]core.Operand, most)}
}

// release gives a frame back. It keeps its room, but no tensors.
func (p *program) release(f *frame) {
	for i, t := range f.temps {
		t.Release()
		f.temps[i] = nil
	}
	f.temps = f.temps[:0]
	clear(f.memory)
	clear(f.operands)
	clear(f.rows) // of another frame, perhaps
	p.frames.Put(f)
}

// allocate finds the memory of all values that are not in registers.
func (f *frame) allocate(c *core.OpContext, p *program, pl *plan) error {
	for i := range p.inputs {
		f.memory[i] = bytesOf(c.Input(i))
	}
	for i, t := range p.consts {
		f.memory[p.inputs+i] = bytesOf(t)
	}
	for o, k := range p.outs {
		t, err := pl.output(c, o, p.code[k].node.OutTypes[0], pl.shapes[k])
		if err != nil {
			return core.AtNode(err, p.code[k].node, nil)
		}
		f.memory[p.first()+k] = bytesOf(t)
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

// output makes output o, in the memory of an input if one is needed no more.
func (pl *plan) output(c *core.OpContext, o int, d core.DType, s core.Shape) (*core.Tensor, error) {
	if c.Last != nil {
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
	f.fillRows(st)
	if st.n <= st.grain {
		f.run(st, 0, st.n)
		return
	}
	c.ParallelFor(st.n, st.grain, func(lo, hi int) {
		own := p.frame()
		copy(own.memory, f.memory)
		own.rows = append(own.rows[:0], f.rows...)
		own.run(st, lo, hi)
		p.release(own)
	})
}

// fillRows makes the buffers of rows that are repeated, which all ranges read.
func (f *frame) fillRows(st *stage) {
	f.rows = f.rows[:0]
	if len(st.rows) == 0 {
		return
	}
	need := 0
	for _, r := range st.rows {
		need += aligned((st.block + r.period) * r.size)
	}
	f.rowRoom = enough(f.rowRoom, need)
	rest := lined(f.rowRoom)
	for _, r := range st.rows {
		n := (st.block + r.period) * r.size
		repeat(rest[:n], f.memory[r.value][:r.period*r.size])
		f.rows, rest = append(f.rows, rest[:n:n]), rest[aligned(n):]
	}
}

// run computes the results [from, to) of a stage, block by block.
func (f *frame) run(st *stage, from, to int) {
	f.prepare(st)
	for lo := from; lo < to; lo += st.block {
		n := min(st.block, to-lo)
		for i := range st.steps {
			f.step(st, &st.steps[i], lo, n)
		}
	}
}

// lineBytes is what buffers begin at multiples of, as tensors do.
const lineBytes = 64

func aligned(n int) int { return (n + lineBytes - 1) &^ (lineBytes - 1) }

// enough returns memory in which n bytes fit that begin as they should.
func enough(have []byte, n int) []byte {
	if len(have) < n+lineBytes {
		return make([]byte, n+lineBytes)
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

// step computes the results [lo, lo+n) of one instruction.
func (f *frame) step(st *stage, s *step, lo, n int) {
	in, z := f.operands[:len(s.args)], f.result(s, lo, n)
	if s.runs != nil {
		f.walk(s, in, z, lo, n)
		return
	}
	for a := range s.args {
		x := &s.args[a]
		in[a] = core.Operand{Data: f.operand(st, x, lo, n), Repeated: x.how == single}
	}
	s.loop(z, in)
}

// result returns where results [lo, lo+n) go.
func (f *frame) result(s *step, lo, n int) []byte {
	if s.register != none {
		return f.registers[s.register][:n*s.size]
	}
	return f.memory[s.value][lo*s.size : (lo+n)*s.size]
}

// operand returns the elements of an operand that belong to results [lo, lo+n).
func (f *frame) operand(st *stage, x *arg, lo, n int) []byte {
	switch {
	case x.register != none:
		return f.registers[x.register][:n*x.size]
	case x.how == single:
		return f.memory[x.value][:x.size]
	case x.how == rowed:
		at := lo % st.rows[x.at].period
		return f.rows[x.at][at*x.size : (at+n)*x.size]
	case x.how == expanded:
		return f.expand(x, lo, n)
	}
	return f.memory[x.value][lo*x.size : (lo+n)*x.size]
}

// walk runs the loop for each run along which operands go on or are repeated.
func (f *frame) walk(s *step, in []core.Operand, z []byte, lo, n int) {
	r := s.runs
	if r.n == 0 {
		r.walk.Runs(lo, lo+n, func(at int, off []int, n int) {
			for a := range s.args {
				in[a] = f.part(&s.args[a], off[a], n, lo, r.inner[a] == 0)
			}
			s.loop(z[(at-lo)*s.size:(at-lo+n)*s.size], in)
		})
		return
	}
	for i, j, done := lo/r.n, lo%r.n, 0; done < n; i, j = i+1, 0 {
		m := min(r.n-j, n-done)
		for a := range s.args {
			in[a] = f.part(&s.args[a], i*r.outer[a]+j*r.inner[a], m, lo, r.inner[a] == 0)
		}
		s.loop(z[done*s.size:(done+m)*s.size], in)
		done += m
	}
}

// part returns n elements of an operand, or one that is repeated, from one on. The block
// begins at lo, and so do registers.
func (f *frame) part(x *arg, from, n, lo int, repeated bool) core.Operand {
	data := f.memory[x.value]
	if x.register != none {
		data, from = f.registers[x.register], from-lo
	}
	if repeated {
		n = 1
	}
	return core.Operand{Data: data[from*x.size : (from+n)*x.size], Repeated: repeated}
}

// expand spreads out an operand for a block.
func (f *frame) expand(x *arg, lo, n int) []byte {
	b, from := f.expanded[x.at][:n*x.size], f.memory[x.value]
	repeated := x.walk.Inner()[0] == 0
	x.walk.Runs(lo, lo+n, func(at int, off []int, n int) {
		to, first := b[(at-lo)*x.size:(at-lo+n)*x.size], off[0]*x.size
		if repeated {
			repeat(to, from[first:first+x.size])
		} else {
			copy(to, from[first:first+n*x.size])
		}
	})
	return b
}
