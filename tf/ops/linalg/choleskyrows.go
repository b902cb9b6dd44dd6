package linalg

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
)

// Matrices of so many rows are factored row by row: smaller ones are not worth it, and
// of greater ones the rows above do not stay in the cache.
const (
	leastByRows = 24
	mostByRows  = 160
)

// wholeVectors divides the columns at which rows begin, so that no elements are left
// for loops without vectors.
const wholeVectors = 16

// factorByRows is factorCholesky for float32. Where columns do not fill vectors, there are
// more for as long; float64 would take as long then as it does by blocks.
func factorByRows(a matrix[float32]) bool {
	if a.rows%wholeVectors == 0 {
		return factorRows(a)
	}
	wide := newMatrix[float32](a.rows, (a.rows+wholeVectors-1)&^(wholeVectors-1))
	wide.copyFrom(a)
	ok := factorRows(wide)
	a.copyFrom(wide)
	return ok
}

// factorRows factors the first columns of a: of the transposed factor in the upper
// triangle each row is what those above leave of it, divided by the root of its first
// element. Rows begin before the diagonal, where anything may be.
func factorRows[T realScalar](a matrix[T]) bool {
	var room [mostByRows]T
	n := a.rows
	mirrorTriangle(a, true)
	for j := range n {
		first := j &^ (wholeVectors - 1)
		factors := room[:j]
		for k, at := 0, j; k < j; k, at = k+1, at+a.stride {
			factors[k] = -a.data[at]
		}
		row := a.row(j)
		addRows(row[first:], factors, 1, a.part(0, first, j, a.cols-first))
		if row[j] <= 0 {
			return false
		}
		root := T(math.Sqrt(float64(row[j])))
		rest := row[j+1:]
		elementwise.MulScalar(rest, rest, 1/root)
		row[j] = root
	}
	mirrorTriangle(a, false)
	return true
}

// mirrorTriangle sets the upper triangle to the transposed lower one, or the other way.
// The other triangle holds anything afterwards.
func mirrorTriangle[T realScalar](a matrix[T], up bool) {
	for r := 0; r < a.rows; r += wholeVectors {
		for c := 0; c <= r; c += wholeVectors {
			if up {
				mirrorBlock(a, c, r, up)
			} else {
				mirrorBlock(a, r, c, up)
			}
		}
	}
}

// mirrorBlock sets the block of a at (r, c) to the transposed one at (c, r), as far as it
// lies in one triangle.
func mirrorBlock[T realScalar](a matrix[T], r, c int, up bool) {
	if x, ok := any(a.data).([]float32); ok && tiles.Transpose16 != nil && max(r, c)+wholeVectors <= a.rows {
		tiles.Transpose16(&x[r*a.stride+c], &x[c*a.stride+r], a.stride, a.stride)
		return
	}
	rows, cols := min(r+wholeVectors, a.rows), min(c+wholeVectors, a.rows)
	for i := r; i < rows; i++ {
		for j, from := c, c*a.stride+i; j < cols; j, from = j+1, from+a.stride {
			if r != c || up == (j > i) {
				a.data[i*a.stride+j] = a.data[from]
			}
		}
	}
}
