package random

import (
	"fmt"
	"math"
	"sync"
	"testing"
)

func TestOpSeeds(t *testing.T) {
	none := (*int64)(nil)
	at := func(v int64) *int64 { return &v }
	name := func(p *int64) string {
		if p == nil {
			return "None"
		}
		return fmt.Sprint(*p)
	}
	for _, graph := range []*int64{none, at(0), at(5), at(-3), at(1<<31 - 1), at(1 << 40)} {
		for _, op := range []*int64{none, at(0), at(9), at(-1), at(1<<31 - 1), at(1<<35 + 1)} {
			var unseeded int64
			for call := range 2 {
				seed, seed2, counts := OpSeeds(graph, op, unseeded)
				if counts {
					unseeded++
				}
				compare(t, []int64{seed, seed2}, want(t, "get_seed graph=%s op=%s call=%d", name(graph), name(op), call))
			}
		}
	}
}

func TestEagerSeeds(t *testing.T) {
	for _, seed := range []int64{0, 1, -1, 1 << 31, 1<<40 + 7} {
		e := NewEagerSeeds(seed)
		got := make([]int64, 700) // more than one state's worth of words
		for i := range got {
			got[i] = e.Next()
		}
		compare(t, got[:5], want(t, "eager set_seed(%d)", seed))
		compare(t, got[695:], want(t, "eager set_seed(%d) from 695", seed))
	}
}

func TestEagerSeedsOfSmallestSeed(t *testing.T) {
	a, b := NewEagerSeeds(math.MinInt64), NewEagerSeeds(0)
	if a.Next() == b.Next() {
		t.Fatal("the most negative seed counts as 0")
	}
}

func TestKeyCounterOfSeed(t *testing.T) {
	for _, s := range statelessSeeds {
		key, counter := FromSeed(s).KeyCounter()
		compare(t, []uint64{key, counter[0], counter[1]}, want(t, "StatelessRandomGetKeyCounter seed=%d,%d", s[0], s[1]))
		if p := FromKeyCounter(key, counter); p != FromSeed(s) {
			t.Fatalf("key and counter lead to %v, not back to %v", p, FromSeed(s))
		}
	}
}

func TestSkipIsManyNexts(t *testing.T) {
	for _, start := range []Philox{New(1, 3), FromKeyCounter(9, [2]uint64{math.MaxUint64 - 3, math.MaxUint64})} {
		stepped := start
		for n := range uint64(10) {
			skipped := start
			skipped.Skip(n)
			if skipped != stepped {
				t.Fatalf("Skip(%d) leads to %v, %d blocks to %v", n, skipped, n, stepped)
			}
			stepped.Next()
		}
	}
}

// TestBlockAgainstLoop computes blocks as the algorithm is defined, round by
// round over arrays.
func TestBlockAgainstLoop(t *testing.T) {
	w := NewWords(New(11, 12))
	for range 1000 {
		lo, hi, key := w.Next64(), w.Next64(), w.Next64()
		var got [4]uint32
		got[0], got[1], got[2], got[3] = block(lo, hi, key)
		if want := loopBlock(lo, hi, key); got != want {
			t.Fatalf("block(%#x, %#x, %#x) = %x, want %x", lo, hi, key, got, want)
		}
	}
}

func loopBlock(lo, hi, key uint64) [4]uint32 {
	c := [4]uint32{uint32(lo), uint32(lo >> 32), uint32(hi), uint32(hi >> 32)}
	k := [2]uint32{uint32(key), uint32(key >> 32)}
	for range 10 {
		p, q := uint64(0xD2511F53)*uint64(c[0]), uint64(0xCD9E8D57)*uint64(c[2])
		c = [4]uint32{uint32(q>>32) ^ c[1] ^ k[0], uint32(q), uint32(p>>32) ^ c[3] ^ k[1], uint32(p)}
		k[0] += 0x9E3779B9
		k[1] += 0xBB67AE85
	}
	return c
}

func TestUnseededGeneratorsDiffer(t *testing.T) {
	if a, b := NewGenerator(0, 0).Reserve(1), NewGenerator(0, 0).Reserve(1); a == b {
		t.Fatalf("two generators without seeds begin at the same place %v", a)
	}
	if a, b := NewGenerator(0, 1).Reserve(1), NewGenerator(0, 1).Reserve(1); a != b {
		t.Fatalf("equal seeds begin at %v and %v", a, b)
	}
}

// TestReserveIsExclusive lets goroutines reserve; together they must get every
// stretch exactly once.
func TestReserveIsExclusive(t *testing.T) {
	const goroutines, runs, n = 8, 100, 5
	g := NewGenerator(1, 3)
	var mu sync.Mutex
	taken := map[Philox]bool{}
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range runs {
				p := g.Reserve(n)
				mu.Lock()
				taken[p] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	p := New(1, 3)
	for i := range goroutines * runs {
		if !taken[p] {
			t.Fatalf("nobody got run %d", i)
		}
		p.Skip(256 * n)
	}
	if len(taken) != goroutines*runs || g.Reserve(0) != p || g.Reserve(0) != p {
		t.Fatalf("%d stretches taken, want %d, and empty runs take nothing", len(taken), goroutines*runs)
	}
}

func TestWordsBelowIsInRange(t *testing.T) {
	w := NewWords(New(1, 3))
	for _, n := range []uint64{1, 2, 3, 64, 100, 1 << 40, 1<<63 + 1, math.MaxUint64} {
		for range 50 {
			if v := w.Below(n); v >= n {
				t.Fatalf("Below(%d) = %d", n, v)
			}
		}
	}
}
