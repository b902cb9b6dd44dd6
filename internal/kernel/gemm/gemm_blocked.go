//go:build amd64 && !noasm

package gemm

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// blocked multiplies with micro-kernels, in blocks that fit the caches as the
// BLIS project describes: blocks of A lie packed in the second-level cache,
// panels of B stream past them, tiles of C stay in registers.
//
// Each element of C is the sum over k in order within a block of k, and of
// these blocks in order. So the way rows and columns are cut changes no bit.
type blocked[T numeric.Float] struct {
	micro *microKernels[T]
	blockSizes
	scratch sync.Pool // of *packed[T]
}

// blockSizes are how many columns of B and steps of k are taken at a time.
type blockSizes struct {
	n, k int
	// cutK is how many steps of k are taken where there are more than k, and sums are cut anyway.
	cutK int
	// directK is k where B is not packed: rows far apart fill the first-level
	// cache sooner.
	directK int
	// longK is the same where rows of B are spread over all sets of the second-level cache. The panel
	// need not fit the first-level cache then: the second delivers it in time, and longer sums load
	// and store C less often.
	longK int
	// pagesK is the same where rows of B are whole pages apart. They are of as few sets of the
	// second-level cache as a way of it has pages: half of these sets' lines.
	pagesK int
	// directA is the largest A, in elements, that is not packed, and the largest block of A.
	directA int
	// largeB is how many elements B has from which on tasks share what is packed of it though it
	// is not transposed: its rows come from memory, each from another page.
	largeB int
}

// page is how many bytes a page of memory has at least.
const page = 4096

// blocksFor chooses blocks for elements of so many bytes: a packed block of A
// fills half of the second-level cache, with k as long as a panel of B still
// streams from there.
func blocksFor(c tiles.Caches, size, panel int) blockSizes {
	s := blockSizes{k: 4096 / size, n: 2048, directK: c.First / (panel * size), directA: c.Second / 2 / size, pagesK: c.Second / page / 2, largeB: 2 << 20}
	s.longK = max(s.directK, c.Second/32/(panel*size))
	if c.Second < 1<<20 {
		s.k /= 2
	}
	if s.cutK = s.k; c.Second >= 2<<20 { // measured on Sapphire Rapids
		s.cutK = 2560 / size
	}
	return s
}

// packed holds the packed parts of A and B.
type packed[T numeric.Float] struct{ a, b, c []T } // c: a region of C that is not kept

func newBlocked[T numeric.Float](micro *microKernels[T], s blockSizes) *blocked[T] {
	return &blocked[T]{micro: micro, blockSizes: s, scratch: sync.Pool{New: func() any { return new(packed[T]) }}}
}

// matMul shares the blocks of C between threads.
func (b *blocked[T]) matMul(par kernel.Par, g Gemm, c, x, y []T, e Epilogue[T]) {
	if b.sharesRows(g) {
		b.streamShared(kernel.Flushing(par), g, c, x, y, e)
		return
	}
	direct := b.readsDirectly(g)
	t := b.tasks(g, direct, 1)
	if t.rows*t.cols == 1 {
		b.whole(g, direct, c, x, y, e)
		return
	}
	plain := par
	par = kernel.Flushing(par)
	switch {
	case !direct && b.sharesPanels(g, t):
		b.panelsShared(par, g, t, c, x, y, &e)
		return
	case !direct && t.cols == 1 && t.rows >= sharedTasks:
		b.claimed(par, g, t, c, x, y, &e)
		return
	}
	done := e.Done
	if t.cols > 1 { // stretches would be parts of rows, which are short
		e.Done = nil
	}
	b.regions(par, t, func(p *packed[T], r region) {
		w := &gemmWork[T]{blocked: b, Gemm: g, region: r, packed: p, c: c, a: x, b: y}
		switch {
		case e.empty():
			w.compute(direct)
		case direct:
			w.directThen(&e)
		default:
			w.then = &e
			w.withPacking()
		}
	})
	if done != nil && e.Done == nil {
		plain(g.M*g.N, kernel.ElementGrain, done)
	}
}

// whole computes C as one region, without the closures of tasks, which cost as much as a
// small product.
func (b *blocked[T]) whole(g Gemm, direct bool, c, x, y []T, e Epilogue[T]) {
	if g.operations() >= kernel.FlushLeast {
		defer kernel.FlushSubnormals().Restore()
	}
	p := b.scratch.Get().(*packed[T])
	w := gemmWork[T]{blocked: b, Gemm: g, region: region{0, g.M, 0, g.N}, packed: p, c: c, a: x, b: y}
	w.compute(direct)
	b.scratch.Put(p)
	e.Apply(g, c, 0, g.M, 0, g.N)
}

