package fuse

import "slices"

// assignRegisters puts what only one stage needs into registers, each of which is
// used again once its value is not needed any more.
func (m *planner) assignRegisters(st *stage) {
	last := map[int]int{} // by value: the step that reads it last
	for i := range st.steps {
		for _, x := range st.steps[i].args {
			last[x.value] = i
		}
	}
	held, sizes, free := map[int]int{}, map[int]int{}, []int(nil)
	for i := range st.steps {
		s := &st.steps[i]
		var later []int // freed only after the result has its place
		for a := range s.args {
			x := &s.args[a]
			r, ok := held[x.value]
			if !ok {
				continue
			}
			x.register = r
			if last[x.value] != i || slices.Contains(free, r) || slices.Contains(later, r) {
				continue
			}
			// A loop may write to what it reads, element by element.
			if sizes[r] == s.size && s.fold == nil && x.per == s.per {
				free = append(free, r)
			} else {
				later = append(later, r)
			}
		}
		if m.within(s.value) {
			if n := len(free); n > 0 {
				s.register, free = free[n-1], free[:n-1]
			} else {
				s.register, st.registers = st.registers, st.registers+1
			}
			held[s.value], sizes[s.register] = s.register, s.size
			if _, read := last[s.value]; !read {
				free = append(free, s.register)
			}
		} else if !m.leaves(s.value - m.first()) {
			m.temps = append(m.temps, s.value-m.first())
		}
		free = append(free, later...)
	}
}

// within reports whether only nodes of its own stage read a value.
func (m *planner) within(v int) bool {
	own := m.at[v-m.first()]
	if m.leaves(v-m.first()) || m.stages[own].whole {
		return false
	}
	for k := range m.code {
		if slices.Contains(m.code[k].args, v) && m.at[k] != own && m.at[k] != none {
			return false
		}
	}
	return true
}

func (m *planner) leaves(k int) bool {
	return slices.Contains(m.outs, k) || m.code[k].paste != nil
}

// findReuse finds, for each output, the inputs whose memory it may take: those that
// are read by its own stage only, in order, and not after it is written. What makes of
// a row another one may read its operand after it has begun to write: the logarithm of
// a softmax does.
func (m *planner) findReuse() {
	m.reuse = make([][]int, len(m.outs))
	for v := range m.program.inputs {
		st, last := m.lastRead(v)
		if st == nil {
			continue
		}
		for o, k := range m.outs {
			if m.code[k].paste != nil {
				continue // its parts are not in the order of what is read
			}
			at := slices.IndexFunc(st.steps, func(s step) bool { return s.value == m.first()+k })
			if at >= last && (at > last || st.steps[at].fold == nil) && st.steps[at].size == m.inputSize(v) && m.shapes[k].NumElements() == m.shape(v).NumElements() {
				m.reuse[o] = append(m.reuse[o], v)
			}
		}
	}
}

// lastRead returns the stage that reads an input and its last step that does; nil if
// there are several, or an operand is not read in order.
func (m *planner) lastRead(v int) (in *stage, last int) {
	for i := range m.stages {
		st := &m.stages[i]
		for j := range st.steps {
			for a := range st.steps[j].args {
				x := &st.steps[j].args[a]
				if x.value != v {
					continue
				}
				if in != nil && in != st || st.whole || x.how != along {
					return nil, 0
				}
				in, last = st, j
			}
		}
	}
	return in, last
}

// inputSize returns the bytes of an element of an input.
func (m *planner) inputSize(v int) int {
	for k := range m.code {
		for a, x := range m.code[k].args {
			if x == v {
				return m.argSize(k, a)
			}
		}
	}
	return 0
}
