//go:build amd64 && !noasm

package gemm

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
)

// sharedTasks is the number of tasks from which on it pays to pack B once for all of them, or
// once for all that a thread takes.
const sharedTasks = 3

// sharesPanels reports whether tasks take the same panels of B, packed once for all of them,
// instead of packing them each on its own: where B is transposed, so that its rows are copied
// before they are multiplied with, or large. Other panels are packed by the tile that multiplies
// with them first, which costs less than a copy.
func (b *blocked[T]) sharesPanels(g Gemm, t gemmTasks) bool {
	return t.cols == 1 && t.rows >= sharedTasks && (g.TransB || g.K*g.N >= b.largeB)
}

// panelsShared computes C by tasks of rows. Before them all threads pack the columns of B
// and the steps of k that are next. The sums over k are cut as withPacking cuts them, so
// that the bits are equal.
func (b *blocked[T]) panelsShared(par kernel.Par, g Gemm, t gemmTasks, c, x, y []T, e *Epilogue[T]) {
	kc, width := b.packedSteps(g), min(b.n, g.N)
	all := b.scratch.Get().(*packed[T])
	defer b.scratch.Put(all)
	for j := 0; j < g.N; j += width {
		for p := 0; p < g.K; p += kc {
			kn, nn := min(kc, g.K-p), min(width, g.N-j)
			b.packPanels(par, g, all, y, region{p, p + kn, j, j + nn})
			b.regions(par, t, func(own *packed[T], r region) {
				w := &gemmWork[T]{blocked: b, Gemm: g, region: r, packed: own, c: c, a: x, b: y, shared: all.b, again: true}
				if !e.empty() {
					w.then = e
				}
				w.roomForA(kn)
				w.blocksOfA(p, kn, j, nn)
			})
		}
	}
}

// partsShared computes parts of C by tasks of rows, which share all of B.
func (b *blocked[T]) partsShared(par kernel.Par, g Gemm, t gemmTasks, x, y []T, worker func() func(at int, part []T)) {
	all := b.scratch.Get().(*packed[T])
	defer b.scratch.Put(all)
	b.packPanels(par, g, all, y, region{0, g.K, 0, g.N})
	b.regions(par, t, func(own *packed[T], r region) {
		w := &gemmWork[T]{blocked: b, Gemm: g, region: r, packed: own, a: x, b: y, shared: all.b, again: true}
		w.inParts(worker())
	})
}

// packGrain is how many elements of B are worth a range of their own.
const packGrain = 32 << 10

// packPanels packs a region of B: steps of k and columns.
func (b *blocked[T]) packPanels(par kernel.Par, g Gemm, all *packed[T], y []T, r region) {
	panel, kn := b.micro.panel(), r.i1-r.i0
	all.b = tiles.GrowAligned(all.b, b.panelsSize(kn, r.j1-r.j0))
	par(kernel.CeilDiv(r.j1-r.j0, panel), max(1, packGrain/(kn*panel)), func(lo, hi int) {
		part := region{r.i0, r.i1, r.j0 + lo*panel, min(r.j1, r.j0+hi*panel)}
		w := &gemmWork[T]{blocked: b, Gemm: g, region: part, b: y}
		if dst := all.b[lo*b.panelStride(kn):]; g.TransB {
			w.packEach(dst)
		} else {
			w.copyPanels(dst)
		}
	})
}

// packEach packs the panels of a region of a transposed B.
func (w *gemmWork[T]) packEach(dst []T) {
	panel, kn := w.micro.panel(), w.i1-w.i0
	for j := w.j0; j < w.j1; j += panel {
		w.packPanel(dst, w.i0, j, kn, min(panel, w.j1-j))
		dst = dst[w.panelStride(kn):]
	}
}

// panelsAtOnce is how many panels are copied side by side: as many streams as the processor
// follows, and as few as the sets of its caches hold.
const panelsAtOnce = 8

// copyPanels copies the whole panels of a region of B, some side by side, row by row. What is
// left is read in place.
func (w *gemmWork[T]) copyPanels(dst []T) {
	panel, stride := w.micro.panel(), w.panelStride(w.i1-w.i0)
	for j := w.j0; j < w.j1; j += panelsAtOnce * panel {
		width := min(panelsAtOnce*panel, w.j1-j)
		for p := w.i0; p < w.i1; p++ {
			row := w.b[p*w.LDB+j:][:width]
			for at := (p - w.i0) * panel; len(row) >= panel; at += stride {
				copy(dst[at:], row[:panel])
				row = row[panel:]
			}
		}
		dst = dst[min(len(dst), panelsAtOnce*stride):]
	}
}

// panelStride is how far packed panels of kn steps of k are apart. Packing may write a
// little beyond a panel, where another goroutine packs the next.
func (b *blocked[T]) panelStride(kn int) int { return kn*b.micro.panel() + tiles.PackSlack }

// panelsSize is how many elements panels of so many columns take, and one panel beyond them,
// which is fetched ahead: pointers must not leave the memory that they point into.
func (b *blocked[T]) panelsSize(kn, width int) int {
	return (kernel.CeilDiv(width, b.micro.panel()) + 1) * b.panelStride(kn)
}
