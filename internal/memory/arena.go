package memory

import (
	"context"
	"fmt"
	"sync"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/invariants"
)

// Region is a contiguous block of memory that a transport may have registered.
type Region struct {
	// Base is the whole block.
	Base []byte
	// Key is what the registration returned. The code that registers the region
	// sets it before the first buffer is taken from it.
	Key any
}

// Arena is one mapped region with buffers inside it, so that registering the
// region once makes every buffer reachable for a network card. An Arena is
// safe for concurrent use.
type Arena struct {
	region Region

	mu      sync.Mutex
	spans   spans
	live    int
	closed  bool
	drained chan struct{} // closed when live falls to zero; nil when nothing waits for that
}

// NewArena maps size bytes, rounded up to a multiple of [Alignment].
func NewArena(size int) (*Arena, error) {
	if size <= 0 {
		return nil, fmt.Errorf("memory: an arena needs a positive size, got %d", size)
	}
	checkSize(size)
	if err := process.take(int64(roundUp(size))); err != nil {
		return nil, fmt.Errorf("memory: cannot map an arena of %d bytes: %w", size, err)
	}
	base, err := mapMemory(roundUp(size))
	process.mapped.Add(int64(len(base))) // before it is pending no more: a measurement must not miss it
	process.allocated(int64(roundUp(size)))
	if err != nil {
		return nil, fmt.Errorf("memory: cannot map an arena of %d bytes: %w", size, err)
	}
	a := &Arena{region: Region{Base: base}}
	a.spans.give(0, len(base))
	return a, nil
}

// Region is the arena's memory.
func (a *Arena) Region() *Region { return &a.region }

// Get returns n bytes of the arena with arbitrary contents, false when it has
// no room or is closed. A buffer of an arena that escapes stays live for ever,
// because nothing tells when user code is done with it.
func (a *Arena) Get(n int) (*Buffer, bool) {
	checkSize(n)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, false
	}
	off, ok := a.spans.take(spanLen(n))
	if !ok {
		return nil, false
	}
	a.live++
	b := &Buffer{ptr: unsafe.Pointer(&a.region.Base[off]), n: n, owner: a}
	b.state.Store(oneRef)
	return b, true
}

// spanLen is how much of the arena a buffer of n bytes takes: even an empty
// one has an address of its own.
func spanLen(n int) int { return roundUp(max(n, 1)) }

func (a *Arena) release(b *Buffer) {
	if b.Escaped() {
		return
	}
	off, n := a.offset(b.ptr), spanLen(b.n)
	if invariants.Enabled {
		poison(a.region.Base[off:][:n])
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.spans.give(off, n)
	a.live--
	if a.live == 0 && a.drained != nil {
		close(a.drained)
		a.drained = nil
	}
}

// offset is where p lies in the region.
func (a *Arena) offset(p unsafe.Pointer) int {
	return int(uintptr(p) - uintptr(unsafe.Pointer(unsafe.SliceData(a.region.Base))))
}

// Drain waits until no buffer is live.
func (a *Arena) Drain(ctx context.Context) error {
	for {
		wait := a.waitDrained()
		if wait == nil {
			return nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// waitDrained returns a channel that is closed when the last live buffer goes,
// nil when there is none now.
func (a *Arena) waitDrained() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.live == 0 {
		return nil
	}
	if a.drained == nil {
		a.drained = make(chan struct{})
	}
	return a.drained
}

// Close unmaps the memory. It refuses while buffers are live. A second Close
// does nothing.
func (a *Arena) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	if a.live > 0 {
		return fmt.Errorf("memory: cannot close an arena with live buffers, it has %d", a.live)
	}
	if err := unmapMemory(a.region.Base); err != nil {
		return fmt.Errorf("memory: cannot unmap an arena: %w", err)
	}
	process.mapped.Add(-int64(len(a.region.Base)))
	a.closed = true
	a.region.Base = nil
	return nil
}

// Region returns the region that b lies in and its offset there, nil and zero
// for memory outside every arena.
func (b *Buffer) Region() (*Region, int) {
	switch h := b.owner.(type) {
	case *Arena:
		return &h.region, h.offset(b.ptr)
	case part:
		r, off := h.whole.Region()
		if r == nil {
			return nil, 0
		}
		return r, off + int(uintptr(b.ptr)-uintptr(h.whole.ptr))
	}
	return nil, 0
}