// addAll adds products of one kind to the blocks of C, which stay in a thread's cache
// meanwhile.
func (b *blocked[T]) addAll(par kernel.Par, g Gemm, c []T, x, y [][]T) {
	direct := b.readsDirectly(g)
	b.regions(flushing(par, g), b.tasks(g, direct, len(x)), func(p *packed[T], r region) {
		w := &gemmWork[T]{blocked: b, Gemm: g, region: r, packed: p, c: c}
		for i := range x {
			w.a, w.b = x[i], y[i]
			w.compute(direct)
		}
	})
}

// hasParts reports whether parts computes products like g: A is packed, or might be as well, and
// the sums over k are not cut.
func (b *blocked[T]) hasParts(g Gemm) bool {
	return (b.turns(g) || !b.readsDirectly(g)) && b.inOneBlock(g) && g.K <= b.packedSteps(g)
}

// parts computes C block by block, each in memory that the next one takes, too.
func (b *blocked[T]) parts(par kernel.Par, g Gemm, x, y []T, worker func() func(at int, part []T)) {
	t := b.tasks(g, false, 1)
	par = flushing(par, g)
	if b.sharesPanels(g, t) {
		b.partsShared(par, g, t, x, y, worker)
		return
	}
	b.regions(par, t, func(p *packed[T], r region) {
		w := &gemmWork[T]{blocked: b, Gemm: g, region: r, packed: p, a: x, b: y}
		w.inParts(worker())
	})
}

// regions calls f for all regions of C.
func (b *blocked[T]) regions(par kernel.Par, t gemmTasks, f func(*packed[T], region)) {
	t.share(par, func(lo, hi int) {
		p := b.scratch.Get().(*packed[T])
		defer b.scratch.Put(p)
		t.ranges(lo, hi, func(r region) { f(p, r) })
	})
}

// readsDirectly reports whether A is better read where it is: it is small
// enough to stay in the second-level cache or too few columns of B would repay
// packing it, and its rows do not all fall into the same cache sets, or those of
// B are near enough to each other to be fetched from wherever they lie.
func (b *blocked[T]) readsDirectly(g Gemm) bool {
	if g.TransA {
		return b.turns(g)
	}
	if g.M < b.micro.tileM {
		return true
	}
	const smallA, smallB, fewPanels, cacheSets, wideC = 32 << 10, 128 << 10, 4, 1024, 4096
	sizeA, sizeB := g.M*g.K, g.K*g.N
	if sizeA <= smallA && sizeB <= smallB {
		return true
	}
	if g.LDC > wideC {
		return false
	}
	if sizeA <= b.directA && !g.TransB && b.bytesApart(g) <= page {
		return true
	}
	return g.LDA%cacheSets != 0 && (sizeA <= b.directA && sizeB <= 2*b.directA || g.N <= fewPanels*b.micro.panel())
}

// turnedBytes is the largest distance between columns of a transposed A that are read in place.
// Tiles beside each other share cache lines of a column, which have to stay cached that long.
const turnedBytes = 1 << 10

// turns reports whether a transposed A is read in place. Its columns are short, so that packing them
// would take a large part of the time of the product.
func (b *blocked[T]) turns(g Gemm) bool {
	var t T
	if !g.TransA || g.TransB || g.N%b.micro.panel() != 0 || g.LDA*int(unsafe.Sizeof(t)) > turnedBytes || b.bytesApart(g) > page {
		return false
	}
	// Between these, parts needs one block of k, which only packing has.
	return g.K <= b.directSteps(g) || g.K > b.k
}

// inOneBlock reports whether the sums over k are not cut into blocks.
func (b *blocked[T]) inOneBlock(g Gemm) bool {
	if b.readsDirectly(g) {
		return g.K <= b.directSteps(g)
	}
	return g.K <= b.packedSteps(g)
}

// region is a part of C.
type region struct{ i0, i1, j0, j1 int }

// gemmTasks cuts C into a grid.
type gemmTasks struct {
	m, n       int
	rows, cols int // of the grid
	panel      int
	flops      int
}

