package stablehlo

import "sort"

// A scope has the values that the operations of a region may use: those of the region
// and of the ones around it, up to one that is isolated. Values have numbers: those of
// a region follow the numbers that the regions around it have set aside.
type scope struct{ frames []frame }

// A frame has the values of one region that have been defined so far.
type frame struct {
	base, size uint64 // the first number, and how many the region sets aside
	values     []*Value
}

func (s *scope) top() *frame { return &s.frames[len(s.frames)-1] }

// push opens a region of a number of values.
func (s *scope) push(size int) {
	f := frame{size: uint64(size)}
	if len(s.frames) > 0 {
		f.base = s.top().base + s.top().size
	}
	s.frames = append(s.frames, f)
}

// pop closes a region, whose values must all have been defined.
func (s *scope) pop(c *cursor) {
	f := s.top()
	if uint64(len(f.values)) != f.size {
		c.corrupt("a region must define the values that it sets aside, got %d of %d", len(f.values), f.size)
	}
	s.frames = s.frames[:len(s.frames)-1]
}

// define gives the next numbers of the innermost region to values.
func (s *scope) define(c *cursor, values []*Value) {
	f := s.top()
	if uint64(len(f.values)+len(values)) > f.size {
		c.corrupt("a region must define the values that it sets aside, got more than %d", f.size)
		return
	}
	f.values = append(f.values, values...)
}

// operands reads the values that an operation uses.
func (s *scope) operands(c *cursor) []*Value {
	out := make([]*Value, c.count("operands"))
	for i := 0; i < len(out) && !c.failed(); i++ {
		out[i] = s.value(c, c.uint())
	}
	return out
}

// value returns the value of a number.
func (s *scope) value(c *cursor, id uint64) *Value {
	i := sort.Search(len(s.frames), func(i int) bool { return s.frames[i].base > id }) - 1
	if i < 0 || id-s.frames[i].base >= uint64(len(s.frames[i].values)) {
		c.corrupt("an operand must be a value that is defined before it is used, got number %d", id)
		return nil
	}
	return s.frames[i].values[id-s.frames[i].base]
}
