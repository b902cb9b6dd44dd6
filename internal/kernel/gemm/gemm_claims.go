//go:build amd64 && !noasm

package gemm

import (
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/kernel"
)

// claims gives out blocks of rows of A, one at a time. Each goroutine takes blocks until none
// is left, and so packs B once, however many blocks it gets. The bits do not depend on who
// computes a block.
type claims struct {
	blocks int
	taken  atomic.Uint64 // blocks taken from the front, and from the back in the high half
}

const (
	fromFront = 1
	fromBack  = 1 << 32
)

// next claims a block, from the front or from the back. It reports false once all are claimed.
func (c *claims) next(from uint64) (i int, ok bool) {
	t := c.taken.Add(from) - from
	front, back := int(uint32(t)), int(t>>32)
	if i = front; from == fromBack {
		i = c.blocks - 1 - back
	}
	return i, front+back < c.blocks
}

// side is where the task that begins with lo of n takes its blocks from: threads have the front
// or the back of all loops, as they find it in their caches.
func side(lo, n int) uint64 {
	if 2*lo < n {
		return fromFront
	}
	return fromBack
}

// claimed computes C block of rows by block of rows. The sums over k are cut as withPacking
// cuts them.
func (b *blocked[T]) claimed(par kernel.Par, g Gemm, t gemmTasks, c, x, y []T, e *Epilogue[T]) {
	kc := b.packedSteps(g)
	blocks := t.rows * kernel.CeilDiv(kernel.CeilDiv(g.M, t.rows), b.blockRows(kc)) // as many for each task
	for j := 0; j < g.N; j += b.n {
		for p := 0; p < g.K; p += kc {
			all := &claims{blocks: blocks}
			t.share(par, func(lo, _ int) {
				own := b.scratch.Get().(*packed[T])
				defer b.scratch.Put(own)
				w := &gemmWork[T]{blocked: b, Gemm: g, region: region{0, g.M, 0, g.N}, packed: own, c: c, a: x, b: y}
				if !e.empty() {
					w.then = e
				}
				w.takeBlocks(all, side(lo, t.rows), p, min(kc, g.K-p), j, min(b.n, g.N-j))
			})
		}
	}
}

// takeBlocks multiplies the blocks of A that it can have with columns [j, j+nn) of B. The first
// one packs B.
func (w *gemmWork[T]) takeBlocks(all *claims, from uint64, p, kn, j, nn int) {
	first := true
	for q, ok := all.next(from); ok; q, ok = all.next(from) {
		if first {
			w.roomForA(kn)
			w.roomForB(kn, nn, kernel.CeilDiv(w.M, all.blocks))
		}
		w.oneBlock(q*w.M/all.blocks, (q+1)*w.M/all.blocks, p, kn, j, nn, first)
		first = false
	}
}
