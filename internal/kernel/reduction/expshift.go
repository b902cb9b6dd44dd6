package reduction

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// ExpShifted sets y = e^(x-shift) and returns the sum of y.
func ExpShifted[T numeric.Float](y, x []T, shift T) T {
	if yf, ok := kernel.AsFloat32(y); ok && simd.expShift != nil {
		xf, _ := kernel.AsFloat32(x)
		sf, _ := kernel.ScalarFloat32(shift)
		s, _ := any(simd.expShift(yf, xf[:len(yf)], sf)).(T)
		return s
	}
	elementwise.SubScalar(y, x, shift)
	elementwise.Exp(y, y)
	return Sum(y)
}

// SoftmaxRows sets every row of n elements of y, which are whole rows, to e^(x-m) by the sum of
// these, where m is the greatest of the row; most and sums, if not nil, get m and the sum of each
// row. It reports whether it has done so: it takes rows that are short, of float32. The bits are
// those of MaxOf, ExpShifted and MulScalar by the sum's inverse, whose calls would take longer
// than short rows do. Where a row has NaN its sum is NaN, and m may be any.
func SoftmaxRows[T numeric.Float](y, x []T, n int, most, sums []T) bool {
	yf, ok := kernel.AsFloat32(y)
	if !ok || simd.softmaxRows == nil || n > sumF32Chunk || n == 0 {
		return false
	}
	xf, _ := kernel.AsFloat32(x)
	m, _ := kernel.AsFloat32(most)
	s, _ := kernel.AsFloat32(sums)
	xf = xf[:len(yf)]
	for len(yf) >= n {
		k := min(kernel.VectorChunk/n, len(yf)/n)
		if most == nil {
			simd.softmaxRows(&yf[0], &xf[0], k, n, nil, nil)
		} else {
			simd.softmaxRows(&yf[0], &xf[0], k, n, &m[:k][0], &s[:k][0])
			m, s = m[k:], s[k:]
		}
		yf, xf = yf[k*n:], xf[k*n:]
	}
	return true
}
