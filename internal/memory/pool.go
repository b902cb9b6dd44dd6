package memory

import (
	"sync/atomic"

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
	limit    int64
	reserved atomic.Int64 // bytes that the classes may keep idle, at most limit
	classes  [numClasses]class
}

// PoolStats is a snapshot of what a pool did and holds.
type PoolStats struct {
	Misses    uint64 // Gets that allocated
	Idle      int    // buffers that wait for a Get
	IdleBytes int64  // their memory
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

// Trim gives all idle memory to the garbage collector. It also lets size
// classes of which little is needed now cede their share of the limit.
func (p *Pool) Trim() {
	for i := range p.classes {
		p.classes[i].trim()
	}
}

// Stats returns the pool's counters. They are exact when no other goroutine
// uses the pool.
func (p *Pool) Stats() PoolStats {
	var s PoolStats
	for i := range p.classes {
		c := &p.classes[i]
		idle, misses := c.stats()
		s.Misses += misses
		s.Idle += idle
		s.IdleBytes += int64(idle) * int64(c.size)
	}
	return s
}

// reserve lets a class keep n bytes more unless that exceeds the limit.
func (p *Pool) reserve(n int64) bool {
	if p.reserved.Add(n) <= p.limit {
		return true
	}
	p.reserved.Add(-n)
	return false
}
