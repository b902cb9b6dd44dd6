//go:build amd64 && !noasm

package conv

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// tilesOf convolves by tiles, with points that are kept if kept is not nil.
func tilesOf(b *winograd, d squareData, kept *KeptFilters) []float32 {
	return tilesHolding(b, d, kept, func() any { return d.w })
}

// tilesHolding is tilesOf that holds filters by what hold returns.
func tilesHolding(b *winograd, d squareData, kept *KeptFilters, hold func() any) []float32 {
	v, y := *d.Conv, make([]float32, len(d.dy))
	if v.Kept = kept; kept != nil {
		kept.Use(unsafe.Pointer(&d.w[0]), hold)
	}
	b.convolveTiles(kerneltest.Backwards, &v, y, d.x, d.w, gemm.Epilogue[float32]{})
	return y
}

// TestKeptFilters: two convolutions with the same filters and other images, many times and at once, give the
// bits that they give without; so does one that hands in other filters than before.
func TestKeptFilters(t *testing.T) {
	eachWinograd(t, func(t *testing.T, b *winograd) {
		rng := rand.New(rand.NewPCG(21, 22))
		for range 20 {
			one := randomSquare(rng).dataOf(func() float32 { return float32(rng.NormFloat64()) })
			two, other := one, one
			two.x, other.w = slices.Clone(one.x), slices.Clone(one.w)
			rng.Shuffle(len(two.x), func(i, j int) { two.x[i], two.x[j] = two.x[j], two.x[i] })
			rng.Shuffle(len(other.w), func(i, j int) { other.w[i], other.w[j] = other.w[j], other.w[i] })
			var kept, second KeptFilters
			testKept(t, b, []*KeptFilters{&kept, &kept, &second}, []squareData{one, two, one})
			if kept.points.Load() == nil || second.points.Load() == nil {
				t.Errorf("%+v: nothing is kept", *one.Conv)
			}
			testKept(t, b, []*KeptFilters{&kept, &kept, &second}, []squareData{other, one, two})
		}
	})
}

// TestFewTilesInColumns: a small image's outputs are computed some at a time unless points are kept, which gives the
// same bits.
func TestFewTilesInColumns(t *testing.T) {
	eachWinograd(t, func(t *testing.T, b *winograd) {
		rng := rand.New(rand.NewPCG(25, 26))
		v := squareConv(1, 5, 7, 130, 150, 3, 1, 1)
		if got := b.newTiling(v).columns; got >= v.OutC {
			t.Fatalf("all %d outputs of %d are computed at once", got, v.OutC)
		}
		d := v.dataOf(func() float32 { return float32(rng.NormFloat64()) })
		if !slices.Equal(tilesOf(b, d, nil), tilesOf(b, d, new(KeptFilters))) {
			t.Error("some outputs at a time have other bits than all at once")
		}
	})
}

// TestKeptFiltersChange: a variable's filters change in place until they are held, and move to memory that has had
// other filters from then on. Whatever the order, convolutions see those that there are, and hold them rarely if they
// change often.
func TestKeptFiltersChange(t *testing.T) {
	eachWinograd(t, func(t *testing.T, b *winograd) {
		rng := rand.New(rand.NewPCG(27, 28))
		for range 10 {
			d := randomSquare(rng).dataOf(func() float32 { return float32(rng.NormFloat64()) })
			v := variable{rng: rng, memory: [][]float32{d.w}, held: map[*float32]bool{}}
			var kept KeptFilters
			for range 300 {
				if rng.IntN(1+rng.IntN(60)) == 0 {
					d.w = v.assign(d.w)
				}
				hold := func() any { v.held[&d.w[0]] = true; return d.w }
				if !slices.Equal(tilesHolding(b, d, &kept, hold), tilesOf(b, d, nil)) {
					t.Fatalf("%+v: filters that have changed are those of before", *d.Conv)
				}
			}
			if n := len(v.held); n > 300/usesUntilKept {
				t.Errorf("%d memories are held", n)
			}
		}
	})
}

// variable has memory for its values, of which some are held.
type variable struct {
	rng    *rand.Rand
	memory [][]float32
	held   map[*float32]bool
}

// assign returns memory with a new value: that of the value w, if it is not held, or other memory.
func (v *variable) assign(w []float32) []float32 {
	if v.held[&w[0]] {
		w = v.memory[v.rng.IntN(len(v.memory))]
	}
	if v.held[&w[0]] {
		w = make([]float32, len(w))
		v.memory = append(v.memory, w)
	}
	for i := range w {
		w[i] = float32(v.rng.NormFloat64())
	}
	return w
}

// testKept runs each convolution several times beside the others.
func testKept(t *testing.T, b *winograd, kept []*KeptFilters, data []squareData) {
	var all sync.WaitGroup
	for i, d := range data {
		want := tilesOf(b, d, nil)
		all.Go(func() {
			for range 2 * usesUntilKept {
				if got := tilesOf(b, d, kept[i]); !slices.Equal(got, want) {
					t.Errorf("%+v: other bits with points that are kept", *d.Conv)
				}
			}
		})
	}
	all.Wait()
}

// TestKeptFiltersShared: kernels with the same filters have points in common, those of other shapes have their own,
// and they go with the last kernel.
func TestKeptFiltersShared(t *testing.T) {
	eachWinograd(t, func(t *testing.T, b *winograd) {
		rng := rand.New(rand.NewPCG(23, 24))
		d := squareConv(1, 8, 8, 6, 4, 3, 1, 1).dataOf(rng.Float32)
		turned := squareConv(1, 8, 8, 4, 6, 3, 1, 1).dataOf(rng.Float32)
		turned.w = d.w
		kept := make([]*KeptFilters, 3)
		for i, d := range []squareData{d, d, turned} {
			kept[i] = new(KeptFilters)
			for range usesUntilKept {
				tilesOf(b, d, kept[i])
			}
		}
		first, other := kept[0].points.Load(), kept[2].points.Load()
		if first == nil || kept[1].points.Load() != first || other == nil || other == first {
			t.Errorf("points of equal filters are %p and %p, of others %p", first, kept[1].points.Load(), other)
		}
		want := slices.Clone(d.w)
		rng.Shuffle(len(d.w), func(i, j int) { d.w[i], d.w[j] = d.w[j], d.w[i] }) // as if they were others at the same address
		plain := tilesOf(b, d, nil)
		fresh := new(KeptFilters)
		for range 2 * usesUntilKept {
			if !slices.Equal(tilesOf(b, d, fresh), plain) {
				t.Fatal("other filters at the same address have the points of those before")
			}
		}
		copy(d.w, want)
		first, other, fresh = nil, nil, nil
		clear(kept)
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			runtime.GC()
			b.shares.Lock()
			n := len(b.shares.of)
			b.shares.Unlock()
			if n == 0 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d points are left that no kernel has", n)
			}
		}
	})
}
