package memory

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/invariants"
)

// Pool recycles buffers by size class. A buffer's header is recycled with its
// memory, so Get allocates nothing in steady state. Under the race detector
// every Get is a fresh allocation: recycling would hide races and
// synchronize goroutines that are not.
//
// A Pool is safe for concurrent use. A pool that is itself no longer
// referenced is collected with its idle memory.
type Pool struct {
	limit   int64
	idle    atomic.Int64
	classes [numClasses]class
}

// class is the free list of one size. It fills cache lines of its own, so that
// neighbours do not contend.
type class struct {
	pool *Pool
	size int

	mu     sync.Mutex
	free   []*Buffer // last in, first out: the warmest memory goes first
	hits   uint64
	misses uint64
	_      [64]byte
}

// PoolStats is a snapshot of what a pool did and holds.
type PoolStats struct {
	Hits      uint64 // Gets served from a free list
	Misses    uint64 // Gets that allocated
	IdleBytes int64  // memory on the free lists
	Idle      int    // buffers on the free lists
}

// NewPool returns a pool that keeps at most limit bytes idle; what is released
// beyond that goes to the garbage collector.
func NewPool(limit int64) *Pool {
	p := &Pool{limit: limit}
	for i := range p.classes {
		p.classes[i].pool = p
		p.classes[i].size = classSize(i)
	}
	return p
}

// Get returns n bytes with arbitrary contents.
func (p *Pool) Get(n int) *Buffer {
	checkSize(n)
	i := classIndex(n)
	if i >= numClasses {
		return New(n)
	}
	c := &p.classes[i]
	b := c.pop()
	if b == nil {
		b = &Buffer{ptr: allocate(c.size), home: c}
		if invariants.Enabled {
			poison(c.block(b)) // nobody may rely on zeros
		}
	}
	b.n = n
	b.state.Store(oneRef)
	return b
}

// Trim gives all idle memory to the garbage collector.
func (p *Pool) Trim() {
	for i := range p.classes {
		p.classes[i].trim()
	}
}

// Stats returns the pool's counters. They are exact when no other goroutine
// uses the pool.
func (p *Pool) Stats() PoolStats {
	s := PoolStats{IdleBytes: p.idle.Load()}
	for i := range p.classes {
		c := &p.classes[i]
		c.mu.Lock()
		s.Hits += c.hits
		s.Misses += c.misses
		s.Idle += len(c.free)
		c.mu.Unlock()
	}
	return s
}

// pop takes a buffer off the free list, nil when there is none.
func (c *class) pop() *Buffer {
	c.mu.Lock()
	last := len(c.free) - 1
	if last < 0 {
		c.misses++
		c.mu.Unlock()
		return nil
	}
	b := c.free[last]
	c.free[last] = nil
	c.free = c.free[:last]
	c.hits++
	c.mu.Unlock()
	c.pool.idle.Add(-int64(c.size))
	return b
}

func (c *class) release(b *Buffer) {
	if b.Escaped() {
		return
	}
	if invariants.Enabled {
		b = c.retire(b)
	}
	if !invariants.Race && c.reserve() {
		c.push(b)
	}
}

// retire poisons the memory and moves it under a new header, so that every
// use of the old one is caught.
func (c *class) retire(b *Buffer) *Buffer {
	poison(c.block(b))
	return &Buffer{ptr: b.ptr, home: c}
}

// reserve counts one more idle block unless that exceeds the limit.
func (c *class) reserve() bool {
	size := int64(c.size)
	if c.pool.idle.Add(size) <= c.pool.limit {
		return true
	}
	c.pool.idle.Add(-size)
	return false
}

func (c *class) push(b *Buffer) {
	c.mu.Lock()
	c.free = append(c.free, b)
	c.mu.Unlock()
}

func (c *class) trim() {
	c.mu.Lock()
	n := len(c.free)
	c.free = nil
	c.mu.Unlock()
	c.pool.idle.Add(-int64(n) * int64(c.size))
}

// block is the whole memory behind b, which may be more than b shows.
func (c *class) block(b *Buffer) []byte {
	return unsafe.Slice((*byte)(b.ptr), c.size)
}
