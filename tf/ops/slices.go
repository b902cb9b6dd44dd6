package ops

import (
	"fmt"
	"strings"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A sliceWalk finds the slices of a tensor that the rows of an index tensor,
// its last dimension, point to.
type sliceWalk struct {
	idx   []int64
	dims  tf.Shape // that the indices go into
	steps []int
	inner int // elements of a slice
}

func newSlices(idx *core.Tensor, s tf.Shape) *sliceWalk {
	depth := idx.Dim(idx.Rank() - 1)
	w := &sliceWalk{idx: rows.Indices(idx), dims: s[:depth], steps: make([]int, depth), inner: product(s[depth:])}
	step := w.inner
	for k := depth - 1; k >= 0; k-- {
		w.steps[k] = step
		step *= s[k]
	}
	return w
}

// offset returns where slice i begins; ok is false if it lies outside.
func (w *sliceWalk) offset(i int) (at int, ok bool) {
	n := len(w.dims)
	for k, v := range w.idx[i*n : (i+1)*n] {
		if uint64(v) >= uint64(w.dims[k]) {
			return 0, false
		}
		at += int(v) * w.steps[k]
	}
	return at, true
}

// text formats index i for messages.
func (w *sliceWalk) text(i int) string {
	n := len(w.dims)
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(w.idx[i*n:(i+1)*n]), " ", ", "), "[]")
}

// int64Text formats v as a shape: "[1,2]".
func int64Text(v []int64) string { return strings.ReplaceAll(fmt.Sprint(v), " ", ",") }
