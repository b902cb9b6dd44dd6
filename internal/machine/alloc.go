package machine

import "errors"

// errTooMuch is given for code that needs more registers than there are. Its parts may do
// with less.
var errTooMuch = errors.New("machine code must do with the registers that there are: make less of it at once")

// What registers are kept for. Values have all others.
const (
	tailMask  = 1  // K1 of AVX-512
	condition = 2  // K2: of a comparison
	tailLanes = 15 // Y15 of AVX2: the tail's mask
	scratch   = 14 // Y14: of a comparison
)

// pointers are the registers for addresses of streams. The last one has the address of
// the list of addresses, until all others have theirs.
var pointers = []int{rdx, rbx, rdi, r8, 9, 10, 11, 12, r13, rsi}

// An allocation says where values and addresses are.
type allocation struct {
	vectors  []int // by value; none for what is stored
	pointers []int // by stream; none for those that are spread
}

const none = -1

// allocate gives each value a register from where it is computed to where it is used
// last. What is made before the loop has its register throughout.
func (c *Code) allocate() (*allocation, error) {
	a := &allocation{vectors: make([]int, len(c.insts)), pointers: make([]int, c.streams)}
	if !c.assignPointers(a) {
		return nil, errTooMuch
	}
	last := c.lastUses()
	free := c.freeVectors()
	for pass := range 2 { // first what is made before the loop
		for v := range c.insts {
			i := &c.insts[v]
			if c.Spreads(Value(v)) != (pass == 0) {
				continue
			}
			a.vectors[v] = none
			if i.op != store {
				if len(free) == 0 {
					return nil, errTooMuch
				}
				a.vectors[v], free = free[len(free)-1], free[:len(free)-1]
			}
			free = append(free, c.ended(a, v, last)...)
		}
	}
	return a, nil
}

// assignPointers gives each stream that goes on a register, and reports whether there
// are enough.
func (c *Code) assignPointers(a *allocation) bool {
	used := 0
	for v := range c.insts {
		switch i := &c.insts[v]; i.op {
		case spread:
			a.pointers[i.stream] = none
		case load, store:
			if used == len(pointers) {
				return false
			}
			a.pointers[i.stream] = pointers[used]
			used++
		}
	}
	return true
}

// lastUses returns, by value, the instruction that uses it last; itself if none does.
func (c *Code) lastUses() []int {
	last := make([]int, len(c.insts))
	for v := range c.insts {
		last[v] = v
		for _, x := range c.insts[v].operands() {
			last[x] = v
		}
	}
	return last
}

func (i *inst) operands() []Value { return i.args[:i.n] }

// freeVectors returns the registers for values, those to be taken first at the end.
func (c *Code) freeVectors() []int {
	n := 32
	if c.isa == AVX2 {
		n = scratch
	}
	free := make([]int, n)
	for i := range free {
		free[i] = n - 1 - i
	}
	return free
}

// ended returns the registers that are not needed after instruction v: a result never has
// that of an operand of its own instruction.
func (c *Code) ended(a *allocation, v int, last []int) (free []int) {
	if c.Spreads(Value(v)) {
		return nil
	}
	if last[v] == v && a.vectors[v] != none {
		free = append(free, a.vectors[v])
	}
	for k, x := range c.insts[v].operands() {
		if last[x] == v && !c.Spreads(x) && !contains(c.insts[v].args[:k], x) {
			free = append(free, a.vectors[x])
		}
	}
	return free
}

func contains(all []Value, x Value) bool {
	for _, v := range all {
		if v == x {
			return true
		}
	}
	return false
}
