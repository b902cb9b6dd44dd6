package kernel

// BadIndex returns the position of the first index outside [0, n), or -1.
func BadIndex[I Index](idx []I, n int) int {
	for i, v := range idx {
		if v < 0 || int(v) >= n {
			return i
		}
	}
	return -1
}

// Gather takes rows: dst[o,i,:] = src[o,idx[i],:] for src of shape outer × n
// × inner.
func Gather[T any, I Index](par Par, dst, src []T, idx []I, outer, n, inner int) {
	k := len(idx)
	par(outer*k, max(1, ElementGrain/max(1, inner)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := (i/k*n + int(idx[i%k])) * inner
			copy(dst[i*inner:(i+1)*inner], src[row:row+inner])
		}
	})
}

// ScatterAdd adds rows in order: dst[idx[i],:] += src[i,:]. Negative indices
// are left out.
func ScatterAdd[T Number, I Index](dst, src []T, idx []I, inner int) {
	scatter(dst, src, idx, inner, func(d, s []T) { Add(d, d, s) })
}

// ScatterSub subtracts rows in order.
func ScatterSub[T Number, I Index](dst, src []T, idx []I, inner int) {
	scatter(dst, src, idx, inner, func(d, s []T) { Sub(d, d, s) })
}

// ScatterMul multiplies rows in order.
func ScatterMul[T Number, I Index](dst, src []T, idx []I, inner int) {
	scatter(dst, src, idx, inner, func(d, s []T) { Mul(d, d, s) })
}

// ScatterDiv divides rows in order.
func ScatterDiv[T Inexact, I Index](dst, src []T, idx []I, inner int) {
	scatter(dst, src, idx, inner, func(d, s []T) { Div(d, d, s) })
}

// ScatterMax keeps the greater of both rows.
func ScatterMax[T Real, I Index](dst, src []T, idx []I, inner int) {
	scatter(dst, src, idx, inner, func(d, s []T) { Max(d, d, s) })
}

// ScatterMin keeps the lesser of both rows.
func ScatterMin[T Real, I Index](dst, src []T, idx []I, inner int) {
	scatter(dst, src, idx, inner, func(d, s []T) { Min(d, d, s) })
}

// ScatterUpdate overwrites rows in order.
func ScatterUpdate[T any, I Index](dst, src []T, idx []I, inner int) {
	scatter(dst, src, idx, inner, func(d, s []T) { copy(d, s) })
}

func scatter[T any, I Index](dst, src []T, idx []I, inner int, f func(d, s []T)) {
	for i, k := range idx {
		if k >= 0 {
			d := int(k) * inner
			f(dst[d:d+inner], src[i*inner:(i+1)*inner])
		}
	}
}

// SegmentSum sets dst, of segments rows, to the sums of the rows of src that
// idx assigns to each. Negative indices are left out.
func SegmentSum[T Number, I Index](dst, src []T, idx []I, inner int) {
	clear(dst)
	ScatterAdd(dst, src, idx, inner)
}
