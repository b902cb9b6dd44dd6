//go:build amd64 && !noasm

package gemm

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// microKernels are the innermost loops of a matrix product for one instruction
// set: each family has a kernel for every height of a tile, the first for 1.
// Strides are in elements. With beta 0 the tile of C is overwritten, else
// added to.
type microKernels[T numeric.Float] struct {
	tileM int // the greatest height
	lanes int // elements of a vector; a full tile is two vectors wide

	rowsFull           []rowsKernel[T]
	rowsNext           []rowsNextKernel[T]
	colsNext           []rowsNextKernel[T] // of a transposed A
	rowsWide, rowsPair []rowsKernel[T]     // of one row, eight and four vectors wide
	rowsEdge, rowsHalf []rowsEdgeKernel[T]
	packEdge, packHalf []packEdgeKernel[T]
	packFirst          []packFirstKernel[T]
	packFull           []packFullKernel[T]

	// addRows has a function for every number of rows of B that are added at a time.
	addRows []addRowsKernel[T]

	pack tiles.Packer[T]
}

type (
	// rowsKernel reads A in rows that are lda apart; of a transposed A these are the columns.
	rowsKernel[T numeric.Float] func(k int, a *T, lda int, b *T, ldb int, c *T, ldc int, beta int)
	// rowsNextKernel is rowsKernel that fetches rows from next on, which lie in B, a row in
	// roundSteps.
	rowsNextKernel[T numeric.Float] func(k int, a *T, lda int, b *T, ldb int, next *T, c *T, ldc int, beta int)
	// rowsEdgeKernel is rowsKernel for fewer columns.
	rowsEdgeKernel[T numeric.Float] func(k int, a *T, lda int, b *T, ldb int, c *T, ldc int, beta int, width int)
	// packEdgeKernel reads A packed, for fewer columns than a full tile.
	packEdgeKernel[T numeric.Float] func(k int, a *T, b *T, ldb int, c *T, ldc int, beta int, width int)
	// packFirstKernel reads A packed and copies the panel of B to pb.
	packFirstKernel[T numeric.Float] func(k int, a *T, b *T, ldb int, pb *T, c *T, ldc int, beta int)
	// packFullKernel reads both packed and fetches rows from next on, ldn apart, a row in
	// roundSteps.
	packFullKernel[T numeric.Float] func(k int, a *T, b, next *T, ldn int, c *T, ldc int, beta int)
	// addRowsKernel adds rows of B, each times an element of x, to y; n is a multiple of lanes.
	addRowsKernel[T numeric.Float] func(n int, x *T, step int, b *T, ldb int, y *T)
)

// roundSteps is how many rows of B a kernel takes in a round, in which it fetches one row of another
// panel: as many tiles fetch all of it, each from a row of its own on.
const roundSteps = 4

// panel is the number of columns of a full tile.
func (m *microKernels[T]) panel() int { return 2 * m.lanes }

// wide and pair are the numbers of columns of tiles of one row: a full tile has two sums for
// each of its rows, and each of these waits for its last addition.
func (m *microKernels[T]) wide() int { return 8 * m.lanes }
func (m *microKernels[T]) pair() int { return 4 * m.lanes }

// rowWidth is how many of so many columns a tile of one row takes.
func (m *microKernels[T]) rowWidth(columns int) int {
	switch {
	case columns >= m.wide():
		return m.wide()
	case columns >= m.pair():
		return m.pair()
	}
	return min(m.panel(), columns)
}

// rowsTile computes a tile of any width from rows of A.
func (m *microKernels[T]) rowsTile(h, width, k int, a *T, lda int, b *T, ldb int, c *T, ldc, beta int) {
	switch {
	case width == m.wide():
		m.rowsWide[h-1](k, a, lda, b, ldb, c, ldc, beta)
	case width == m.pair():
		m.rowsPair[h-1](k, a, lda, b, ldb, c, ldc, beta)
	case width == m.panel():
		m.rowsFull[h-1](k, a, lda, b, ldb, c, ldc, beta)
	case width <= m.lanes:
		m.rowsHalf[h-1](k, a, lda, b, ldb, c, ldc, beta, width)
	default:
		m.rowsEdge[h-1](k, a, lda, b, ldb, c, ldc, beta, width)
	}
}

// packedEdge computes a tile that is narrower than a full one from packed A.
func (m *microKernels[T]) packedEdge(h, width, k int, a, b *T, ldb int, c *T, ldc, beta int) {
	if width <= m.lanes {
		m.packHalf[h-1](k, a, b, ldb, c, ldc, beta, width)
	} else {
		m.packEdge[h-1](k, a, b, ldb, c, ldc, beta, width)
	}
}

// addAllRows is AddRows for the elements of y that fill vectors. It returns their number.
func (m *microKernels[T]) addAllRows(y []T, n int, x []T, step int, b []T, ldb int) int {
	width := len(y) / m.lanes * m.lanes
	for j := 0; j < width; j += kernel.VectorChunk {
		columns := min(kernel.VectorChunk, width-j)
		for p := 0; p < n; p += len(m.addRows) {
			h := min(len(m.addRows), n-p)
			m.addRows[h-1](columns, &x[p*step], step, &b[p*ldb+j], ldb, &y[j])
		}
	}
	return width
}
