package ops

import (
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// What a loop writes to an array, an element at a time, is most often stacked after the
// loop. So elements are copied to their places in a block of memory when they are written,
// while they are in the cache: the block is what the stack gives, and their own memory can
// hold the next ones.
//
//	write 0, 1, …: copy ─▶ │ 0 │ 1 │ … │ n-1 │ ─▶ gather 0, 1, …, n-1: the block
//	                         └ read 1: a piece of it
//
// A piece has one owner: the array, until the element is read. So the block is given away
// only with all elements in it, and of arrays whose elements are read once.

const (
	// fewPlaced bytes of an element are copied as fast when they are stacked.
	fewPlaced = 4 << 10
	// mostPlaced bounds a block: it is there from the first element on, whether others
	// come or not.
	mostPlaced = 64 << 20
)

// place is write, of an element that is part of a block if that suits the array.
func (a *tensorArray) place(c *core.OpContext, i int, t *core.Tensor) error {
	if err := a.write(c, i, t); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if i >= len(a.elems) { // it has been closed
		return nil
	}
	if e := &a.elems[i]; e.t == t && a.hasPlace(c, i, t) {
		size := t.NumBytes()
		piece := a.block.Buffer().Piece(i*size, size)
		copy(piece.Bytes(), t.Buffer().Bytes())
		e.t, e.placed = core.TensorOf(a.dtype, t.Shape().Clone(), piece), true
		t.Release()
	}
	return nil
}

// hasPlace reports whether there is a block in which t is element i, as long as all others. It
// is made for the first of them, and does not grow, as the array of a gradient may.
func (a *tensorArray) hasPlace(c *core.OpContext, i int, t *core.Tensor) bool {
	if a.block != nil {
		return i < a.block.Dim(0) && a.block.Shape()[1:].Equal(t.Shape())
	}
	n, size := len(a.elems), t.NumBytes()
	if a.keepRead || a.dynamic || !a.shape.Known() || t.Buffer() == nil || !t.Addressable() || size < fewPlaced || size%memory.Alignment != 0 || n < 2 || size > mostPlaced/n {
		return false
	}
	b, err := c.Temp(a.dtype, append(tf.Shape{n}, t.Shape()...))
	if err != nil {
		return false // there may be memory for elements one by one
	}
	a.block = b
	return true
}

func (a *tensorArray) dropBlock() {
	if a.block != nil {
		a.block.Release()
		a.block = nil
	}
}

// takeBlock reads all elements if indices are those of all, in order, and all are in the
// block. It returns nil if not, or if something is wrong.
func (a *tensorArray) takeBlock(indices []int, shape tf.Shape) *core.Tensor {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.block
	if t == nil || len(indices) != len(a.elems) || !shape.Compatible(t.Shape()[1:]) {
		return nil
	}
	for k, i := range indices {
		if e := &a.elems[k]; i != k || !e.placed || e.t == nil || !e.t.Buffer().Sole() {
			return nil
		}
	}
	for k := range a.elems {
		e := &a.elems[k]
		e.t.Release()
		e.t, e.read, e.cleared = nil, true, true
	}
	a.block = nil
	return t
}
