//go:build !noasm

package gemm

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/kernel/tiles"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// TestBlocksOfAnySize multiplies in blocks so small that every loop over them
// goes round several times, whatever the caches of this machine. The operands
// are small integers: all results are exact.
func TestBlocksOfAnySize(t *testing.T) {
	for _, l := range kernel.Levels() {
		switch l {
		case kernel.AVX512:
			checkBlocks(t, &microF32AVX512)
			checkBlocks(t, &microF64AVX512)
		case kernel.AVX2:
			checkBlocks(t, &microF32AVX2)
			checkBlocks(t, &microF64AVX2)
		}
	}
}

func checkBlocks[T numeric.Float](t *testing.T, micro *microKernels[T]) {
	t.Helper()
	sizes := blockSizes{n: 2 * micro.panel(), k: 16, cutK: 12, directK: 8, longK: 11, pagesK: 5, directA: 1 << 8}
	sizes.largeB = 1 << 10
	packing := newBlocked(micro, sizes)
	sizes.directA = 1 << 20
	direct := newBlocked(micro, sizes)
	for _, s := range []struct{ m, n, k int }{{90, 200, 50}, {29, 97, 33}, {60, 64, 16}, {15, 20, 100}, {400, 97, 100}, {400, 600, 40}, {70, 1024, 23}, {100, 512, 18}, {64, 300, 3}} {
		for trans := range 4 {
			g := NewGemm(s.m, s.n, s.k, trans&1 != 0, trans&2 != 0)
			x, y := kerneltest.Counting[T](g.M*g.K), kerneltest.Counting[T](g.K*g.N)
			want, got := make([]T, g.M*g.N), make([]T, g.M*g.N)
			gemmNaive(g, want, x, y)
			for _, b := range []*blocked[T]{packing, direct} {
				b.matMul(kerneltest.Backwards, g, got, x, y, Epilogue[T]{})
				if !slices.Equal(got, want) {
					t.Errorf("%+v, %+v: blocks and the naive product differ", g, b.blockSizes)
				}
			}
		}
	}
}

// TestStreamsAreDirect: few rows, computed from whole rows of B, have the bits of panels.
func TestStreamsAreDirect(t *testing.T) {
	for _, l := range kernel.Levels() {
		switch l {
		case kernel.AVX512:
			checkStreams(t, &microF32AVX512)
			checkStreams(t, &microF64AVX512)
		case kernel.AVX2:
			checkStreams(t, &microF32AVX2)
			checkStreams(t, &microF64AVX2)
		}
	}
}

func checkStreams[T numeric.Float](t *testing.T, micro *microKernels[T]) {
	t.Helper()
	b := newBlocked(micro, blocksFor(tiles.Caches{First: 32 << 10, Second: 1 << 20}, 4, micro.panel()))
	for _, s := range []struct{ m, n, k int }{{1, 271, 323}, {1, 4099, 40}, {2, 1000, 270}, {3, 5000, 259}} {
		for _, accumulate := range []bool{false, true} {
			g := NewGemm(s.m, s.n, s.k, false, false)
			g.LDA, g.LDB, g.LDC, g.Accumulate = g.LDA+3, g.LDB+5, g.LDC+7, accumulate
			x, y := kerneltest.Random[T](g.M*g.LDA, 1), kerneltest.Random[T](g.K*g.LDB, 2)
			got := kerneltest.Random[T](g.M*g.LDC, 3)
			want := slices.Clone(got)
			w := gemmWork[T]{blocked: b, Gemm: g, region: region{0, g.M, 0, g.N}, packed: new(packed[T]), c: got, a: x, b: y}
			if !w.streams() {
				t.Errorf("%+v is computed from panels", g)
			}
			w.direct()
			w.c = want
			for w.j0 = 0; w.j0 < g.N; w.j0 = w.j1 {
				w.j1 = min(w.j0+micro.panel(), g.N)
				w.direct()
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v: streams of rows and panels differ", g)
			}
		}
	}
}

