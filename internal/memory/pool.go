package memory

import "sync/atomic"

// Pool recycles buffers by size class. A buffer's header is recycled with its
// memory, so Get allocates nothing in steady state. Under the race detector
// every Get is a fresh allocation: recycling would hide races and
// synchronize goroutines that are not.
//
// What was idle for a while is given up, so that a burst of large steps leaves
// nothing behind; see [Pool.Close] for the end of that.
//
// A Pool is safe for concurrent use. A pool that is itself no longer
// referenced is collected with its idle memory.
type Pool struct {
	limit    atomic.Int64
	account  *account     // nil: no account
	reserved atomic.Int64 // bytes that the classes may keep idle, at most limit
	thrifty  atomic.Bool  // larger blocks serve as well
	ager     ager
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
func NewPool(limit int64) *Pool { return newPool(limit, nil) }

// NewSessionPool is NewPool for a session, to whose account the memory counts
// that it has from the pool. The name is what reports call it.
func NewSessionPool(limit int64, name string) *Pool { return newPool(limit, newAccount(name)) }

func newPool(limit int64, a *account) *Pool {
	p := &Pool{account: a}
	p.limit.Store(limit)
	for i := range p.classes {
		p.classes[i].pool = p
		p.classes[i].size = classSize(i)
	}
	enlist(p)
	return p
}

// Get returns n bytes with arbitrary contents. It panics with [*Exhausted] if
// they are not to be had.
func (p *Pool) Get(n int) *Buffer { return must(p.GetFor(0, n)) }

// GetFor is Get that counts the memory to a step, 0 for none, and returns the
// error.
func (p *Pool) GetFor(step int64, n int) (*Buffer, error) {
	checkSize(n)
	i := classIndex(n)
	if i >= numClasses {
		return p.NewFor(step, n)
	}
	c, b := p.idle(i)
	if b == nil || b.claim != nil {
		var err error
		if b, err = c.claimed(b, p.holder(step, c.size)); err != nil {
			return nil, err
		}
	}
	b.n = n
	b.state.Store(oneRef)
	return b, nil
}

// idle returns an idle buffer of class i, or of one of the next if they are fine: tensors
// whose sizes vary a little share blocks. It returns class i and nil if there is none.
func (p *Pool) idle(i int) (*class, *Buffer) {
	if b := p.classes[i].pop(); b != nil {
		return &p.classes[i], b
	}
	for k := i + 1; k < p.enough(i); k++ {
		if c := &p.classes[k]; c.open.Load() {
			if b := c.pop(); b != nil {
				return c, b
			}
		}
	}
	return &p.classes[i], nil
}

// enough returns the class behind those whose blocks are not too large for class i.
func (p *Pool) enough(i int) int {
	switch {
	case i >= leastShared && p.thrifty.Load():
		return min(classIndex(classSize(i)*thriftMost/thriftLeast)+1, numClasses)
	case i >= firstFine:
		return min(i+fineSteps/steps, numClasses)
	}
	return i
}

// A thrifty pool serves memory of more than 64 KiB from blocks of up to 5/2 of its class.
// To look for less would take longer than it saves; much larger blocks would be
// missing when a step asks for the whole of one.
const (
	leastShared = (16-minShift)*steps + 1
	thriftMost  = 5
	thriftLeast = 2
)

// Save makes the pool thrifty: where it would allocate, it gives an idle block of up to
// two and a half times the size. What steps compute one after another then shares few blocks,
// instead of having those of each size. [Buffer.IsPiece] tells such blocks: their memory
// is no memory to be kept for long.
func (p *Pool) Save() { p.thrifty.Store(true) }

// NewFor is [TryNew] that counts the memory to a step of the pool's session.
func (p *Pool) NewFor(step int64, n int) (*Buffer, error) { return newBuffer(n, p.holder(step, n)) }

// holder returns the holder of a block of n bytes; nil if it does not count.
func (p *Pool) holder(step int64, n int) *holder {
	if n < large {
		return nil
	}
	return p.account.of(step)
}

// InUse returns the bytes that the pool's session holds in blocks that are counted one by
// one, its variables included; 0 if there is no session.
func (p *Pool) InUse() int64 {
	if p == nil || p.account == nil {
		return 0
	}
	return p.account.used.Load()
}

// Passing returns how much more a step has held, since this was last asked for, than it does
// now, in blocks that are counted one by one: what kernels have needed for a while.
func (p *Pool) Passing(step int64) int64 {
	if p == nil {
		return 0
	}
	return p.account.passing(step)
}

// EndStep says that a step is over and returns the most that it has held at once, in
// blocks that are counted one by one. What it still holds is the session's.
func (p *Pool) EndStep(step int64) (peak int64) {
	if p == nil {
		return 0
	}
	return p.account.endStep(step)
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

// Extend lets the pool keep n bytes more idle, for memory that is needed in turn with
// other memory of that size.
func (p *Pool) Extend(n int64) { p.limit.Add(n) }

// reserve lets a class keep n bytes more unless that exceeds the limit.
func (p *Pool) reserve(n int64) bool {
	if p.reserved.Add(n) <= p.limit.Load() {
		return true
	}
	p.reserved.Add(-n)
	return false
}
