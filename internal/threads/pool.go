// Package threads holds the one set of persistent workers that loops inside a
// kernel share, whatever the number of sessions.
//
// A parked goroutine takes tens of microseconds to wake, as long as a small
// kernel runs. So a worker that has run out of work looks for more for some
// microseconds before it parks, the caller always takes part and never waits
// for a worker to arrive, and work that is too small is not offered at all.
package threads

import (
	"runtime"
	"sync"
	"time"
)

const (
	// GrainTime is how much work a grain should be: enough that handing it
	// to a worker that is looking for work pays.
	GrainTime = 10 * time.Microsecond
	// wakeChunks of work are worth waking parked workers; for less, only
	// workers that are looking for work already are used.
	wakeChunks = 4
	// maxChunks bounds the number of ranges of one call, so that a careless
	// grain costs little.
	maxChunks = 256
)

// Pool is a user's share of the workers. Its methods may be called from any
// goroutine until Release.
type Pool struct {
	set     *set
	limit   int
	release sync.Once
}

// Acquire returns a share that runs each call on at most limit goroutines, the
// caller among them; 0 means as many as Go runs at a time.
func Acquire(limit int) *Pool { return shared.acquire(limit) }

func (s *set) acquire(limit int) *Pool {
	procs := runtime.GOMAXPROCS(0)
	if limit <= 0 || limit > procs {
		limit = procs
	}
	s.addUser(procs - 1)
	return &Pool{set: s, limit: limit}
}

// Release gives the share back. When the last user has gone all workers have
// ended before Release returns. Calls that come later run on their callers alone.
func (p *Pool) Release() { p.release.Do(p.set.dropUser) }

// Limit is the greatest number of goroutines that work on one call.
func (p *Pool) Limit() int { return p.limit }

// ParallelFor calls f for ranges that together cover [0, n) and returns when
// all calls have returned. The ranges depend on n and grain only and none is
// shorter than grain, unless n is. A grain should be about GrainTime of work.
// A panic in f reaches the caller after the other calls have ended.
func (p *Pool) ParallelFor(n, grain int, f func(lo, hi int)) {
	c := chunks(n, grain)
	if c <= 1 {
		if n > 0 {
			f(0, n)
		}
		return
	}
	j := &job{f: f, n: n, chunks: c, limit: p.limit - 1}
	if j.limit > 0 && p.set.offer(j) {
		p.set.share(j)
		j.wait(&p.set.waits)
		return
	}
	j.inline()
}

// Alone is ParallelFor on the caller alone, with the same ranges.
func (p *Pool) Alone(n, grain int, f func(lo, hi int)) {
	j := job{f: f, n: n, chunks: min(max(1, chunks(n, grain)), max(0, n))}
	j.inline()
}

// ParallelForCost is ParallelFor with the grain that follows from the time of
// one unit in nanoseconds.
func (p *Pool) ParallelForCost(n int, nanos float64, f func(lo, hi int)) {
	p.ParallelFor(n, Grain(nanos), f)
}

// Grain returns how many units of so many nanoseconds make up GrainTime.
func Grain(nanos float64) int {
	if nanos <= 0 {
		nanos = 0.1
	}
	return int(max(1, float64(GrainTime)/nanos))
}

// chunks is the number of ranges of a call.
func chunks(n, grain int) int { return min(n/max(1, grain), maxChunks) }
