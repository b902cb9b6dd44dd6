package layout

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// BadIndex returns the position of the first index outside [0, n), or -1.
func BadIndex[I numeric.Index](idx []I, n int) int {
	var outside int64 // has the sign bit if an index is below 0 or above n-1
	for _, v := range idx {
		outside |= int64(v) | (int64(n) - 1 - int64(v))
	}
	if outside >= 0 {
		return -1
	}
	return slices.IndexFunc(idx, func(v I) bool { return v < 0 || int(v) >= n })
}

// Gather takes rows: dst[o,i,:] = src[o,idx[i],:] for src of shape outer × n
// × inner.
func Gather[T any, I numeric.Index](par kernel.Par, dst, src []T, idx []I, outer, n, inner int) {
	gather(par, dst, src, idx, outer, n, inner, max(1, kernel.ElementGrain/max(1, inner)), takeRows[T, I])
}

// GatherBytes is Gather for elements that are plain bytes, inner in a row.
func GatherBytes[I numeric.Index](par kernel.Par, dst, src []byte, idx []I, outer, n, inner int) {
	gather(par, dst, src, idx, outer, n, inner, RowGrain(inner), TakeRows[I])
}

// RowGrain is how many rows of so many bytes, anywhere in memory, are worth a task.
func RowGrain(bytes int) int { return max(1, kernel.ElementGrain/max(1, bytes/4)) }

func gather[T any, I numeric.Index](par kernel.Par, dst, src []T, idx []I, outer, n, inner, grain int, take func(dst, src []T, idx []I, inner int)) {
	rows := outer * len(idx)
	if rows <= grain {
		gatherRows(dst, src, idx, n, inner, 0, rows, take) // without the closure
		return
	}
	par(rows, grain, func(lo, hi int) { gatherRows(dst, src, idx, n, inner, lo, hi, take) })
}

// gatherRows takes the rows [lo, hi) of dst.
func gatherRows[T any, I numeric.Index](dst, src []T, idx []I, n, inner, lo, hi int, take func(dst, src []T, idx []I, inner int)) {
	for k := len(idx); lo < hi; {
		o := lo / k
		end := min(hi, (o+1)*k)
		take(dst[lo*inner:end*inner], src[o*n*inner:(o+1)*n*inner], idx[lo-o*k:end-o*k], inner)
		lo = end
	}
}

// SegmentSum sets dst, of segments rows, to the sums of the rows of src that
// idx assigns to each. Negative indices are left out.
func SegmentSum[T numeric.Number, I numeric.Index](dst, src []T, idx []I, inner int) {
	clear(dst)
	ScatterAdd(dst, src, idx, inner)
}
