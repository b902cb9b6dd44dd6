package threads

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// released calls Release and reports whether it returns.
func released(p *Pool) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Release()
	}()
	select {
	case <-done:
		return true
	case <-time.After(5 * time.Second):
		return false
	}
}

// used is the number of users.
func (s *set) used() int {
	return int(s.users.Load())
}

// TestReleaseBesideNewUser: the last user does not wait for workers that another one has
// taken over meanwhile, however long that keeps them busy.
func TestReleaseBesideNewUser(t *testing.T) {
	withProcs(t, 2)
	s := newSet()
	a := s.acquire(0)
	hold, ended, both := make(chan struct{}), make(chan struct{}), meet(3)
	go func() {
		defer close(ended)
		a.ParallelFor(wakeChunks, 1, func(lo, hi int) {
			if lo == 0 || lo == wakeChunks-1 { // the caller's and a worker's
				both()
				<-hold
			}
		})
	}()
	both()
	b := make(chan *Pool, 1)
	go func() {
		for s.used() > 0 {
			runtime.Gosched()
		}
		b <- s.acquire(0)
	}()
	if !released(a) {
		t.Error("Release waits for workers of another user")
	}
	close(hold)
	<-ended
	(<-b).Release()
}

// chain makes a call during which another one begins, and so on until stop: the worker that
// takes part always finds one.
func chain(p *Pool, stop *atomic.Bool, calls *sync.WaitGroup) {
	var joined atomic.Bool
	p.ParallelFor(wakeChunks, 1, func(lo, _ int) {
		switch {
		case stop.Load():
		case lo == 0: // the caller's
			for !joined.Load() && !stop.Load() {
				runtime.Gosched()
			}
		case lo == wakeChunks-1: // the worker's
			joined.Store(true)
			before := p.set.offered.Load()
			calls.Go(func() { chain(p, stop, calls) })
			for p.set.offered.Load() == before {
				runtime.Gosched()
			}
		}
	})
}

// TestReleaseDuringCalls: Release does not wait for goroutines that go on making calls,
// as iterators do in the background. These run on their callers alone then.
func TestReleaseDuringCalls(t *testing.T) {
	withProcs(t, 2)
	p := newSet().acquire(0)
	var stop atomic.Bool
	var calls sync.WaitGroup
	calls.Go(func() { chain(p, &stop, &calls) })
	for p.set.alive() == 0 {
		runtime.Gosched()
	}
	if !released(p) {
		t.Error("Release waits as long as calls come")
	}
	stop.Store(true)
	calls.Wait()
	if got := ranges(p, 64, 1); len(got) != 64 {
		t.Errorf("a call after Release has %d ranges, want 64", len(got))
	}
}
