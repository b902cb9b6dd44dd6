package layout

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// BadIndex returns the position of the first index outside [0, n), or -1.
func BadIndex[I numeric.Index](idx []I, n int) int {
	for i, v := range idx {
		if v < 0 || int(v) >= n {
			return i
		}
	}
	return -1
}

// Gather takes rows: dst[o,i,:] = src[o,idx[i],:] for src of shape outer × n
// × inner.
func Gather[T any, I numeric.Index](par kernel.Par, dst, src []T, idx []I, outer, n, inner int) {
	rows, grain := outer*len(idx), max(1, kernel.ElementGrain/max(1, inner))
	if rows <= grain {
		gatherRows(dst, src, idx, n, inner, 0, rows) // without the closure
		return
	}
	par(rows, grain, func(lo, hi int) { gatherRows(dst, src, idx, n, inner, lo, hi) })
}

// gatherRows takes the rows [lo, hi) of dst.
func gatherRows[T any, I numeric.Index](dst, src []T, idx []I, n, inner, lo, hi int) {
	for k := len(idx); lo < hi; {
		o := lo / k
		end := min(hi, (o+1)*k)
		pickRows(dst[lo*inner:end*inner], src[o*n*inner:(o+1)*n*inner], idx[lo-o*k:end-o*k], inner)
		lo = end
	}
}

// pickRows takes rows of one matrix.
func pickRows[T any, I numeric.Index](dst, src []T, idx []I, inner int) {
	if inner == 1 {
		for i, row := range idx {
			dst[i] = src[row]
		}
		return
	}
	far := kernel.Far(src)
	for i := range idx {
		if next := i + kernel.RowsAhead; far && next < len(idx) {
			row := int(idx[next]) * inner
			kernel.Prefetch(src[row : row+inner])
		}
		row := int(idx[i]) * inner
		copy(dst[i*inner:(i+1)*inner], src[row:row+inner])
	}
}

// ScatterAdd adds rows in order: dst[idx[i],:] += src[i,:]. Negative indices
// are left out.
func ScatterAdd[T numeric.Number, I numeric.Index](dst, src []T, idx []I, inner int) {
	if inner == 1 {
		for i, k := range idx {
			if k >= 0 {
				dst[k] += src[i]
			}
		}
		return
	}
	scatter(dst, src, idx, inner, func(d, s []T) { elementwise.Add(d, d, s) })
}

// ScatterSub subtracts rows in order.
func ScatterSub[T numeric.Number, I numeric.Index](dst, src []T, idx []I, inner int) {
	scatter(dst, src, idx, inner, func(d, s []T) { elementwise.Sub(d, d, s) })
}

// ScatterMul multiplies rows in order.
func ScatterMul[T numeric.Number, I numeric.Index](dst, src []T, idx []I, inner int) {
	scatter(dst, src, idx, inner, func(d, s []T) { elementwise.Mul(d, d, s) })
}

// ScatterDiv divides rows in order.
func ScatterDiv[T numeric.Inexact, I numeric.Index](dst, src []T, idx []I, inner int) {
	scatter(dst, src, idx, inner, func(d, s []T) { elementwise.Div(d, d, s) })
}

// ScatterMax keeps the greater of both rows.
func ScatterMax[T numeric.Real, I numeric.Index](dst, src []T, idx []I, inner int) {
	scatter(dst, src, idx, inner, func(d, s []T) { elementwise.Max(d, d, s) })
}

// ScatterMin keeps the lesser of both rows.
func ScatterMin[T numeric.Real, I numeric.Index](dst, src []T, idx []I, inner int) {
	scatter(dst, src, idx, inner, func(d, s []T) { elementwise.Min(d, d, s) })
}

// ScatterUpdate overwrites rows in order.
func ScatterUpdate[T any, I numeric.Index](dst, src []T, idx []I, inner int) {
	scatter(dst, src, idx, inner, func(d, s []T) { copy(d, s) })
}

func scatter[T any, I numeric.Index](dst, src []T, idx []I, inner int, f func(d, s []T)) {
	far := kernel.Far(dst)
	for i, k := range idx {
		if next := i + kernel.RowsAhead; far && next < len(idx) && idx[next] >= 0 {
			d := int(idx[next]) * inner
			kernel.Prefetch(dst[d : d+inner])
		}
		if k >= 0 {
			d := int(k) * inner
			f(dst[d:d+inner], src[i*inner:(i+1)*inner])
		}
	}
}

// SegmentSum sets dst, of segments rows, to the sums of the rows of src that
// idx assigns to each. Negative indices are left out.
func SegmentSum[T numeric.Number, I numeric.Index](dst, src []T, idx []I, inner int) {
	clear(dst)
	ScatterAdd(dst, src, idx, inner)
}
