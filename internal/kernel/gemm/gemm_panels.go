//go:build amd64 && !noasm

package gemm

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
)

// sharedTasks is the number of tasks from which on it pays to pack B once for all of them.
const sharedTasks = 3

// sharesPanels reports whether tasks take the same panels of B, packed once for all of them,
// instead of packing them each on its own. B has to be transposed: its rows are copied before
// they are multiplied with. Other panels are packed by the tile that multiplies with them
// first, which costs less than a copy.
func (b *blocked[T]) sharesPanels(g Gemm, t gemmTasks) bool {
	return g.TransB && t.cols == 1 && t.rows >= sharedTasks
}

// panelsShared computes C by tasks of rows. Before them all threads pack the columns of B
// and the steps of k that are next. The sums over k are cut as withPacking cuts them, so
// that the bits are equal.
func (b *blocked[T]) panelsShared(par kernel.Par, g Gemm, t gemmTasks, c, x, y []T, e *Epilogue[T]) {
	kc, width := tiles.EqualBlocks(g.K, b.k), min(b.n, g.N)
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
		w := &gemmWork[T]{blocked: b, Gemm: g, b: y}
		for q := lo; q < hi; q++ {
			j := r.j0 + q*panel
			w.packPanel(all.b[q*b.panelStride(kn):], r.i0, j, kn, min(panel, r.j1-j))
		}
	})
}

// panelStride is how far packed panels of kn steps of k are apart. Packing may write a
// little beyond a panel, where another goroutine packs the next.
func (b *blocked[T]) panelStride(kn int) int { return kn*b.micro.panel() + tiles.PackSlack }

// panelsSize is how many elements panels of so many columns take, and one beyond them,
// whose address is read ahead.
func (b *blocked[T]) panelsSize(kn, width int) int {
	return kernel.CeilDiv(width, b.micro.panel())*b.panelStride(kn) + 1
}
