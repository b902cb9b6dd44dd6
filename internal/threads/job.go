package threads

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// job is one call of ParallelFor that goroutines take ranges of.
type job struct {
	f         func(lo, hi int)
	n, chunks int
	limit     int // how many workers may help

	slot    int
	helpers atomic.Int32
	taken   atomic.Uint64 // ranges that the caller has taken, and those of workers in the high half
	done    atomic.Int32  // ranges that have ended
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

// The caller takes ranges from the first on, workers from the last on. So one of two
// threads has the front of whatever calls one after the other go through, and finds it in
// its own cache, and the other has the back.
const (
	byCaller = 1
	byWorker = 1 << 32
)

// join reports whether one more worker may help.
func (j *job) join() bool {
	if t := j.taken.Load(); front(t)+back(t) >= j.chunks {
		return false
	}
	if int(j.helpers.Add(1)) > j.limit {
		j.helpers.Add(-1)
		return false
	}
	return true
}

func front(taken uint64) int { return int(uint32(taken)) }

func back(taken uint64) int { return int(taken >> 32) }

// take returns a range that is left, none if there is none.
func (j *job) take(as uint64) (i int, some bool) {
	t := j.taken.Add(as) - as
	if as == byWorker {
		i = j.chunks - 1 - back(t)
	} else {
		i = front(t)
	}
	return i, front(t)+back(t) < j.chunks
}

// help takes ranges, as the caller or as a worker, until none is left.
func (j *job) help(as uint64) {
	for i, some := j.take(as); some; i, some = j.take(as) {
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
func (j *job) wait(p *waits) {
	if !j.look(p.rounds.Load()) {
		began := time.Now()
		j.all.Wait()
		p.parked(time.Since(began))
	}
	j.all.Wait() // for the detector of races: what the workers wrote happened before
	if p := j.failed.Load(); p != nil {
		panic(p.value)
	}
}

// look reports whether all ranges end within so many rounds, in which other goroutines run.
func (j *job) look(rounds int32) bool {
	for ; rounds > 0; rounds-- {
		if int(j.done.Load()) == j.chunks {
			return true
		}
		runtime.Gosched()
	}
	return int(j.done.Load()) == j.chunks
}
