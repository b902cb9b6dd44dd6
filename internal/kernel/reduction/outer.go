package reduction

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/memory"
)

// outer folds a reduced dimension before a kept one, behind which others are reduced.
// Rows are what one index of the reduced dimension has.
type outer[T memory.Plain] struct {
	dims    []reduceDim // from the kept one on
	stride  int         // between rows
	results int         // of one index of the kept dimension
	fold    Fold[T]
}

// foldOuter folds a reduced first dimension, for the indices [lo, hi) of the kept one
// behind it: for so many at a time that their results stay in the first-level cache.
func foldOuter[T memory.Plain](dims []reduceDim, dst, src []T, lo, hi int, f Fold[T]) {
	o := &outer[T]{dims: dims[1:], stride: innerLen(dims), results: keptLen(dims[1:]), fold: f}
	in, rows := innerLen(o.dims), dims[0].n
	most := max(1, foldWidth/o.results)
	buf, loan := memory.Lend[T](min(most, hi-lo) * o.results * o.depth(rows))
	for ; lo < hi; lo += most {
		o.into(dst[lo*o.results:min(lo+most, hi)*o.results], src[lo*in:], rows, buf)
	}
	loan.Return()
}

// depth is how often a number of rows is halved.
func (o *outer[T]) depth(rows int) (n int) {
	for ; rows > foldRows; rows = kernel.CeilDiv(rows, 2) {
		n++
	}
	return n
}

// into folds rows into dst, the second half of them in buf.
func (o *outer[T]) into(dst, src []T, rows int, buf []T) {
	if rows <= foldRows {
		for i := range rows {
			reduceRange(o.dims, dst, src[i*o.stride:], 0, len(dst)/o.results, o.fold)
		}
		return
	}
	half := kernel.CeilDiv(rows, 2)
	acc, rest := buf[:len(dst)], buf[len(dst):]
	kernel.Fill(acc, o.fold.Init)
	o.into(dst, src, half, rest)
	o.into(acc, src[half*o.stride:], rows-half, rest)
	o.fold.Rows(dst, acc)
}
