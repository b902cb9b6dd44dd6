//go:build amd64 && !noasm

package gemm

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
)

// streamGrain bytes of B are worth a task where rows of B are read as they follow each other.
const streamGrain = 256 << 10

// sharesRows reports whether threads share the rows of B and not its columns: C has few
// rows, each thread reads one stretch of memory, and the sums over k are cut into blocks
// anyway. Stripes of columns would arrive at half of the speed.
func (b *blocked[T]) sharesRows(g Gemm) bool {
	return g.M <= streamRows && !g.TransA && !g.TransB && g.K > b.directK &&
		g.N >= 4*b.micro.panel() && b.bytesOfB(g) >= max(2*streamGrain, streamLeast*g.M*g.M)
}

func (b *blocked[T]) bytesOfB(g Gemm) int {
	var t T
	return g.K * g.N * int(unsafe.Sizeof(t))
}

// streamShared computes C from blocks of rows of B: their sums side by side, which are
// then added up in order. So the bits are those of stream.
func (b *blocked[T]) streamShared(par kernel.Par, g Gemm, c, x, y []T, e Epilogue[T]) {
	kc, end := tiles.EqualBlocks(g.K, b.directK), g.N/b.micro.lanes*b.micro.lanes
	blocks, size := kernel.CeilDiv(g.K, kc), g.M*end
	p := b.scratch.Get().(*packed[T])
	defer b.scratch.Put(p)
	w := &gemmWork[T]{blocked: b, Gemm: g, region: region{0, g.M, 0, g.N}, packed: p, c: c, a: x, b: y}
	p.c = tiles.GrowAligned(p.c, blocks*size)
	sums := p.c
	par(blocks, max(1, streamGrain*blocks/b.bytesOfB(g)), func(lo, hi int) {
		clear(sums[lo*size : hi*size])
		for i := lo; i < hi; i++ {
			w.sumBlock(sums[i*size:], i*kc, min(kc, g.K-i*kc), end)
		}
	})
	defer kernel.FlushSubnormals().Restore()
	for i := range blocks {
		w.putBlock(sums[i*size:], i*kc, end)
	}
	w.j0 = end
	w.direct()
	e.Apply(g, c, 0, g.M, 0, g.N)
}

// streamColumns is the number of columns that are computed at a time.
func (w *gemmWork[T]) streamColumns() int {
	return streamBytes / int(unsafe.Sizeof(w.b[0])) / (w.i1 - w.i0) / w.micro.lanes * w.micro.lanes
}

// sumBlock adds up kn rows of B from p on. The sums of some columns of all rows follow
// those of the columns before.
func (w *gemmWork[T]) sumBlock(sums []T, p, kn, end int) {
	for j, most := 0, w.streamColumns(); j < end; j += most {
		w.addRows(sums[j*w.M:], p, kn, j, min(most, end-j))
	}
}

// putBlock stores what sumBlock made from row p on, or adds it to C.
func (w *gemmWork[T]) putBlock(sums []T, p, end int) {
	for j, most := 0, w.streamColumns(); j < end; j += most {
		w.putSums(sums[j*w.M:], p, j, min(most, end-j))
	}
}
