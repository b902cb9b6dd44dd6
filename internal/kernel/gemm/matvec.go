package gemm

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/reduction"
	"github.com/gorge-tf/gorge/internal/numeric"
)

const (
	// dotLeast elements of a row make the product with a vector worth loops of
	// its own.
	dotLeast = 128
	// dotChunk elements are multiplied before they are summed up.
	dotChunk = 2048
)

// byVector reports whether g multiplies rows without gaps by a vector.
func (g Gemm) byVector() bool {
	return g.N == 1 && !g.TransA && (g.TransB || g.LDB == 1) && g.K >= dotLeast
}

// matVec multiplies rows of a by a vector. Where C has one column, tiles of it
// leave most lanes of a vector unused, and sum up over k in order; here all lanes
// have sums of their own, so that the rounding error does not grow with K.
func matVec[T numeric.Float](par kernel.Par, g Gemm, c, a, b []T, e Epilogue[T]) {
	par(g.M, max(1, kernel.ElementGrain/g.K), func(lo, hi int) {
		buf := make([]T, min(g.K, dotChunk))
		for i := lo; i < hi; i++ {
			s := dot(buf, a[i*g.LDA:i*g.LDA+g.K], b[:g.K])
			if g.Accumulate {
				s += c[i*g.LDC]
			}
			c[i*g.LDC] = s
		}
		e.Apply(g, c, lo, hi, 0, 1)
	})
}

// dot returns the sum of the products of x and y, which go through buf.
func dot[T numeric.Float](buf, x, y []T) (s T) {
	for len(x) > 0 {
		n := min(len(x), len(buf))
		elementwise.Mul(buf[:n], x[:n], y[:n])
		s += reduction.Sum(buf[:n])
		x, y = x[n:], y[n:]
	}
	return s
}
