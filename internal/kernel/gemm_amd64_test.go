//go:build !noasm

package kernel

import (
	"slices"
	"testing"
)

// TestBlocksOfAnySize multiplies in blocks so small that every loop over them
// goes round several times, whatever the caches of this machine. The operands
// are small integers: all results are exact.
func TestBlocksOfAnySize(t *testing.T) {
	for _, l := range Levels() {
		switch l {
		case AVX512:
			checkBlocks(t, &microF32AVX512)
			checkBlocks(t, &microF64AVX512)
		case AVX2:
			checkBlocks(t, &microF32AVX2)
			checkBlocks(t, &microF64AVX2)
		}
	}
}

func checkBlocks[T Float](t *testing.T, micro *microKernels[T]) {
	t.Helper()
	sizes := blockSizes{m: 2 * micro.tileM, n: 2 * micro.panel(), k: 16, directK: 8, directA: 1 << 10}
	b := newBlocked(micro, sizes)
	for _, s := range []struct{ m, n, k int }{{90, 200, 50}, {29, 97, 33}, {60, 64, 16}, {15, 20, 100}} {
		for trans := range 4 {
			g := NewGemm(s.m, s.n, s.k, trans&1 != 0, trans&2 != 0)
			x, y := counting[T](g.M*g.K), counting[T](g.K*g.N)
			want, got := make([]T, g.M*g.N), make([]T, g.M*g.N)
			gemmNaive(g, want, x, y)
			b.matMul(backwards, g, got, x, y, Epilogue[T]{})
			if !slices.Equal(got, want) {
				t.Errorf("%+v: blocks and the naive product differ", g)
			}
		}
	}
}

func TestBlocksFor(t *testing.T) {
	for _, c := range []struct {
		caches caches
		size   int
		want   blockSizes
	}{
		{caches{first: 48 << 10, second: 2 << 20}, 4, blockSizes{m: 252, n: 2048, k: 1024, directK: 384, directA: 256 << 10}},
		{caches{first: 32 << 10, second: 1 << 20}, 4, blockSizes{m: 126, n: 2048, k: 1024, directK: 256, directA: 128 << 10}},
		{caches{first: 32 << 10, second: 256 << 10}, 4, blockSizes{m: 56, n: 2048, k: 512, directK: 256, directA: 32 << 10}},
		{caches{first: 48 << 10, second: 2 << 20}, 8, blockSizes{m: 252, n: 2048, k: 512, directK: 192, directA: 128 << 10}},
	} {
		if got := blocksFor(c.caches, c.size, 14, 32); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.caches, got, c.want)
		}
	}
}

func TestDataCaches(t *testing.T) {
	c := dataCaches()
	if c.first < 8<<10 || c.first > 1<<20 || c.second < c.first || c.second > 64<<20 {
		t.Errorf("caches of %+v bytes", c)
	}
}

func TestPackers(t *testing.T) {
	const k, lds, ldd = 37, 50, 16
	for n := 1; n <= 16; n++ {
		src := random[float32](lds*k, 1)
		for name, p := range map[string]packer[float32]{"portable": portablePacker[float32](), "avx512": packerAVX512} {
			if name == "avx512" && Levels()[0] != AVX512 {
				continue
			}
			rows, cols := make([]float32, (k+16)*ldd), make([]float32, (k+16)*ldd)
			p.rows(n, k, src, lds, rows, ldd)
			p.cols(n, k, src, lds, cols, ldd)
			for i := range k {
				for j := range n {
					if rows[i*ldd+j] != src[j*lds+i] || cols[i*ldd+j] != src[i*lds+j] {
						t.Fatalf("%s: %d rows or columns, element %d,%d", name, n, i, j)
					}
				}
			}
		}
	}
}
