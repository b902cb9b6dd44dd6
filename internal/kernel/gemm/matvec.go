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

// byRow reports whether g multiplies one row by rows of a transposed B. With more rows,
// tiles repay packing B.
func (g Gemm) byRow() bool { return g.M == 1 && g.TransB && !g.TransA && g.K >= dotLeast }

// byDots reports whether each element of C is the product of two rows without gaps.
func (g Gemm) byDots() bool { return g.byVector() || g.byRow() }

// matVec multiplies rows of a by a vector. Where C has one column, tiles of it
// leave most lanes of a vector unused, and sum up over k in order; here all lanes
// have sums of their own, so that the rounding error does not grow with K.
func matVec[T numeric.Float](par kernel.Par, g Gemm, c, a, b []T, e Epilogue[T]) {
	flushing(par, g)(g.M, max(1, kernel.ElementGrain/g.K), func(lo, hi int) {
		d := newDots[T](g)
		for i := lo; i < hi; i++ {
			d.element(&c[i*g.LDC], a[i*g.LDA:], b)
		}
		e.Apply(g, c, lo, hi, 0, 1)
	})
}

// rowMat multiplies a row by each row of a transposed b as it lies in memory.
func rowMat[T numeric.Float](par kernel.Par, g Gemm, c, a, b []T, e Epilogue[T]) {
	flushing(par, g)(g.N, max(1, kernel.ElementGrain/g.K), func(lo, hi int) {
		d := newDots[T](g)
		for j := lo; j < hi; j++ {
			d.element(&c[j], a, b[j*g.LDB:])
		}
		e.Apply(g, c, 0, 1, lo, hi)
	})
}

// dots computes products of rows of one length.
type dots[T numeric.Float] struct {
	k          int
	accumulate bool
	buf        []T // for dot; nil: vectors has the function
	vectors    func(x *T, n int, y *T) T
}

func newDots[T numeric.Float](g Gemm) *dots[T] {
	d := &dots[T]{k: g.K, accumulate: g.Accumulate}
	if f, ok := any(simd.dot32).(func(x *T, n int, y *T) T); ok && f != nil {
		d.vectors = f
	} else {
		d.buf = make([]T, min(g.K, dotChunk))
	}
	return d
}

// element stores the product of the beginnings of x and y, or adds it.
func (d *dots[T]) element(c *T, x, y []T) {
	var s T
	if x, y = x[:d.k], y[:d.k]; d.vectors != nil {
		for i := 0; i < d.k; i += kernel.VectorChunk {
			s += d.vectors(&x[i], min(d.k-i, kernel.VectorChunk), &y[i])
		}
	} else {
		s = dot(d.buf, x, y)
	}
	if d.accumulate {
		s += *c
	}
	*c = s
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
