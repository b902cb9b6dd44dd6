package elementwise

import "github.com/gorge-tf/gorge/internal/kernel"

// A columnLoop sets rows of n elements of z to those of x with s[i], for row i.
type columnLoop func(z, x, s *float32, rows, n int)

// A Column is an operation on rows of float32 and a column, by one loop over all rows: a call for
// each of many short ones takes as long as their elements.
type Column uint8

const (
	noColumn Column = iota
	addColumn
	subColumn
	mulColumn
	divColumn
)

// loop returns the loop, nil if the processor has none.
func (c Column) loop() columnLoop {
	switch c {
	case addColumn:
		return simd.addC
	case subColumn:
		return simd.subC
	case mulColumn:
		return simd.mulC
	case divColumn:
		return simd.divC
	}
	return nil
}

// Rows sets rows of n elements of z, where one operand has one element for each of them, and
// reports whether there is a loop that does.
func (c Column) Rows(z, x []float32, xColumn bool, y []float32, yColumn bool, n int) bool {
	if c.loop() == nil || xColumn == yColumn || c.ordered(xColumn) || n == 0 || n > kernel.VectorChunk {
		return false
	}
	if xColumn {
		x, y = y, x
	}
	c.run(z, x, y, n)
	return true
}

// ordered reports whether the operation is another one where its first operand is the column.
func (c Column) ordered(xColumn bool) bool { return xColumn && (c == subColumn || c == divColumn) }

// run calls the loop for some rows at a time: the scheduler cannot interrupt a call.
func (c Column) run(z, x, column []float32, n int) {
	for f := c.loop(); len(z) > 0; {
		rows := min(len(z), kernel.VectorChunk) / n
		_, _ = x[rows*n-1], column[rows-1]
		f(&z[0], &x[0], &column[0], rows, n)
		z, x, column = z[rows*n:], x[rows*n:], column[rows:]
	}
}

// hasColumn reports whether one operand is a column and the other one a matrix.
func (b *Broadcast) hasColumn() bool {
	return len(b.dims) == 2 && (b.isColumn(0) && b.isMatrix(1) || b.isColumn(1) && b.isMatrix(0))
}

// isColumn reports whether operand k has one element for each row.
func (b *Broadcast) isColumn(k int) bool { return b.dims[0].step[k] == 1 && b.dims[1].step[k] == 0 }

// isMatrix reports whether operand k has all elements.
func (b *Broadcast) isMatrix(k int) bool {
	return b.dims[0].step[k] == b.dims[1].n && b.dims[1].step[k] == 1
}

// zip computes the results [lo, hi) of a matrix and a column, if that is what x and y are, and
// reports whether it could. It is no function of their type, of which there are many.
func (c Column) zip(b *Broadcast, z, x, y any, lo, hi int) bool {
	to, ok := z.([]float32)
	if !ok || c.loop() == nil || !b.hasColumn() || b.dims[1].n > kernel.VectorChunk {
		return false
	}
	xf, _ := x.([]float32)
	yf, _ := y.([]float32)
	if b.isColumn(0) {
		if c.ordered(true) {
			return false
		}
		xf, yf = yf, xf
	}
	c.zipRows(to, xf, yf, lo, hi, b.dims[1].n)
	return true
}

// zipRows computes the end of a row, whole rows and the beginning of one.
func (c Column) zipRows(z, x, column []float32, lo, hi, n int) {
	for lo < hi {
		rows, width := (hi-lo)/n, n
		if at := lo % n; at > 0 || rows == 0 {
			rows, width = 1, min(n-at, hi-lo)
		}
		next := lo + rows*width
		c.run(z[lo:next], x[lo:next], column[lo/n:], width)
		lo = next
	}
}
