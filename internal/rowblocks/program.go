package rowblocks

import (
	"github.com/gorge-tf/gorge/tf/core"
)

// A program is what the node of a region runs: its nodes, in order, for one block of rows
// after the other.
type program struct {
	inputs []input
	parts  []*part
	vals   []value
	perRow int // the bytes of all values that are needed at once, for each row
}

// A part is a node of the region.
type part struct {
	node    *core.Node
	compute core.Compute
	kind    kind
	product bool
	asked   bool // of a view: input 1 says its shape
	in      []source
	first   int // the number of the value that output 0 is
	outs    int
	ends    []int // the values that nothing reads after this part
}

// A source is where an input of a part comes from: a value of the program, or an input of
// its node.
type source struct {
	outside bool
	value   int
	last    bool         // nothing reads the value later
	instead *core.Tensor // what is read in blocks
}

// A value is what a part computes.
type value struct {
	part int
	tail core.Shape // its shape but for the rows
	size int        // the bytes of a row
	out  int        // which output of the region it is; -1: none
	sum  bool
}

// plan finds the last readers of values, and what a block takes. Outputs are kept until the
// end of a block: only then are they written where the whole lies, which may be the memory of an input.
func (p *program) plan() {
	last := make([]int, len(p.vals))
	for i := range last {
		last[i] = p.vals[i].part
	}
	for i, t := range p.parts {
		for _, s := range t.in {
			if !s.outside {
				last[s.value] = i
			}
		}
	}
	for v, i := range last {
		if p.vals[v].out < 0 {
			p.parts[i].ends = append(p.parts[i].ends, v)
		}
	}
	for i, t := range p.parts {
		for k := range t.in {
			if s := &t.in[k]; !s.outside {
				s.last = last[s.value] == i && p.vals[s.value].out < 0 && t.reads(s.value) == 1
			}
		}
	}
	p.perRow = p.mostBytes()
}

// reads returns how many inputs of t a value is.
func (t *part) reads(v int) (n int) {
	for _, s := range t.in {
		if !s.outside && s.value == v {
			n++
		}
	}
	return n
}

// mostBytes returns what all values take that are needed at once, for each row.
func (p *program) mostBytes() (most int) {
	now := 0
	for _, t := range p.parts {
		for v := t.first; v < t.first+t.outs; v++ {
			if t.kind == each {
				now += p.vals[v].size
			}
		}
		most = max(most, now)
		for _, v := range t.ends {
			if p.parts[p.vals[v].part].kind == each {
				now -= p.vals[v].size
			}
		}
	}
	return most
}

// The sizes of blocks.
var (
	// blockBytes is what the values of a block take at least: they fit into a cache of a core.
	blockBytes = 256 << 10
	// fewestRows is how many rows a block has at least.
	fewestRows = 32
	// multiple is what the rows of a block are one of: tiles of products are whole.
	multiple = 16
	// cached is the size of weights that are read from a cache for each block. Larger ones come
	// from memory, and what is computed of them has to be worth that.
	cached = 16 << 20
)

// blockOf returns how many rows a block has, where weights take so many bytes. They are read
// for each block, so that blocks grow with them.
func (p *program) blockOf(weights int) int {
	bytes := weights
	if weights < cached {
		bytes = weights / 4
	}
	n := max(blockBytes, bytes) / max(p.perRow, 1)
	return max(n-n%multiple, fewestRows)
}
