//go:build amd64 && !noasm

package conv

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// kRun is where some steps of k lie: how far A and B are from their pointers, in
// bytes, and how many they are. A run of none ends a list.
type kRun struct{ a, b, k int }

// runsKernel computes a tile over a list of runs. To what C holds, or to
// nothing with beta 0, it adds the products and then bias, unless that is nil.
// Kernels for edges look at the width. Those for whole panels and A in rows fetch a
// row ahead bytes from B every roundSteps steps.
type runsKernel[T numeric.Float] func(runs *int, a *T, lda int, b *T, ldb int, c *T, ldc, beta int, bias *T, width, ahead int)

// roundSteps is how many rows of B a kernel takes in a round, in which it fetches one row of another
// panel: as many tiles fetch all of it, each from a row of its own on.
const roundSteps = 4

// aheadOf is where tile t fetches: its share of a panel that is so many elements from
// the tile's, in rows of ldb elements.
func aheadOf[T numeric.Float](panel, t, ldb int) int {
	return (panel + t%roundSteps*ldb) * elementSize[T]()
}

// runsTile computes a tile of any width from rows of A.
func (m *microKernels[T]) runsTile(h, width int) runsKernel[T] {
	return m.byWidth(width, m.runsFull, m.runsEdge, m.runsHalf)[h-1]
}

// sumsTile computes a tile of any width from columns of A.
func (m *microKernels[T]) sumsTile(h, width int) runsKernel[T] {
	return m.byWidth(width, m.sumsFull, m.sumsEdge, m.sumsHalf)[h-1]
}

// byWidth chooses the kernels for tiles of a width.
func (m *microKernels[T]) byWidth(width int, full, edge, half []runsKernel[T]) []runsKernel[T] {
	switch {
	case width == m.panel():
		return full
	case width <= m.lanes:
		return half
	}
	return edge
}

// runLists are lists of runs: one for each line of windows and part of k.
type runLists struct {
	runs   []kRun
	starts []int
	parts  int // of k
	most   int // steps of a part
	room   int // left in the part being listed
}

// at is where a list is.
func (l *runLists) at(line, part int) *int { return &l.runs[l.starts[line*l.parts+part]].a }

// empty reports whether a list has no steps.
func (l *runLists) empty(line, part int) bool { return l.runs[l.starts[line*l.parts+part]].k == 0 }

// reset begins lists for lines of up to k steps, in parts of about most.
func (l *runLists) reset(k, most int) {
	l.runs, l.starts = l.runs[:0], l.starts[:0]
	l.most = tiles.EqualBlocks(k, most)
	l.parts = kernel.CeilDiv(k, l.most)
}

// begin begins the lists of a line.
func (l *runLists) begin() {
	l.starts = append(l.starts, len(l.runs))
	l.room = l.most
}

// add adds a run whose steps are so many bytes apart in A and B.
func (l *runLists) add(r kRun, stepA, stepB int) {
	for r.k > 0 {
		if l.room == 0 {
			l.close()
			l.begin()
		}
		n := min(r.k, l.room)
		l.runs = append(l.runs, kRun{r.a, r.b, n})
		r.a, r.b, r.k = r.a+n*stepA, r.b+n*stepB, r.k-n
		l.room -= n
	}
}

// close ends a list. One of nothing begins with a run of no steps.
func (l *runLists) close() {
	if l.starts[len(l.starts)-1] == len(l.runs) {
		l.runs = append(l.runs, kRun{})
	}
	l.runs = append(l.runs, kRun{})
}

// end ends the lists of a line; there is one for every part of k.
func (l *runLists) end() {
	l.close()
	for len(l.starts)%l.parts != 0 {
		l.begin()
		l.close()
	}
}
