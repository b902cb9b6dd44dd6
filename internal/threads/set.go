package threads

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// spinLooks is how often it looks before it lets other goroutines run.
	spinLooks = 10
	// spinPause is how often it pauses between two looks.
	spinPause = 2
	// refusals is how many small jobs are not offered before a worker is woken for those to come.
	refusals = 8
	// slots is how many calls can be shared out at a time; further callers
	// work alone.
	slots = 16
	// idleTime is how long a parked worker waits before it ends. Starting one
	// costs what waking one does, so it is short: eager computations leave
	// nothing behind that a leak detector would still find.
	idleTime = 50 * time.Millisecond
)

// set is a set of workers and the jobs offered to them.
type set struct {
	jobs     [slots]atomic.Pointer[job]
	offered  atomic.Uint64 // counts offers, so that a worker notices one
	spinning atomic.Int32  // workers that look for work
	refused  atomic.Int32  // small jobs since a worker was woken for the next
	parked   atomic.Int32  // len(idle); written with the lock held, as workers is
	workers  atomic.Int32
	begun    atomic.Int32 // jobs whose callers do something else meanwhile
	users    atomic.Int32 // written with the lock held
	waits    waits

	mu    sync.Mutex
	size  int       // the most workers there may be
	idle  []*worker // parked, the last to park at the end
	ended *sync.Cond
}

// worker is a goroutine that helps with jobs. wake tells it to look again, or
// by being closed to end.
type worker struct {
	set      *set
	wake     chan struct{}
	seen     uint64 // offers it knows of
	patience patience
}

var shared = newSet()

func newSet() *set {
	s := &set{}
	s.waits.rounds.Store(leastRounds)
	s.ended = sync.NewCond(&s.mu)
	return s
}

// addUser lets the set live with up to size workers. Who waits for the end of all workers,
// after the last user before, need not any more: they may stay.
func (s *set) addUser(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users.Add(1)
	s.ended.Broadcast()
	s.size = max(s.size, size)
}

// dropUser ends all workers with the last user.
func (s *set) dropUser() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users.Add(-1) > 0 {
		return
	}
	for _, w := range s.idle {
		close(w.wake)
	}
	s.idle = nil
	s.parked.Store(0)
	for s.workers.Load() > 0 && s.users.Load() == 0 {
		s.ended.Wait()
	}
}

// offer shows the job to the workers. It reports false if the caller does
// better alone: all are parked and the job is too small to wake one. A worker
// that is busy will look for more in a moment, as a rule: it has just ended its
// part of the job before this one.
func (s *set) offer(j *job) bool {
	worthWaking := j.chunks >= wakeChunks
	if !worthWaking && s.workers.Load() == s.parked.Load() {
		if s.refused.Add(1) >= refusals {
			s.refused.Store(0)
			s.wakeUp(1)
		}
		return false
	}
	j.all.Add(j.chunks)
	if !s.place(j) {
		return false
	}
	s.offered.Add(1)
	if missing := min(j.limit, j.chunks-1) - int(s.spinning.Load()); worthWaking && missing > 0 {
		s.wakeUp(missing)
	}
	return true
}

// place puts the job into a free slot.
func (s *set) place(j *job) bool {
	for i := range s.jobs {
		if s.jobs[i].Load() == nil && s.jobs[i].CompareAndSwap(nil, j) {
			j.slot = i
			return true
		}
	}
	return false
}

// share lets the caller take part in an offered job and withdraws it when no
// range is left, or when f ends the caller's goroutine.
func (s *set) share(j *job) {
	defer s.jobs[j.slot].Store(nil)
	j.help(byCaller)
}

// wakeUp wakes up to n parked workers and starts new ones if there are fewer.
func (s *set) wakeUp(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for ; n > 0 && len(s.idle) > 0; n-- {
		w := s.idle[len(s.idle)-1]
		s.idle = s.idle[:len(s.idle)-1]
		s.parked.Add(-1)
		w.wake <- struct{}{} // has room: a parked worker has nothing in it
	}
	for ; n > 0 && int(s.workers.Load()) < s.size && s.users.Load() > 0; n-- {
		s.workers.Add(1)
		w := &worker{set: s, wake: make(chan struct{}, 1), patience: patience{rounds: leastRounds}}
		go w.live()
	}
}

// live is the life of a worker. Without users it ends although there is work: callers do that.
func (w *worker) live() {
	defer w.end()
	for w.set.users.Load() > 0 {
		w.seen = w.set.offered.Load()
		if w.helpAny() || w.spin() {
			continue
		}
		if !w.park() {
			return
		}
	}
}

// end counts the worker out, also when a job ended its goroutine.
func (w *worker) end() {
	s := w.set
	s.mu.Lock()
	defer s.mu.Unlock()
	s.workers.Add(-1)
	s.ended.Broadcast()
}

// helpAny helps with the first job that has room for it.
func (w *worker) helpAny() bool {
	for i := range w.set.jobs {
		if j := w.set.jobs[i].Load(); j != nil && j.join() {
			j.help(byWorker)
			j.helpers.Add(-1)
			return true
		}
	}
	return false
}

// spin looks for an offer for a while and reports whether there was one.
func (w *worker) spin() bool {
	w.set.spinning.Add(1)
	defer w.set.spinning.Add(-1)
	for range w.patience.rounds {
		for range spinLooks {
			if w.set.offered.Load() != w.seen {
				w.patience.found()
				return true
			}
			pause(spinPause)
		}
		runtime.Gosched()
	}
	w.patience.missed()
	return false
}

// park waits to be woken and reports false if the worker should end.
func (w *worker) park() bool {
	if !w.enlist() {
		return true
	}
	began := time.Now()
	timer := time.NewTimer(idleTime)
	defer timer.Stop()
	select {
	case _, ok := <-w.wake:
		w.patience.waited(time.Since(began))
		return ok
	case <-timer.C:
	}
	if w.unpark() {
		return false
	}
	_, ok := <-w.wake // an offer was faster than the timer
	return ok
}

// enlist adds the worker to the parked ones, unless an offer came meanwhile
// or the set is not used any more.
func (w *worker) enlist() bool {
	s := w.set
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users.Load() == 0 {
		return false
	}
	s.idle = append(s.idle, w)
	s.parked.Add(1)
	if s.offered.Load() == w.seen {
		return true
	}
	s.idle = s.idle[:len(s.idle)-1]
	s.parked.Add(-1)
	return false
}

// unpark takes the worker from the parked ones and reports whether it was among
// them; if not, it has just been woken.
func (w *worker) unpark() bool {
	s := w.set
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, x := range s.idle {
		if x == w {
			s.idle = append(s.idle[:i], s.idle[i+1:]...)
			s.parked.Add(-1)
			return true
		}
	}
	return false
}
