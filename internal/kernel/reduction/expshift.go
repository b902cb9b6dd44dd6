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