const (
	// taskFlops are worth a task: some 10 µs.
	taskFlops = 1 << 20
	// taskTiles is the number of tiles a task's rows make up, where there are
	// enough rows: what is packed of B is used as often.
	taskTiles = 9
	// taskCount is how many tasks there should be for threads to share well.
	taskCount = 8
	// threadTasks is how many tasks each thread should find at most where rows are shared:
	// each packs its panels of B anew.
	threadTasks = 4
	// taskRanges are enough for threads to be woken.
	taskRanges = 4
	// longTask flops, some 40 µs, are worth waking a thread for.
	longTask = 4 << 20
)

// tasks cuts C, of a number of products, by rows first; by columns if that leaves too
// few tasks.
func (b *blocked[T]) tasks(g Gemm, direct bool, products int) gemmTasks {
	t := gemmTasks{m: g.M, n: g.N, panel: b.micro.panel(), flops: g.operations() * products}
	most := max(1, t.flops/taskFlops)
	t.rows = min(kernel.CeilDiv(g.M, taskTiles*b.micro.tileM), most, max(taskCount, threadTasks*runtime.GOMAXPROCS(0)))
	minPanels := 8 // per task; packing A has to pay
	switch {
	case direct && g.TransA:
		minPanels = 1
	case direct:
		minPanels = 4
	}
	t.cols = min(kernel.CeilDiv(taskCount, t.rows), kernel.CeilDiv(g.N, minPanels*t.panel), max(1, most/t.rows))
	return t
}

// share runs f for all tasks. Threads are woken for a few ranges only where each
// is short; so a few long tasks count as several of which all but one have
// nothing to do.
func (t gemmTasks) share(par kernel.Par, f func(lo, hi int)) {
	n := t.rows * t.cols
	if n == 1 || n >= taskRanges || t.flops/n < longTask {
		par(n, 1, f)
		return
	}
	par(n*taskRanges, 1, func(lo, hi int) {
		if lo, hi = kernel.CeilDiv(lo, taskRanges), kernel.CeilDiv(hi, taskRanges); lo < hi {
			f(lo, hi)
		}
	})
}

// ranges calls f for the tasks [lo, hi), neighbours in one column joined, and in one row
// where that is all rows.
func (t gemmTasks) ranges(lo, hi int, f func(region)) {
	panels := kernel.CeilDiv(t.n, t.panel)
	if t.rows == 1 && lo < hi {
		f(region{i1: t.m, j0: lo * panels / t.cols * t.panel, j1: min(t.n, hi*panels/t.cols*t.panel)})
		return
	}
	for lo < hi {
		col := lo / t.rows
		end := min(hi, (col+1)*t.rows)
		f(region{
			i0: lo % t.rows * t.m / t.rows, i1: (end - col*t.rows) * t.m / t.rows,
			j0: col * panels / t.cols * t.panel, j1: min(t.n, (col+1)*panels/t.cols*t.panel),
		})
		lo = end
	}
}

// directSteps is how many steps of k are taken at a time where A is not packed. B is read in place, or
// packed if it is transposed. Rows of B that are whole pages apart fall into as few sets of the
// second-level cache as its ways have pages; rows half a page apart fall into twice as many.
func (b *blocked[T]) directSteps(g Gemm) int {
	switch apart := b.bytesApart(g); {
	case g.M <= streamRows: // as stream does
		return b.directK
	case g.TransB || apart%(page/2) != 0:
		return b.longK
	case apart%page != 0:
		return b.directK
	}
	return min(b.directK, b.pagesK)
}

// Rows of B that are whole pages apart conflict in the second-level cache, and lose lines that were
// fetched ahead. With fewer than fewRows rows of A that costs more than loading and storing C once
// more, so that k is cut after pagesSteps steps.
const fewRows, pagesSteps = 256, 256

// packedSteps is how many steps of k are taken at a time where A is packed.
func (b *blocked[T]) packedSteps(g Gemm) int {
	switch {
	case g.M < fewRows && !g.TransB && b.bytesApart(g)%page == 0:
		return tiles.EqualBlocks(g.K, min(b.k, pagesSteps))
	case g.K <= b.k:
		return g.K
	}
	return tiles.EqualBlocks(g.K, b.cutK)
}

// bytesApart is how far rows of B are apart.
func (b *blocked[T]) bytesApart(g Gemm) int {
	var t T
	return g.LDB * int(unsafe.Sizeof(t))
}
