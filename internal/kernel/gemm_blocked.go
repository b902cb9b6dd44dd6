package kernel

import "sync"

// blocked multiplies with micro-kernels, in blocks that fit the caches as the
// BLIS project describes: blocks of A lie packed in the second-level cache,
// panels of B stream past them, tiles of C stay in registers.
//
// Each element of C is the sum over k in order within a block of k, and of
// these blocks in order. So the way rows and columns are cut changes no bit.
type blocked[T Float] struct {
	micro *microKernels[T]
	blockSizes
	scratch sync.Pool // of *packed[T]
}

// blockSizes are how many rows of A, columns of B and steps of k are packed at
// a time.
type blockSizes struct{ m, n, k int }

// packed holds the packed parts of A and B.
type packed[T Float] struct{ a, b []T }

func newBlocked[T Float](micro *microKernels[T], s blockSizes) *blocked[T] {
	return &blocked[T]{micro: micro, blockSizes: s, scratch: sync.Pool{New: func() any { return new(packed[T]) }}}
}

// matMul shares the blocks of C between threads.
func (b *blocked[T]) matMul(par Par, g Gemm, c, x, y []T, e Epilogue[T]) {
	direct := b.readsDirectly(g)
	t := b.tasks(g, direct)
	par(t.rows*t.cols, 1, func(lo, hi int) {
		p := b.scratch.Get().(*packed[T])
		defer b.scratch.Put(p)
		t.ranges(lo, hi, func(r region) {
			w := &gemmWork[T]{blocked: b, Gemm: g, region: r, packed: p, c: c, a: x, b: y}
			if direct {
				w.direct()
			} else {
				w.withPacking()
			}
			e.apply(g, c, r.i0, r.i1, r.j0, r.j1)
		})
	})
}

// readsDirectly reports whether A is better read where it is: it is small enough to
// stay in the caches, and its rows do not all fall into the same cache sets.
func (b *blocked[T]) readsDirectly(g Gemm) bool {
	if g.TransA {
		return false
	}
	if g.M < b.micro.tileM {
		return true
	}
	const smallA, directA, smallB, directB = 32 << 10, 112 << 10, 128 << 10, 512 << 10
	sizeA, sizeB := g.M*g.K, g.K*g.N
	return sizeA <= smallA && sizeB <= smallB ||
		sizeA <= directA && sizeB <= directB && g.LDA%1024 != 0 && g.LDC <= 4096
}

// region is a part of C.
type region struct{ i0, i1, j0, j1 int }

// gemmTasks cuts C into a grid.
type gemmTasks struct {
	m, n       int
	rows, cols int // of the grid
	panel      int
}

const (
	// taskFlops are worth a task: some 20 µs.
	taskFlops = 2 << 20
	// taskTiles is the number of tiles a task's rows make up, where there are
	// enough rows: what is packed of B is used as often.
	taskTiles = 9
	// taskCount is how many tasks there should be for threads to share well.
	taskCount = 8
)

// tasks cuts by rows first; by columns if that leaves too few tasks.
func (b *blocked[T]) tasks(g Gemm, direct bool) gemmTasks {
	most := max(1, 2*g.M*g.N*g.K/taskFlops)
	t := gemmTasks{m: g.M, n: g.N, panel: b.micro.panel()}
	t.rows = min(ceilDiv(g.M, taskTiles*b.micro.tileM), most)
	minPanels := 8 // per task; packing A has to pay
	if direct {
		minPanels = 4
	}
	t.cols = min(ceilDiv(taskCount, t.rows), ceilDiv(g.N, minPanels*t.panel), max(1, most/t.rows))
	return t
}

// ranges calls f for the tasks [lo, hi), neighbours in one column joined.
func (t gemmTasks) ranges(lo, hi int, f func(region)) {
	panels := ceilDiv(t.n, t.panel)
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

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// kBlock is the number of steps of k at a time for a product over k of them:
// equal blocks, for all parts of one product.
func (s blockSizes) kBlock(k int) int {
	blocks := ceilDiv(k, s.k)
	if blocks <= 1 {
		return k
	}
	return (ceilDiv(k, blocks) + 15) &^ 15
}
