package memory

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
)

// newArena returns an arena that is closed when the test ends.
func newArena(t *testing.T, size int) *Arena {
	t.Helper()
	a, err := NewArena(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func TestArenaRefusesBadSizes(t *testing.T) {
	for _, n := range []int{0, -5} {
		if _, err := NewArena(n); err == nil || !strings.Contains(err.Error(), "positive size") {
			t.Errorf("NewArena(%d): error %v", n, err)
		}
	}
	if _, err := NewArena(1 << 60); err == nil {
		t.Error("an arena larger than every machine was mapped")
	}
}

func TestArenaBuffersKnowTheirPlace(t *testing.T) {
	a := newArena(t, 1<<16)
	a.Region().Key = "registered"
	first, _ := a.Get(100)
	second, _ := a.Get(10)
	for _, b := range []*Buffer{first, second, second.Sub(4, 3)} {
		r, off := b.Region()
		if r != a.Region() || r.Key != "registered" {
			t.Fatalf("region %v, want the arena's", r)
		}
		if &r.Base[off] != &b.Bytes()[0] {
			t.Fatalf("offset %d does not lead to the buffer's bytes", off)
		}
	}
	if !first.Aligned(Alignment) || !second.Aligned(Alignment) {
		t.Fatal("arena buffers are not aligned")
	}
	first.Unref()
	s := second.Sub(0, 1)
	second.Unref()
	s.Unref()
	second.Unref() // the part made in the loop still holds second
}

func TestArenaRunsOutAndRecovers(t *testing.T) {
	a := newArena(t, 4*Alignment)
	var held []*Buffer
	for range 4 {
		b, ok := a.Get(1)
		if !ok {
			t.Fatalf("no room after %d of 4 buffers", len(held))
		}
		held = append(held, b)
	}
	if _, ok := a.Get(0); ok {
		t.Fatal("a full arena gave a buffer")
	}
	for _, i := range []int{2, 0, 3, 1} {
		held[i].Unref()
	}
	whole, ok := a.Get(4 * Alignment)
	if !ok {
		t.Fatal("freed neighbours were not joined")
	}
	whole.Unref()
}

func TestArenaCloseRefusesWhileLive(t *testing.T) {
	a := newArena(t, 1<<12)
	b, _ := a.Get(8)
	if err := a.Close(); err == nil || !strings.Contains(err.Error(), "it has 1") {
		t.Fatalf("Close with a live buffer: %v", err)
	}
	b.Bytes()[0] = 1
	b.Unref()
	for range 2 {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := a.Get(8); ok {
		t.Fatal("a closed arena gave a buffer")
	}
}

func TestArenaEscapedStaysMapped(t *testing.T) {
	a, err := NewArena(1 << 12)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := a.Get(8)
	mem := b.Bytes()
	b.Escape()
	b.Unref()
	if err := a.Close(); err == nil {
		t.Fatal("closed under user code that knows the memory")
	}
	mem[0] = 1
	if other, ok := a.Get(8); !ok || &other.Bytes()[0] == &mem[0] {
		t.Fatal("escaped memory was handed out again")
	}
}

func TestArenaDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newArena(t, 1<<12)
		b, _ := a.Get(8)
		done := make(chan error)
		go func() { done <- a.Drain(t.Context()) }()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("Drain returned %v with a live buffer", err)
		default:
		}
		b.Unref()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}

func TestArenaDrainStopsWithContext(t *testing.T) {
	a := newArena(t, 1<<12)
	b, _ := a.Get(8)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Drain(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("Drain returned %v", err)
	}
	b.Unref()
	if err := a.Drain(ctx); err != nil {
		t.Fatalf("nothing to wait for, but %v", err)
	}
}

// TestArenaAgainstMap drives the allocator at random beside a map of the
// owner of each stretch.
func TestArenaAgainstMap(t *testing.T) {
	const blocks = 64
	a := newArena(t, blocks*Alignment)
	owner := make([]*Buffer, blocks)
	var held []*Buffer
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		if rng.IntN(2) == 0 && len(held) > 0 {
			i := rng.IntN(len(held))
			setOwner(t, owner, held[i], held[i], nil)
			held[i].Unref()
			held[i] = held[len(held)-1]
			held = held[:len(held)-1]
			continue
		}
		n := rng.IntN(8 * Alignment)
		b, ok := a.Get(n)
		if ok {
			setOwner(t, owner, b, nil, b)
			held = append(held, b)
		} else if largestHole(owner) >= spanLen(n) {
			t.Fatalf("no room for %d bytes although %d lie free together", n, largestHole(owner))
		}
	}
	for _, b := range held {
		b.Unref()
	}
}

// setOwner hands the blocks under b from one owner to another.
func setOwner(t *testing.T, owner []*Buffer, b, from, to *Buffer) {
	t.Helper()
	_, off := b.Region()
	for i := off / Alignment; i < (off+spanLen(b.Len()))/Alignment; i++ {
		if owner[i] != from {
			t.Fatalf("block %d belongs to two buffers", i)
		}
		owner[i] = to
	}
}

// largestHole is the longest run of free bytes.
func largestHole(owner []*Buffer) int {
	best, run := 0, 0
	for _, o := range owner {
		if run++; o != nil {
			run = 0
		}
		best = max(best, run)
	}
	return best * Alignment
}
