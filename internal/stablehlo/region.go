package stablehlo

import "sort"

// regions reads the regions of an operation. Those that are isolated from what is
// around them have numbers of values, and sections, of their own.
func (r *reader) regions(c *cursor, s *scope) []*Block {
	n, isolated := c.flagged()
	out := make([]*Block, c.fits("regions", n))
	if r.depth++; r.depth > maxDepth {
		c.corrupt("regions must nest at most %d deep", maxDepth)
	}
	if isolated {
		s = &scope{}
	}
	if isolated && r.version >= isolatedSections && len(out) > 0 {
		c = c.nested()
		defer c.end()
	}
	for i := 0; i < len(out) && !c.failed(); i++ {
		out[i] = r.region(c, s)
	}
	r.depth--
	return out
}

// nested returns a cursor for the section of operations that comes next.
func (c *cursor) nested() *cursor {
	id, section := c.section()
	if id != irSection {
		c.corrupt("the section of a region must be one of %s, got one of %s", sectionNames[irSection], sectionNames[id])
	}
	return section
}

// region reads the block of a region, nil if the region has none.
func (r *reader) region(c *cursor, s *scope) *Block {
	switch n := c.uint(); {
	case n == 0:
		return nil
	case n > 1:
		c.corrupt("a region must have one block, got %d", n)
		return nil
	}
	s.push(c.count("values"))
	b := r.block(c, s)
	s.pop(c)
	return b
}

// block reads a block: its arguments, and operations of which the last one, and no
// other, returns from it.
func (r *reader) block(c *cursor, s *scope) *Block {
	ops, args := c.flagged()
	b := &Block{}
	if args {
		b.Args = r.arguments(c)
		s.define(c, b.Args)
	}
	n := c.fits("operations", ops)
	if n == 0 {
		c.corrupt("a block must end with an operation that returns, got none")
	}
	for i := 0; i < n && !c.failed(); i++ {
		op := r.op(c, s)
		if c.failed() {
			return nil
		}
		if op.Name == function {
			c.corrupt("functions must be in the module itself, got one in a block")
		}
		if returns := op.Name == "return"; returns != (i == n-1) {
			c.corrupt("the last operation of a block, and no other, must be return, got %q as number %d of %d", op.Name, i+1, n)
		}
		s.define(c, op.Results)
		b.Ops = append(b.Ops, op)
	}
	return b
}

// arguments reads the types of a block's arguments, and steps over locations and the
// order of uses.
func (r *reader) arguments(c *cursor) []*Value {
	out := make([]*Value, c.count("arguments"))
	for i := 0; i < len(out) && !c.failed(); i++ {
		t, located := c.uint(), true
		if r.version >= elidedLocations {
			t, located = t>>1, t&1 != 0
		}
		out[i] = &Value{Type: c.typeAt(t), Index: i}
		if located {
			at(c, "location", r.attrs, c.uint())
		}
	}
	if r.version >= useListOrders && c.byte() != 0 {
		c.skipUseLists(len(out))
	}
	return out
}

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
