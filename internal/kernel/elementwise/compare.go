package elementwise

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Equal sets z = x == y.
func Equal[T comparable](z []bool, x, y []T) {
	n := compare32(simd.equal, z, x, y)
	kernel.Zip2(z[n:], x[n:], y[n:], func(a, b T) bool { return a == b })
}

// NotEqual sets z = x != y.
func NotEqual[T comparable](z []bool, x, y []T) {
	n := compare32(simd.notEqual, z, x, y)
	kernel.Zip2(z[n:], x[n:], y[n:], func(a, b T) bool { return a != b })
}

// Less sets z = x < y.
func Less[T numeric.Real](z []bool, x, y []T) { Greater(z, y, x) }

// LessEqual sets z = x <= y.
func LessEqual[T numeric.Real](z []bool, x, y []T) { GreaterEqual(z, y, x) }

// Greater sets z = x > y.
func Greater[T numeric.Real](z []bool, x, y []T) {
	n := compare32(simd.greater, z, x, y)
	kernel.Zip2(z[n:], x[n:], y[n:], func(a, b T) bool { return a > b })
}

// GreaterEqual sets z = x >= y.
func GreaterEqual[T numeric.Real](z []bool, x, y []T) {
	n := compare32(simd.greaterEqual, z, x, y)
	kernel.Zip2(z[n:], x[n:], y[n:], func(a, b T) bool { return a >= b })
}

// compare32 runs a vector loop if there is one and the data are float32. It
// returns for how many elements.
func compare32[T any](f func(z *byte, x, y *float32, n int), z []bool, x, y []T) (done int) {
	xf, ok := kernel.AsFloat32(x)
	if !ok || f == nil {
		return 0
	}
	yf, _ := kernel.AsFloat32(y)
	b, xf, yf := kernel.Words[uint8](z), xf[:len(z)], yf[:len(z)]
	for len(b)-done >= 32 {
		n := min(len(b)-done, kernel.VectorChunk) &^ 31
		f(&b[done], &xf[done], &yf[done], n)
		done += n
	}
	return done
}

// And sets z = x && y.
func And(z, x, y []bool) { kernel.Zip(z, x, y, func(a, b bool) bool { return a && b }) }

// Or sets z = x || y.
func Or(z, x, y []bool) { kernel.Zip(z, x, y, func(a, b bool) bool { return a || b }) }

// Select sets z to x where c holds and to y elsewhere.
func Select[T any](z []T, c []bool, x, y []T) {
	c, x, y = c[:len(z)], x[:len(z)], y[:len(z)]
	for i := range z {
		if c[i] {
			z[i] = x[i]
		} else {
			z[i] = y[i]
		}
	}
}
