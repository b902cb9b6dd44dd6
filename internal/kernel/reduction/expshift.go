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
// these, where m is the greatest of the row, and reports whether it has: it takes rows that are
// short, of float32. The bits are those of MaxOf, ExpShifted and MulScalar by the sum's inverse;
// calls of these would take longer than short rows do.
func SoftmaxRows[T numeric.Float](y, x []T, n int) bool {
	yf, ok := kernel.AsFloat32(y)
	if !ok || simd.softmaxRows == nil || n > sumF32Chunk || n == 0 {
		return false
	}
	xf, _ := kernel.AsFloat32(x)
	xf = xf[:len(yf)]
	atOnce := kernel.VectorChunk / n * n
	for len(yf) >= n {
		k := min(atOnce, len(yf)/n*n)
		simd.softmaxRows(&yf[0], &xf[0], k/n, n)
		yf, xf = yf[k:], xf[k:]
	}
	return true
}
