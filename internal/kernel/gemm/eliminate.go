package gemm

import "math"

// EliminateWidth is the number of elements of a row that Eliminate changes.
const EliminateWidth = 8

// HasEliminate reports whether there is a vector loop for Eliminate.
func HasEliminate() bool { return simd.eliminate != nil }

// Eliminate divides element k of n rows, which are stride apart, by the divisor and adds
// as many times the elements of the pivot after k. It returns the row whose element k+1
// is the greatest: the first one if that is NaN.
func Eliminate(a []float64, n, stride int, pivot *[EliminateWidth]float64, k int, divisor float64) (best int) {
	if n == 0 {
		return 0
	}
	_ = a[(n-1)*stride+EliminateWidth-1]
	if simd.eliminate == nil || k < 0 || k >= EliminateWidth {
		return eliminatePlain(a, n, stride, pivot, k, divisor)
	}
	best = simd.eliminate(&a[0], n, stride, &pivot[0], k, divisor)
	if k+1 < EliminateWidth && math.IsNaN(a[k+1]) {
		return 0
	}
	return best
}

func eliminatePlain(a []float64, n, stride int, pivot *[EliminateWidth]float64, k int, divisor float64) (best int) {
	most := math.Inf(-1)
	for i := range n {
		row := a[i*stride:][:EliminateWidth]
		row[k] /= divisor
		for j := k + 1; j < EliminateWidth; j++ {
			row[j] += row[k] * pivot[j]
		}
		if k+1 == EliminateWidth {
			continue
		}
		if size := math.Abs(row[k+1]); i == 0 || size > most {
			best, most = i, size
		}
	}
	return best
}
