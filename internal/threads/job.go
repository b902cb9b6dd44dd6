package threads

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// job is one call of ParallelFor that goroutines take ranges of.
type job struct {
	f         func(lo, hi int)
	n, chunks int
	limit     int // how many workers may help

	slot    int
	helpers atomic.Int32
	next    atomic.Int32 // the next range to take
	done    atomic.Int32 // ranges that have ended
	all     sync.WaitGroup
	failed  atomic.Pointer[failure] // the first panic
}

// failure keeps a panic's value, which may be nil's stand-in or anything.
type failure struct{ value any }

// bound returns where range i begins.
func (j *job) bound(i int) int { return int(int64(i) * int64(j.n) / int64(j.chunks)) }

// inline runs all ranges on the caller, cut as they would be for many.
func (j *job) inline() {
	for i := range j.chunks {
		j.f(j.bound(i), j.bound(i+1))
	}
}

// join reports whether one more worker may help.
func (j *job) join() bool {
	if int(j.next.Load()) >= j.chunks {
		return false
	}
	if int(j.helpers.Add(1)) > j.limit {
		j.helpers.Add(-1)
		return false
	}
	return true
}

// help takes ranges until none is left.
func (j *job) help() {
	for {
		i := int(j.next.Add(1)) - 1
		if i >= j.chunks {
			return
		}
		j.run(i)
	}
}

// run runs a range, or leaves it out once one has failed.
func (j *job) run(i int) {
	defer j.finish()
	if j.failed.Load() == nil {
		j.f(j.bound(i), j.bound(i+1))
	}
}

// finish counts a range as ended, however it ended.
func (j *job) finish() {
	if v := recover(); v != nil {
		j.failed.CompareAndSwap(nil, &failure{v})
	}
	j.done.Add(1)
	j.all.Done()
}

// wait returns when all ranges have ended: soon, as a rule, since none is
// left to take. It passes on the first panic.
func (j *job) wait() {
	for range leastRounds {
		if int(j.done.Load()) == j.chunks {
			break
		}
		runtime.Gosched()
	}
	j.all.Wait()
	if p := j.failed.Load(); p != nil {
		panic(p.value)
	}
}