// TestSharedStreams: products of few rows have the same bits whether threads share rows of B,
// in any number of pieces, or one computes all from panels.
func TestSharedStreams(t *testing.T) {
	for _, level := range kernel.Levels() {
		switch level {
		case kernel.AVX512:
			checkShared(t, &microF32AVX512)
			checkShared(t, &microF64AVX512)
		case kernel.AVX2:
			checkShared(t, &microF32AVX2)
			checkShared(t, &microF64AVX2)
		}
	}
}

func checkShared[T numeric.Float](t *testing.T, micro *microKernels[T]) {
	t.Helper()
	b := newBlocked(micro, blocksFor(tiles.Caches{First: 32 << 10, Second: 1 << 20}, 4, micro.panel()))
	rng := rand.New(rand.NewPCG(1, 2))
	for range 8 {
		m := 1 + rng.IntN(streamRows)
		g := NewGemm(m, 900+rng.IntN(3000), b.directK+1+150*m*m+rng.IntN(900), false, false)
		g.LDA, g.LDB, g.LDC, g.Accumulate = g.LDA+3, g.LDB+5, g.LDC+7, rng.IntN(2) == 0
		if !b.sharesRows(g) {
			t.Errorf("the rows of B are not shared for %+v", g)
		}
		x, y, bias := kerneltest.Random[T](g.M*g.LDA, 1), kerneltest.Random[T](g.K*g.LDB, 2), kerneltest.Random[T](g.N, 4)
		got := kerneltest.Random[T](g.M*g.LDC, 3)
		want := slices.Clone(got)
		e := Epilogue[T]{Bias: bias, Activate: func(row []T) { elementwise.Abs(row, row) }}
		b.matMul(pieces(1+rng.IntN(4)), g, got, x, y, e)
		w := gemmWork[T]{blocked: b, Gemm: g, region: region{i1: g.M}, packed: new(packed[T]), c: want, a: x, b: y}
		for ; w.j0 < g.N; w.j0 = w.j1 {
			w.j1 = min(w.j0+micro.panel(), g.N)
			w.direct()
		}
		if e.Apply(g, want, 0, g.M, 0, g.N); !slices.Equal(got, want) {
			t.Errorf("%+v: shared rows and panels differ", g)
		}
	}
}

// pieces returns a Par that calls f for ranges of so many, from the last to the first.
func pieces(size int) kernel.Par {
	return func(n, _ int, f func(lo, hi int)) {
		for hi := n; hi > 0; hi -= size {
			f(max(0, hi-size), hi)
		}
	}
}

func TestBlocksFor(t *testing.T) {
	for _, c := range []struct {
		caches tiles.Caches
		size   int
		want   blockSizes
	}{
		{tiles.Caches{First: 48 << 10, Second: 2 << 20}, 4, blockSizes{n: 2048, k: 1024, cutK: 640, directK: 384, longK: 512, pagesK: 256, directA: 256 << 10, largeB: 2 << 20}},
		{tiles.Caches{First: 32 << 10, Second: 1 << 20}, 4, blockSizes{n: 2048, k: 1024, cutK: 1024, directK: 256, longK: 256, pagesK: 128, directA: 128 << 10, largeB: 2 << 20}},
		{tiles.Caches{First: 32 << 10, Second: 256 << 10}, 4, blockSizes{n: 2048, k: 512, cutK: 512, directK: 256, longK: 256, pagesK: 32, directA: 32 << 10, largeB: 2 << 20}},
		{tiles.Caches{First: 48 << 10, Second: 2 << 20}, 8, blockSizes{n: 2048, k: 512, cutK: 320, directK: 192, longK: 256, pagesK: 256, directA: 128 << 10, largeB: 2 << 20}},
	} {
		if got := blocksFor(c.caches, c.size, 32); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.caches, got, c.want)
		}
	}
}

// TestOneRow compares products of one row, whose tiles are wider, with the same row of
// products of two.
func TestOneRow(t *testing.T) {
	for _, l := range kernel.Levels() {
		switch l {
		case kernel.AVX512:
			checkOneRow(t, &microF32AVX512)
			checkOneRow(t, &microF64AVX512)
		case kernel.AVX2:
			checkOneRow(t, &microF32AVX2)
			checkOneRow(t, &microF64AVX2)
		}
	}
}

