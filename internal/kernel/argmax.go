package kernel

// Index lists the types that positions are given in.
type Index interface{ int32 | int64 }

// ArgMax sets dst to the position of the greatest of n elements, for src of
// shape outer × n × inner. The first of equals wins, NaN never does.
func ArgMax[I Index, T Real](par Par, dst []I, src []T, outer, n, inner int) {
	argBest(par, dst, src, outer, n, inner, func(a, b T) bool { return a > b })
}

// ArgMin is ArgMax for the least element.
func ArgMin[I Index, T Real](par Par, dst []I, src []T, outer, n, inner int) {
	argBest(par, dst, src, outer, n, inner, func(a, b T) bool { return a < b })
}

func argBest[I Index, T Real](par Par, dst []I, src []T, outer, n, inner int, better func(a, b T) bool) {
	par(outer, max(1, ElementGrain/max(1, n*inner)), func(lo, hi int) {
		for o := lo; o < hi; o++ {
			for i := range inner {
				dst[o*inner+i] = I(argBestOf(src[o*n*inner+i:], n, inner, better))
			}
		}
	})
}

// argBestOf looks at n elements that are stride apart. NaN is no number to
// compare with, so the search begins at the first that is one.
func argBestOf[T Real](x []T, n, stride int, better func(a, b T) bool) int {
	best := 0
	for i := 1; i < n; i++ {
		v, b := x[i*stride], x[best*stride]
		if better(v, b) || b != b && v == v {
			best = i
		}
	}
	return best
}
