package memory

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"
)

// interval is for how long a block must have been idle for a pool to give it up, which looks so often.
const interval = 30 * time.Second

// untouched is the length of the block in a slot that is there since the last look: a Get sets another.
const untouched = -1

// An ager has a pool give up what it keeps of a burst. It looks at intervals, and gives up as many
// blocks of each class as were idle all the time since the look before: steps that come again and
// again find what they use. It looks only while blocks are kept.
type ager struct {
	armed  atomic.Bool // a look is to come
	closed atomic.Bool // the pool keeps nothing any more
	looks  sync.WaitGroup

	mu    sync.Mutex
	timer *time.Timer // of the next look
}

// arm has the pool looked at after an interval. The timer does not hold the pool, which may be dropped
// without a Close.
func (p *Pool) arm() {
	a := &p.ager
	if a.armed.Load() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed.Load() || a.armed.Load() {
		return
	}
	a.armed.Store(true)
	a.looks.Add(1)
	w := weak.Make(p)
	a.timer = time.AfterFunc(interval, func() {
		if p := w.Value(); p != nil {
			p.look()
		}
	})
}

// look ages the pool, and again after an interval if it may then have something to give up. A block
// that comes meanwhile finds the pool not armed: none is forgotten.
func (p *Pool) look() {
	defer p.ager.looks.Done()
	p.ager.armed.Store(false)
	if p.age() {
		p.arm()
	}
}

// age gives up what has been idle since the last call, to the system at once where it is large. It
// reports whether blocks are kept, or have been since.
func (p *Pool) age() (more bool) {
	for i := range p.classes {
		c := &p.classes[i]
		idle, kept := c.age()
		for _, b := range idle {
			if c.size >= large {
				vacate(b.ptr, c.size)
			}
		}
		more = more || kept
	}
	return more
}

// Close gives up all idle memory and keeps none any more. It waits for a look that is under way. Buffers
// may still be released, and had.
func (p *Pool) Close() {
	a := &p.ager
	a.mu.Lock()
	a.closed.Store(true)
	if a.timer != nil && a.timer.Stop() {
		a.looks.Done()
	}
	a.mu.Unlock()
	a.looks.Wait()
	p.Trim()
}

// age takes the blocks that were idle since the last call: those at the bottom of the list, down to
// which it never was, and that in the slot if it was never taken: as many as the least number of idle
// blocks, or one less if that in the slot was taken while the list was longer than before. It reports whether the class keeps
// blocks, or has kept some since the last call. One that keeps none is closed, so that the next one that
// it keeps arms the pool; what it has reserved it cedes when none has come for a whole interval.
func (c *class) age() (idle []*Buffer, kept bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.slot.Swap(nil)
	idle = append(idle, c.list[:c.low]...)
	c.list = slices.Delete(c.list, 0, c.low)
	if b != nil && b.n == untouched {
		idle, b = append(idle, b), c.last() // the list may be as long as what is reserved without a slot
	}
	c.cede(len(idle))
	if b != nil {
		b.n = untouched
		c.putBack(b)
	}
	c.low = len(c.list)
	kept = c.open.Load() || c.idle() > 0
	switch {
	case !kept:
		c.cede(c.room)
	case c.idle() == 0:
		c.open.Store(false)
	}
	return idle, kept
}

// putBack is keep of a block that has its place. c.mu is held.
func (c *class) putBack(b *Buffer) {
	if !c.fillSlot(b) {
		c.keep(b)
	}
}

// cede gives the reservation of n blocks back.
func (c *class) cede(n int) {
	c.room -= n
	c.pool.reserved.Add(-int64(n) * int64(c.size))
}