func checkOneRow[T numeric.Float](t *testing.T, micro *microKernels[T]) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = T(rnd.NormFloat64())
		}
		return x
	}
	b := newBlocked(micro, blockSizes{n: 2 * micro.panel(), k: 16, cutK: 12, directK: 8, longK: 8, pagesK: 8, directA: 1 << 20})
	for n := 1; n <= 2*micro.wide()+3; n++ {
		k, accumulate := 1+rnd.IntN(40), rnd.IntN(2) == 0
		x, y, got := random(k), random(k*n), random(n)
		two, want := NewGemm(2, n, k, false, false), slices.Concat(got, got)
		one := NewGemm(1, n, k, false, false)
		one.Accumulate, two.Accumulate = accumulate, accumulate
		b.matMul(kerneltest.Backwards, two, want, slices.Concat(x, x), y, Epilogue[T]{})
		b.matMul(kerneltest.Backwards, one, got, x, y, Epilogue[T]{})
		if !slices.Equal(got, want[:n]) {
			t.Errorf("%+v: one row and the first of two differ", one)
		}
	}
}

// TestRoomForB: what is packed of B is one panel where one block of A takes it, all of the block's columns
// where more do.
func TestRoomForB(t *testing.T) {
	for _, l := range kernel.Levels() {
		if l != kernel.AVX512 && l != kernel.AVX2 {
			continue
		}
		micro := &microF32AVX2
		if l == kernel.AVX512 {
			micro = &microF32AVX512
		}
		b := newBlocked(micro, blockSizes{n: 512, k: 64, cutK: 48, directK: 8, longK: 8, pagesK: 8, directA: 1 << 8})
		for blocks, want := range map[int]int{1: b.panelStride(64), 2: b.panelsSize(64, 512)} {
			p := &packed[float32]{}
			g := NewGemm(blocks*b.blockRows(64), 512, 64, false, false)
			x, y, c := make([]float32, g.M*g.K), make([]float32, g.K*g.N), make([]float32, g.M*g.N)
			w := &gemmWork[float32]{blocked: b, Gemm: g, region: region{0, g.M, 0, g.N}, packed: p, c: c, a: x, b: y}
			w.withPacking()
			if len(p.b) < want || len(p.b) > want+16 {
				t.Errorf("%v, %d blocks: room for %d elements of B, want %d", l, blocks, len(p.b), want)
			}
		}
	}
}

// TestRowsLeftOver: the sums of the few rows that are left after pieces of C have the order of all
// others, also where rows of B are whole pages apart.
func TestRowsLeftOver(t *testing.T) {
	for _, l := range kernel.Levels() {
		switch l {
		case kernel.AVX512:
			checkRowsLeftOver(t, &microF32AVX512, page/4)
			checkRowsLeftOver(t, &microF64AVX512, page/8)
		case kernel.AVX2:
			checkRowsLeftOver(t, &microF32AVX2, page/4)
			checkRowsLeftOver(t, &microF64AVX2, page/8)
		}
	}
}

func checkRowsLeftOver[T numeric.Float](t *testing.T, micro *microKernels[T], n int) {
	t.Helper()
	b := newBlocked(micro, blocksFor(tiles.Caches{First: 48 << 10, Second: 2 << 20}, page/n, micro.panel()))
	g := NewGemm(taskTiles*micro.tileM+1, n, b.pagesK+50, false, false)
	x, y := kerneltest.Random[T](g.M*g.K, 1), kerneltest.Random[T](g.K*g.N, 2)
	want, got := make([]T, g.M*g.N), make([]T, g.M*g.N)
	b.matMul(kernel.Serial, g, want, x, y, Epilogue[T]{})
	b.matMul(kernel.Serial, g, got, x, y, Epilogue[T]{Activate: func([]T) {}})
	if !slices.Equal(got, want) {
		t.Errorf("%+v: what follows the product changes its bits", g)
	}
}
