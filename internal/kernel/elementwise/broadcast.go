package elementwise

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
)

// Broadcast says how operands of different shapes are walked together. It
// knows shapes only and may be kept and shared.
type Broadcast struct {
	// Shape is the shape of the result.
	Shape []int
	// Len is the number of elements of the result.
	Len int

	dims []broadcastDim // outermost first; neighbours merged where possible
}

// broadcastDim is one dimension of the result with the distance between
// neighbours in each operand: 0 where the operand is repeated.
type broadcastDim struct {
	n    int
	step []int
}

// NewBroadcast plans the walk for operands of these shapes, aligned at their
// last dimensions. It reports false if a dimension differs and is not 1.
func NewBroadcast(shapes ...[]int) (*Broadcast, bool) {
	rank := 0
	for _, s := range shapes {
		rank = max(rank, len(s))
	}
	out := make([]int, rank)
	kernel.Fill(out, 1)
	for _, s := range shapes {
		for i, n := range s {
			o := &out[rank-len(s)+i]
			if *o == 1 {
				*o = n
			} else if n != 1 && n != *o {
				return nil, false
			}
		}
	}
	return newBroadcast(out, shapes), true
}

// NewBroadcastTo plans the walk of an operand that is repeated to fill the
// shape out. It reports false if it does not fit.
func NewBroadcastTo(out, shape []int) (*Broadcast, bool) {
	b, ok := NewBroadcast(out, shape)
	if !ok || len(b.Shape) != len(out) {
		return nil, false
	}
	for i, n := range out {
		if b.Shape[i] != n {
			return nil, false
		}
	}
	return newBroadcast(out, [][]int{shape}), true
}

func newBroadcast(out []int, shapes [][]int) *Broadcast {
	b := &Broadcast{Shape: out, Len: kernel.Product(out)}
	if b.Len > 1 && !slices.ContainsFunc(shapes, func(s []int) bool { return !slices.Equal(s, out) }) {
		d := broadcastDim{n: b.Len, step: make([]int, len(shapes))}
		kernel.Fill(d.step, 1)
		b.dims = []broadcastDim{d}
		return b
	}
	steps := make([][]int, len(shapes))
	for k, s := range shapes {
		steps[k] = broadcastSteps(out, s)
	}
	for i, n := range out {
		if n == 1 {
			continue
		}
		d := broadcastDim{n: n, step: make([]int, len(shapes))}
		for k := range shapes {
			d.step[k] = steps[k][i]
		}
		b.push(d)
	}
	if len(b.dims) == 0 {
		b.dims = []broadcastDim{{n: 1, step: make([]int, len(shapes))}}
	}
	return b
}

// broadcastSteps returns the stride of every dimension of out in an operand
// of this shape.
func broadcastSteps(out, shape []int) []int {
	steps := make([]int, len(out))
	stride := 1
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] != 1 {
			steps[len(out)-len(shape)+i] = stride
		}
		stride *= shape[i]
	}
	return steps
}

// push adds an inner dimension, merged with the one before if no operand can
// tell the difference.
func (b *Broadcast) push(d broadcastDim) {
	if len(b.dims) == 0 {
		b.dims = append(b.dims, d)
		return
	}
	last := &b.dims[len(b.dims)-1]
	for k, s := range d.step {
		if last.step[k] != s*d.n {
			b.dims = append(b.dims, d)
			return
		}
	}
	last.n *= d.n
	last.step = d.step
}

// Same reports whether no operand is repeated: the loop is a plain one over
// Len elements.
func (b *Broadcast) Same() bool {
	if len(b.dims) != 1 {
		return false
	}
	for _, s := range b.dims[0].step {
		if s != 1 && b.Len != 1 {
			return false
		}
	}
	return true
}

// Rows returns, for a walk of two dimensions, the length of its runs and the distance
// between two of them in each operand; 0 for others.
func (b *Broadcast) Rows() (n int, outer []int) {
	if len(b.dims) != 2 {
		return 0, nil
	}
	return b.dims[1].n, b.dims[0].step
}

// Period returns after how many results operand k begins again: Len if it never
// does, 1 for a single element, the length of a row that is repeated; 0 if its
// elements are not walked in their order.
func (b *Broadcast) Period(k int) int {
	n, i := 1, len(b.dims)-1
	for ; i >= 0 && b.dims[i].step[k] == n; i-- {
		n *= b.dims[i].n
	}
	for ; i >= 0; i-- {
		if b.dims[i].step[k] != 0 {
			return 0
		}
	}
	return n
}

// Inner returns the step of every operand along the innermost run: 1 or 0.
func (b *Broadcast) Inner() []int { return b.dims[len(b.dims)-1].step }

// KeepsRows reports whether the elements of the first operand that belong to n results from a
// multiple of n on follow each other.
func (b *Broadcast) KeepsRows(n int) bool {
	last := b.dims[len(b.dims)-1]
	return last.step[0] == 1 && last.n%n == 0
}

// At returns which element of the first operand belongs to result z.
func (b *Broadcast) At(z int) (at int) {
	for i := len(b.dims) - 1; i >= 0; i-- {
		d := &b.dims[i]
		at += z % d.n * d.step[0]
		z /= d.n
	}
	return at
}

// RowStride returns how far the first operand's elements for the n results after row r of n
// results are from those for the row itself, and for how many rows from r on that holds. The
// operand has to keep such rows.
func (b *Broadcast) RowStride(r, n int) (stride, left int) {
	last := len(b.dims) - 1
	if rows := b.dims[last].n / n; rows > 1 {
		return n, rows - r%rows
	}
	if last == 0 {
		return 0, 1
	}
	d := b.dims[last-1]
	return d.step[0], d.n - r%d.n
}

// Runs calls f for every innermost run of the results in [lo, hi): n results
// from z on, and off says where each operand's run begins. f must not keep off.
func (b *Broadcast) Runs(lo, hi int, f func(z int, off []int, n int)) {
	if lo >= hi {
		return
	}
	w := newWalk(b, lo)
	inner := b.dims[len(b.dims)-1].n
	for z := lo; z < hi; {
		n := min(inner-w.index[len(w.index)-1], hi-z)
		f(z, w.off, n)
		z += n
		w.next(n)
	}
}

// walk is a position in the result: an index per dimension and the offset of
// every operand.
type walk struct {
	dims  []broadcastDim
	index []int
	off   []int
	room  [8]int // for both, unless they are long
}

func newWalk(b *Broadcast, at int) *walk {
	w := &walk{dims: b.dims}
	rank, operands := len(b.dims), len(b.dims[0].step)
	room := w.room[:]
	if rank+operands > len(room) {
		room = make([]int, rank+operands)
	}
	w.index, w.off = room[:rank], room[rank:rank+operands]
	for i := len(b.dims) - 1; i >= 0; i-- {
		w.index[i] = at % b.dims[i].n
		at /= b.dims[i].n
		w.move(i, w.index[i])
	}
	return w
}

// move shifts the operands by n places along dimension i.
func (w *walk) move(i, n int) {
	for k, s := range w.dims[i].step {
		w.off[k] += n * s
	}
}

// next advances by n places in the innermost dimension, n reaching at most to
// its end, and carries into the outer ones.
func (w *walk) next(n int) {
	for i := len(w.dims) - 1; i >= 0; i-- {
		w.index[i] += n
		w.move(i, n)
		if w.index[i] < w.dims[i].n || i == 0 {
			return
		}
		w.move(i, -w.index[i])
		w.index[i] = 0
		n = 1
	}
}
