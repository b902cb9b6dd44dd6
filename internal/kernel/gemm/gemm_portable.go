package gemm

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// gemmNaive defines the product.
func gemmNaive[T numeric.Number](g Gemm, c, a, b []T) {
	for i := range g.M {
		for j := range g.N {
			var s T
			for k := range g.K {
				s += a[g.indexA(i, k)] * b[g.indexB(k, j)]
			}
			if g.Accumulate {
				s += c[i*g.LDC+j]
			}
			c[i*g.LDC+j] = s
		}
	}
}

// indexA returns where op(A)[i,k] is stored.
func (g Gemm) indexA(i, k int) int {
	if g.TransA {
		return k*g.LDA + i
	}
	return i*g.LDA + k
}

// indexB returns where op(B)[k,j] is stored.
func (g Gemm) indexB(k, j int) int {
	if g.TransB {
		return j*g.LDB + k
	}
	return k*g.LDB + j
}

const (
	// portableCols columns of B are packed side by side, so that the
	// innermost loop walks memory in order.
	portableCols = 4
	// portableFlops are worth a task of their own.
	portableFlops = 1 << 17
)

// gemmPortable multiplies four columns of B at a time, copied to lie next to
// each other, with one row of A.
func gemmPortable[T numeric.Number](par kernel.Par, g Gemm, c, a, b []T, e Epilogue[T]) {
	strips := (g.N + portableCols - 1) / portableCols
	flushing(par, g)(strips, max(1, portableFlops/(2*g.M*g.K*portableCols)), func(lo, hi int) {
		panel := memory.Make[[portableCols]T](g.K)
		row := memory.Make[T](g.K)
		for s := lo; s < hi; s++ {
			j0, j1 := s*portableCols, min(g.N, (s+1)*portableCols)
			packColumns(panel, g, b, j0, j1)
			for i := range g.M {
				packRow(row, g, a, i)
				storeRow(c[i*g.LDC+j0:i*g.LDC+j1], dotPanel(row, panel), g.Accumulate)
			}
			e.Apply(g, c, 0, g.M, j0, j1)
		}
	})
}

func packColumns[T numeric.Number](panel [][portableCols]T, g Gemm, b []T, j0, j1 int) {
	for k := range panel {
		for j := j0; j < j1; j++ {
			panel[k][j-j0] = b[g.indexB(k, j)]
		}
	}
}

func packRow[T numeric.Number](row []T, g Gemm, a []T, i int) {
	if !g.TransA {
		copy(row, a[i*g.LDA:])
		return
	}
	for k := range row {
		row[k] = a[k*g.LDA+i]
	}
}

// dotPanel returns the products of a row with four columns.
func dotPanel[T numeric.Number](row []T, panel [][portableCols]T) [portableCols]T {
	var s0, s1, s2, s3 T
	panel = panel[:len(row)]
	for k, v := range row {
		p := &panel[k]
		s0 += v * p[0]
		s1 += v * p[1]
		s2 += v * p[2]
		s3 += v * p[3]
	}
	return [portableCols]T{s0, s1, s2, s3}
}

func storeRow[T numeric.Number](dst []T, v [portableCols]T, accumulate bool) {
	for j := range dst {
		if accumulate {
			dst[j] += v[j]
		} else {
			dst[j] = v[j]
		}
	}
}
