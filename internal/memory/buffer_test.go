package memory

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/invariants"
)

func start(b *Buffer) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b.Bytes()))) }

// mustPanic checks that f panics with a message that contains want.
func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		r := recover()
		if r == nil {
			t.Fatalf("no panic, want one about %q", want)
		}
		if s, ok := r.(string); !ok || !strings.Contains(s, want) {
			t.Fatalf("panic %v, want one about %q", r, want)
		}
	}()
	f()
}

func TestNewIsZeroedAndAligned(t *testing.T) {
	for _, n := range []int{0, 1, 7, 15, 16, 63, 64, 65, 100, 130, 1000, 4097, 32769, 1 << 20} {
		b := New(n)
		if b.Len() != n || len(b.Bytes()) != n || cap(b.Bytes()) != n {
			t.Errorf("New(%d): Len %d, len %d, cap %d", n, b.Len(), len(b.Bytes()), cap(b.Bytes()))
		}
		if start(b)%Alignment != 0 {
			t.Errorf("New(%d) starts at %#x, not a multiple of %d", n, start(b), Alignment)
		}
		if !bytes.Equal(b.Bytes(), make([]byte, n)) {
			t.Errorf("New(%d) is not zeroed", n)
		}
		if !b.Sole() || b.Escaped() {
			t.Errorf("New(%d): Sole %v, Escaped %v, want true, false", n, b.Sole(), b.Escaped())
		}
	}
}

func TestNewRefusesImpossibleSizes(t *testing.T) {
	for _, n := range []int{-1, int(^uint(0) >> 1)} {
		mustPanic(t, "a buffer cannot have", func() { New(n) })
		mustPanic(t, "a buffer cannot have", func() { NewPool(0).Get(n) })
		mustPanic(t, "a buffer cannot have", func() { NewOpaque("FAKE", nil, n) })
	}
}

func TestSoleFollowsReferences(t *testing.T) {
	b := New(8)
	if b.Ref() != b {
		t.Fatal("Ref does not return its buffer")
	}
	if b.Sole() {
		t.Fatal("Sole with two references")
	}
	b.Unref()
	if !b.Sole() {
		t.Fatal("not Sole after the second reference went")
	}
	b.Escape()
	if b.Sole() {
		t.Fatal("Sole although user code knows the memory")
	}
}

func TestUnrefWithoutReferencePanics(t *testing.T) {
	for name, b := range map[string]*Buffer{
		"new":     New(8),
		"wrapped": Wrap(make([]byte, 8), nil),
		"opaque":  NewOpaque("FAKE", nil, 8),
	} {
		t.Run(name, func(t *testing.T) {
			b.Unref()
			mustPanic(t, "without references", b.Unref)
		})
	}
}

func TestUseAfterReleasePanics(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("only checked with the tag invariants or under the race detector")
	}
	pool := NewPool(1 << 20)
	arena := newArena(t, 1<<16)
	fromArena, _ := arena.Get(8)
	for name, b := range map[string]*Buffer{"new": New(8), "pooled": pool.Get(8), "arena": fromArena} {
		t.Run(name, func(t *testing.T) {
			b.Unref()
			mustPanic(t, "released", func() { b.Bytes() })
			mustPanic(t, "released", func() { Slice[int32](b) })
			mustPanic(t, "released", func() { b.Ref() })
		})
	}
}

func TestEscapedMemoryOutlivesItsReferences(t *testing.T) {
	b := NewPool(1 << 20).Get(4)
	copy(b.Bytes(), "keep")
	b.Escape()
	b.Escape()
	b.Unref()
	if got := string(b.Bytes()); got != "keep" {
		t.Fatalf("escaped memory reads %q after the last Unref, want it unchanged", got)
	}
}

func TestConcurrentRefUnrefEscape(t *testing.T) {
	released := 0
	b := Adopt(make([]byte, 64), func() { released++ })
	var wg sync.WaitGroup
	for range 8 {
		b.Ref()
		wg.Go(func() {
			for range 1000 {
				b.Ref().Unref()
			}
			b.Unref()
		})
	}
	wg.Wait()
	if !b.Sole() || released != 0 {
		t.Fatalf("Sole %v, released %d times, want true and 0", b.Sole(), released)
	}
	b.Unref()
	if released != 1 {
		t.Fatalf("released %d times, want 1", released)
	}
}

func TestConcurrentEscape(t *testing.T) {
	p := NewPool(1 << 20)
	for range 100 {
		b := p.Get(64)
		var wg sync.WaitGroup
		for range 4 {
			b.Ref()
			wg.Go(func() {
				b.Escape()
				b.Unref()
			})
		}
		b.Unref()
		wg.Wait()
	}
	if s := p.Stats(); s.Idle != 0 || s.Misses != 100 {
		t.Fatalf("%d escaped buffers went back to the pool, %d were reused", s.Idle, 100-s.Misses)
	}
}

func TestHeaderFitsItsSizeClass(t *testing.T) {
	if s := unsafe.Sizeof(Buffer{}); s > 48 {
		t.Fatalf("Buffer has %d bytes, more than Go's size class of 48", s)
	}
}
