package memory

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/invariants"
)

// class keeps the idle buffers of one size: one in a slot, which costs a
// single atomic operation to fill or empty and serves the common case of an op
// that frees what the next one needs; the others on a list behind a lock.
//
// A class reserves its share of the pool's limit the first time it keeps a
// buffer and holds it while the buffer is in use, so that the steady state
// does not touch what all classes share.
type class struct {
	pool *Pool
	size int
	slot atomic.Pointer[Buffer]
	open atomic.Bool // the slot may be filled: a block is reserved for it, and the pool is armed

	mu     sync.Mutex
	list   []*Buffer // last in, first out: the warmest memory goes first
	low    int       // its least length since the last look
	room   int       // blocks reserved, the slot's included
	misses uint64
	_      [64]byte // neighbours do not share cache lines
}

// pop takes an idle buffer, nil when there is none.
func (c *class) pop() *Buffer {
	if b := c.slot.Swap(nil); b != nil {
		return b
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.last(); b != nil {
		return b
	}
	return c.slot.Swap(nil) // which a look had taken for a moment
}

// last takes the last buffer of the list, nil when there is none. c.mu is held.
func (c *class) last() *Buffer {
	last := len(c.list) - 1
	if last < 0 {
		return nil
	}
	b := c.list[last]
	c.list[last] = nil
	c.list = c.list[:last]
	c.low = min(c.low, last)
	return b
}

func (c *class) missed() {
	c.mu.Lock()
	c.misses++
	c.mu.Unlock()
}

// claimed returns b, which was idle, as h's, or a new buffer if b is nil.
func (c *class) claimed(b *Buffer, h *holder) (*Buffer, error) {
	if b != nil {
		if err := h.charge(int64(c.size)); err != nil {
			b.n = 0 // it is untouched no more
			c.push(b)
			return nil, err
		}
		b.claim.hold(h)
		return b, nil
	}
	ptr, claim, err := block(c.size, h, allocateDirty)
	if err != nil {
		return nil, err
	}
	c.missed()
	b = &Buffer{ptr: ptr, owner: c, claim: claim}
	if invariants.Enabled {
		poison(c.block(b)) // callers must not rely on zeros
	}
	return b, nil
}

func (c *class) release(b *Buffer) {
	if b.Escaped() {
		return
	}
	if invariants.Enabled {
		b = c.retire(b)
	}
	if !invariants.Race && !c.fillSlot(b) {
		c.push(b)
	}
}

// retire poisons the memory and moves it under a new header, so that every
// use of the old one is caught.
func (c *class) retire(b *Buffer) *Buffer {
	poison(c.block(b))
	return &Buffer{ptr: b.ptr, owner: c, claim: b.claim}
}

func (c *class) fillSlot(b *Buffer) bool {
	return c.open.Load() && c.slot.Load() == nil && c.slot.CompareAndSwap(nil, b)
}

// push keeps b if the pool's limit allows it, and has the pool looked at.
func (c *class) push(b *Buffer) {
	c.mu.Lock()
	c.keep(b)
	c.mu.Unlock()
	c.pool.arm()
}

// keep keeps b, in the slot or on the list, if the pool's limit allows it. A slot that is open counts as
// full: others fill it at any time. c.mu is held.
func (c *class) keep(b *Buffer) {
	taken := len(c.list)
	if c.open.Load() || c.slot.Load() != nil {
		taken++
	}
	if taken >= c.room && !c.grow() {
		return
	}
	c.open.Store(true)
	if !c.fillSlot(b) {
		c.list = append(c.list, b)
	}
}

// grow reserves one block more.
func (c *class) grow() bool {
	if c.pool.ager.closed.Load() || !c.pool.reserve(int64(c.size)) {
		return false
	}
	c.room++
	return true
}

// trim drops the idle buffers and the reservation. A release at the same
// moment may still fill the slot, which the next trim empties.
func (c *class) trim() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open.Store(false)
	c.slot.Store(nil)
	c.list, c.low = nil, 0
	c.cede(c.room)
}

// stats returns how many buffers are idle and how many Gets found none.
func (c *class) stats() (idle int, misses uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.idle(), c.misses
}

// idle returns how many buffers are idle. c.mu is held.
func (c *class) idle() int {
	if c.slot.Load() != nil {
		return len(c.list) + 1
	}
	return len(c.list)
}

// block is the whole memory behind b, which may be more than b shows.
func (c *class) block(b *Buffer) []byte {
	return unsafe.Slice((*byte)(b.ptr), c.size)
}
