package descent

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Adagrad adds g² to acc and sets v -= g·lr·(1/√acc) (Duchi et al., JMLR 12, 2011).
// All slices are of v's length.
func Adagrad[T numeric.Float](v, acc, g []T, lr T) {
	if x, ok := kernel.AsFloat32(v); ok && simd.adagrad != nil {
		simd.adagrad(x, like(x, acc), like(x, g), float32(lr))
		return
	}
	acc, g = acc[:len(v)], g[:len(v)]
	for i := range v {
		acc[i] += g[i] * g[i]
		v[i] -= g[i] * lr * (1 / sqrt(acc[i]))
	}
}

// AdagradV2 is Adagrad with the step g·lr/(√acc + epsilon).
func AdagradV2[T numeric.Float](v, acc, g []T, lr, epsilon T) {
	if x, ok := kernel.AsFloat32(v); ok && simd.adagradV2 != nil {
		simd.adagradV2(x, like(x, acc), like(x, g), float32(lr), float32(epsilon))
		return
	}
	acc, g = acc[:len(v)], g[:len(v)]
	for i := range v {
		acc[i] += g[i] * g[i]
		v[i] -= g[i] * lr / (sqrt(acc[i]) + epsilon)
	}
}

// RMSProp moves the mean square s of the gradients by rho, and v by the momentum m of
// g·lr/√(s + epsilon) (Tieleman and Hinton, COURSERA lecture 6.5, 2012). All slices are
// of v's length.
func RMSProp[T numeric.Float](v, s, m, g []T, lr, rho, momentum, epsilon T) {
	if x, ok := kernel.AsFloat32(v); ok && simd.rmsProp != nil {
		simd.rmsProp(x, like(x, s), like(x, m), like(x, g), float32(lr), float32(1-rho), float32(momentum), float32(epsilon))
		return
	}
	s, m, g = s[:len(v)], m[:len(v)], g[:len(v)]
	for i := range v {
		s[i] = Flushed(s[i] + (g[i]*g[i]-s[i])*(1-rho))
		m[i] = Flushed(m[i]*momentum + g[i]*lr/sqrt(s[i]+epsilon))
		v[i] -= m[i]
	}
}

// like returns as many elements of x, which holds float32, as v has.
func like[T numeric.Float](v []float32, x []T) []float32 {
	y, _ := kernel.AsFloat32(x)
	return y[:len(v)]
}

func sqrt[T numeric.Float](x T) T { return T(math.Sqrt(float64(x))) }
