//go:build amd64 && !noasm

package gemm

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
)

const (
	// streamRows of C at most are computed from rows of B as they follow each other in
	// memory. With more, panels of B that stay in the first-level cache take less time.
	streamRows = 3
	// streamLeast is how large B has to be for that, for one row of C; with more rows, the
	// panels win for larger ones, too.
	streamLeast = 128 << 10
	// streamBytes are the columns of all rows of C together that are computed at a time:
	// they stay in the first-level cache, with as many rows of B.
	streamBytes = 8 << 10
)

// streams reports whether a region of few rows is computed from whole rows of B, which
// are read once, one after the other: a panel of B has a few lines of each row, which
// memory delivers at a third of the speed.
func (w *gemmWork[T]) streams() bool {
	rows, sizeB := w.i1-w.i0, w.K*w.N*int(unsafe.Sizeof(w.b[0]))
	return rows <= streamRows && sizeB >= streamLeast*rows*rows && !w.TransA && !w.TransB && w.j1-w.j0 > w.micro.wide()
}

// stream computes a region of few rows, but for the last columns, which do not fill a
// vector; it returns the first of these. The bits are those of direct.
func (w *gemmWork[T]) stream() int {
	end := w.j0 + (w.j1-w.j0)/w.micro.lanes*w.micro.lanes
	rows := w.i1 - w.i0
	most := w.streamColumns()
	w.packed.c = tiles.GrowAligned(w.packed.c, rows*most)
	kc := tiles.EqualBlocks(w.K, w.directSteps(w.Gemm))
	for j := w.j0; j < end; j += most {
		n := min(most, end-j)
		for p := 0; p < w.K; p += kc {
			sums := w.packed.c[:rows*n]
			clear(sums)
			w.addRows(sums, p, min(kc, w.K-p), j, n)
			w.putSums(sums, p, j, n)
		}
	}
	return end
}

// addRows adds rows [p, p+kn) of B, n columns from j on, to each row of sums, times the
// elements of A.
func (w *gemmWork[T]) addRows(sums []T, p, kn, j, n int) {
	for end := p + kn; p < end; {
		h := min(len(w.micro.addRows), end-p)
		for i := range w.i1 - w.i0 {
			w.micro.addRows[h-1](n, &w.a[(w.i0+i)*w.LDA+p], 1, &w.b[p*w.LDB+j], w.LDB, &sums[i*n])
		}
		p += h
	}
}

// putSums stores the sums of a block of k from p on, or adds them to C.
func (w *gemmWork[T]) putSums(sums []T, p, j, n int) {
	for i := w.i0; i < w.i1; i++ {
		row := w.c[i*w.LDC+j : i*w.LDC+j+n]
		if w.beta(p) == 0 {
			copy(row, sums[:n])
		} else {
			elementwise.Add(row, row, sums[:n])
		}
		sums = sums[n:]
	}
}
