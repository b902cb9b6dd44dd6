package memory

import (
	"runtime"
	"sync/atomic"
	"time"
)

// A Sweeper collects garbage before the heap has doubled, which is when Go does: beside large
// weights that would be as much garbage again. It is asked now and then, and collects when more
// than most bytes have come since the last time, but takes a hundredth of the time at most.
type Sweeper struct {
	most    int64
	floor   atomic.Int64 // the heap after the last collection, or less
	next    atomic.Int64 // nanoseconds since started at which it may collect again
	started time.Time
	measure func() int64
	collect func()
}

const (
	restFactor   = 100 // there is no other collection for so many times as long as one took
	betweenLooks = 5 * time.Millisecond
	never        = 1 << 62
)

// NewSweeper returns a sweeper that leaves most bytes.
func NewSweeper(most int) *Sweeper {
	return &Sweeper{most: int64(most), started: time.Now(), measure: heap, collect: runtime.GC}
}

// Due reports whether it is time to Sweep; the caller that is told so has to.
func (s *Sweeper) Due() bool {
	next, now := s.next.Load(), int64(time.Since(s.started))
	if now < next || !s.next.CompareAndSwap(next, never) {
		return false
	}
	used, floor := s.measure(), s.floor.Load()
	if floor == 0 || used < floor {
		floor = used
		s.floor.Store(used)
	}
	if used-floor > s.most {
		return true
	}
	s.next.Store(now + int64(betweenLooks))
	return false
}

// Sweep collects.
func (s *Sweeper) Sweep() {
	begun := time.Since(s.started)
	s.collect()
	s.floor.Store(s.measure())
	end := time.Since(s.started)
	s.next.Store(int64(end + restFactor*(end-begun)))
}
