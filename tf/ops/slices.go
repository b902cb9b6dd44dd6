package ops

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A sliceWalk finds the slices of a tensor that the rows of an index tensor,
// its last dimension, point to.
type sliceWalk struct {
	narrow []int32 // the indices, or
	idx    []int64
	dims   tf.Shape // that the indices go into
	inner  int      // elements of a slice
}

// walkBlock is how many slices are found before they are used: checks apart from moves
// leave two short loops.
const walkBlock = 256

func newSlices(idx *core.Tensor, s tf.Shape) *sliceWalk {
	return newWalk(idx, s, idx.Dim(idx.Rank()-1))
}

// newWalk returns the walk of the slices that depth indices each point to.
func newWalk(idx *core.Tensor, s tf.Shape, depth int) *sliceWalk {
	w := &sliceWalk{dims: s[:depth], inner: product(s[depth:])}
	if idx.DType() == tf.Int32 {
		w.narrow = core.Data[int32](idx)
	} else {
		w.idx = rows.Indices(idx)
	}
	return w
}

// find sets at to the numbers of the slices from i on, of those that lie one after the other
// in the tensor, and to -1 for one outside. It reports whether all lie inside.
func (w *sliceWalk) find(at []int64, i int) bool {
	n := len(w.dims)
	if w.narrow != nil {
		return layout.RowNumbers(at, w.narrow[i*n:], w.dims)
	}
	return layout.RowNumbers(at, w.idx[i*n:], w.dims)
}

// offset returns where slice i begins; ok is false if it lies outside.
func (w *sliceWalk) offset(i int) (at int, ok bool) {
	n := len(w.dims)
	if w.narrow != nil {
		at, ok = rowAt(w.narrow[i*n:][:n], w.dims)
	} else {
		at, ok = rowAt(w.idx[i*n:][:n], w.dims)
	}
	return at * w.inner, ok
}

// firstOutside returns which slice is the first that lies outside; there is one.
func (w *sliceWalk) firstOutside() int {
	for i := 0; ; i++ {
		if _, ok := w.offset(i); !ok {
			return i
		}
	}
}

func rowAt[I numeric.Index](idx []I, dims []int) (row int, ok bool) {
	for k, v := range idx {
		if uint64(v) >= uint64(dims[k]) {
			return 0, false
		}
		row = row*dims[k] + int(v)
	}
	return row, true
}

// text formats index i for messages.
func (w *sliceWalk) text(i int) string {
	n, text := len(w.dims), ""
	if w.narrow != nil {
		text = fmt.Sprint(w.narrow[i*n : (i+1)*n])
	} else {
		text = fmt.Sprint(w.idx[i*n : (i+1)*n])
	}
	return strings.Trim(strings.ReplaceAll(text, " ", ", "), "[]")
}

// int64Text formats v as a shape: "[1,2]".
func int64Text(v []int64) string { return strings.ReplaceAll(fmt.Sprint(v), " ", ",") }
