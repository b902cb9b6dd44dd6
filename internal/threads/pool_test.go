package threads

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// withProcs lets Go run n goroutines at a time, however few processors there
// are, so that there are workers to test.
func withProcs(t *testing.T, n int) {
	old := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(old) })
}

// newPool returns a pool with workers of its own.
func newPool(t *testing.T, limit int) *Pool {
	p := newSet().acquire(limit)
	t.Cleanup(p.Release)
	return p
}

// alive is the number of workers.
func (s *set) alive() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int(s.workers.Load())
}

type span struct{ lo, hi int }

// ranges returns the ranges of a call in order.
func ranges(p *Pool, n, grain int) []span {
	var mu sync.Mutex
	var got []span
	p.ParallelFor(n, grain, func(lo, hi int) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, span{lo, hi})
	})
	slices.SortFunc(got, func(a, b span) int { return a.lo - b.lo })
	return got
}

func TestRangesCoverAllOnce(t *testing.T) {
	withProcs(t, 4)
	p := newPool(t, 0)
	for _, c := range []struct{ n, grain int }{
		{0, 1}, {1, 1}, {1, 10}, {7, 2}, {10, 3}, {100, 100}, {100, 101}, {1000, 1}, {1 << 20, 1}, {5, 0}, {12345, 37},
	} {
		got := ranges(p, c.n, c.grain)
		at := 0
		for _, s := range got {
			if s.lo != at || s.hi <= s.lo {
				t.Fatalf("n %d grain %d: range %v after %d", c.n, c.grain, s, at)
			}
			if s.hi-s.lo < min(c.grain, c.n) {
				t.Errorf("n %d grain %d: range %v is shorter than the grain", c.n, c.grain, s)
			}
			at = s.hi
		}
		if at != c.n {
			t.Errorf("n %d grain %d: covered up to %d", c.n, c.grain, at)
		}
		if len(got) > maxChunks {
			t.Errorf("n %d grain %d: %d ranges", c.n, c.grain, len(got))
		}
	}
}

func TestRangesDoNotDependOnWorkers(t *testing.T) {
	withProcs(t, 8)
	for _, c := range []span{{100, 7}, {1 << 16, 64}, {3, 1}} {
		want := ranges(newPool(t, 1), c.lo, c.hi)
		for _, limit := range []int{2, 3, 8} {
			if got := ranges(newPool(t, limit), c.lo, c.hi); !slices.Equal(got, want) {
				t.Errorf("n %d grain %d limit %d: %v, alone %v", c.lo, c.hi, limit, got, want)
			}
		}
	}
}

// meet returns a function that returns once n goroutines are inside.
func meet(n int) func() {
	var wg sync.WaitGroup
	wg.Add(n)
	return func() { wg.Done(); wg.Wait() }
}

func TestWorkersTakePart(t *testing.T) {
	withProcs(t, 4)
	p := newPool(t, 4)
	all := meet(4)
	// Would hang if fewer than four goroutines were at work at a time.
	p.ParallelFor(4, 1, func(lo, hi int) { all() })
}

// TestBusyWorkersComeLater offers work while the only worker is at work: once it
// is free it takes part.
func TestBusyWorkersComeLater(t *testing.T) {
	withProcs(t, 2)
	p := newPool(t, 2)
	second := meet(2) // hangs unless both goroutines are inside
	offered := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		first := meet(2)
		p.ParallelFor(wakeChunks, 1, func(lo, hi int) {
			if lo < 2 {
				first()
				<-offered
			}
		})
	})
	for p.set.spinning.Load() > 0 || p.set.alive() == 0 || p.set.parked.Load() > 0 || p.set.offered.Load() == 0 {
		runtime.Gosched()
	}
	before := p.set.offered.Load()
	wg.Go(func() {
		p.ParallelFor(wakeChunks, 1, func(lo, hi int) {
			if lo < 2 {
				second()
			}
		})
	})
	for p.set.offered.Load() == before {
		runtime.Gosched()
	}
	close(offered)
	wg.Wait()
}

func TestLimit(t *testing.T) {
	withProcs(t, 8)
	p := newPool(t, 3)
	var now, most atomic.Int32
	p.ParallelFor(200, 1, func(lo, hi int) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		runtime.Gosched()
		now.Add(-1)
	})
	if most.Load() > 3 {
		t.Errorf("%d goroutines at a time, want at most 3", most.Load())
	}
}

func TestLimitOneStartsNothing(t *testing.T) {
	withProcs(t, 4)
	p := newPool(t, 1)
	p.ParallelFor(100, 1, func(lo, hi int) {})
	if p.set.alive() != 0 {
		t.Errorf("%d workers, want none", p.set.alive())
	}
}

func TestSmallWorkStaysWithTheCaller(t *testing.T) {
	withProcs(t, 4)
	p := newPool(t, 0)
	p.ParallelFor(wakeChunks-1, 1, func(lo, hi int) {})
	if p.set.alive() != 0 {
		t.Errorf("%d workers started for little work", p.set.alive())
	}
}

func TestNested(t *testing.T) {
	withProcs(t, 4)
	p := newPool(t, 0)
	var sum atomic.Int64
	p.ParallelFor(16, 1, func(lo, hi int) {
		p.ParallelFor(100, 10, func(a, b int) { sum.Add(int64((hi - lo) * (b - a))) })
	})
	if sum.Load() != 1600 {
		t.Errorf("nested calls covered %d of 1600", sum.Load())
	}
}

func TestManyCallers(t *testing.T) {
	withProcs(t, 4)
	p := newPool(t, 0)
	var wg sync.WaitGroup
	for range 2 * slots {
		wg.Go(func() {
			for n := range 50 {
				var sum atomic.Int64
				p.ParallelFor(n*10, 3, func(lo, hi int) { sum.Add(int64(hi - lo)) })
				if int(sum.Load()) != n*10 {
					t.Errorf("covered %d of %d", sum.Load(), n*10)
				}
			}
		})
	}
	wg.Wait()
}

func TestPanicReachesCaller(t *testing.T) {
	withProcs(t, 4)
	for _, limit := range []int{1, 4} {
		for bad := range 8 {
			p := newPool(t, limit)
			var running atomic.Int32
			got := recovered(func() {
				p.ParallelFor(8, 1, func(lo, hi int) {
					running.Add(1)
					defer running.Add(-1)
					if lo == bad {
						panic(fmt.Sprint("range ", lo))
					}
				})
			})
			if want := fmt.Sprint("range ", bad); got != want {
				t.Errorf("limit %d: recovered %v, want %v", limit, got, want)
			}
			if running.Load() != 0 {
				t.Errorf("limit %d: %d calls still run", limit, running.Load())
			}
			if got := ranges(p, 8, 1); len(got) != 8 {
				t.Errorf("limit %d: after a panic %v", limit, got)
			}
		}
	}
}

func recovered(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

func TestGoexitInRange(t *testing.T) {
	withProcs(t, 4)
	p := newPool(t, 4)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.ParallelFor(64, 1, func(lo, hi int) {
			if lo == 5 {
				runtime.Goexit()
			}
		})
	}()
	<-done
	if got := ranges(p, 64, 1); len(got) != 64 {
		t.Errorf("afterwards %d ranges, want 64", len(got))
	}
}

func TestReleaseEndsWorkers(t *testing.T) {
	withProcs(t, 4)
	synctest.Test(t, func(t *testing.T) { // where workers are not idle for long
		s := newSet()
		a, b := s.acquire(0), s.acquire(0)
		all := meet(4)
		a.ParallelFor(4, 1, func(lo, hi int) { all() })
		a.Release()
		a.Release() // once is enough, twice is harmless
		if s.alive() == 0 {
			t.Error("workers ended although a user is left")
		}
		b.Release()
		if s.alive() != 0 {
			t.Errorf("%d workers after the last release", s.alive())
		}
	})
}

func TestAcquireAfterRelease(t *testing.T) {
	withProcs(t, 4)
	s := newSet()
	for range 20 {
		p := s.acquire(0)
		all := meet(2)
		p.ParallelFor(wakeChunks, 1, func(lo, hi int) {
			if lo < 2 {
				all()
			}
		})
		p.Release()
	}
	if s.alive() != 0 {
		t.Errorf("%d workers left", s.alive())
	}
}

func TestIdleWorkersEnd(t *testing.T) {
	withProcs(t, 4)
	synctest.Test(t, func(t *testing.T) {
		s := newSet()
		p := s.acquire(0)
		defer p.Release()
		all := meet(4)
		p.ParallelFor(4, 1, func(lo, hi int) { all() })
		synctest.Wait()
		if s.alive() != 3 || s.parked.Load() != 3 {
			t.Errorf("%d workers, %d parked, want 3", s.alive(), s.parked.Load())
		}
		time.Sleep(2 * idleTime)
		synctest.Wait()
		if s.alive() != 0 {
			t.Errorf("%d workers after idling", s.alive())
		}
		all = meet(4)
		p.ParallelFor(4, 1, func(lo, hi int) { all() })
	})
}

func TestParallelForCost(t *testing.T) {
	withProcs(t, 2)
	p := newPool(t, 0)
	for _, c := range []struct {
		n     int
		nanos float64
		want  int
	}{{1000, 10, 1}, {4000, 10, 4}, {8, 1e6, 8}, {1000, 0, 1}} {
		var calls atomic.Int32
		p.ParallelForCost(c.n, c.nanos, func(lo, hi int) { calls.Add(1) })
		if int(calls.Load()) != c.want {
			t.Errorf("n %d at %v ns: %d ranges, want %d", c.n, c.nanos, calls.Load(), c.want)
		}
	}
}

func BenchmarkParallelFor(b *testing.B) {
	p := newSet().acquire(0)
	defer p.Release()
	for _, n := range []int{1, 4, 64} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				p.ParallelFor(n, 1, func(lo, hi int) {})
			}
		})
	}
}

// TestSmallJobsAreShared: jobs that are too small to wake a worker for are shared in the end if there are many
// of them, one after the other.
func TestSmallJobsAreShared(t *testing.T) {
	withProcs(t, 2)
	p := newPool(t, 2)
	for range 10000 {
		var begun atomic.Int32
		shared := false
		p.ParallelFor(wakeChunks-1, 1, func(lo, _ int) {
			begun.Add(1)
			for end := time.Now().Add(100 * time.Microsecond); lo == 0 && !shared && time.Now().Before(end); {
				shared = begun.Load() > 1
			}
		})
		if shared {
			return
		}
	}
	t.Error("no job of 10000 was shared")
}

// TestAloneCutsAlike: Alone calls f on the caller, for the ranges of ParallelFor, in order.
func TestAloneCutsAlike(t *testing.T) {
	p := newSet().acquire(2)
	defer p.Release()
	for _, c := range [][2]int{{0, 1}, {1, 1}, {5, 9}, {100, 7}, {1 << 20, 1}} {
		var mu sync.Mutex
		shared := map[[2]int]bool{}
		p.ParallelFor(c[0], c[1], func(lo, hi int) {
			mu.Lock()
			defer mu.Unlock()
			shared[[2]int{lo, hi}] = true
		})
		next, ranges := 0, 0
		p.Alone(c[0], c[1], func(lo, hi int) { // not guarded: the race detector would find another goroutine
			if lo != next || !shared[[2]int{lo, hi}] {
				t.Errorf("%d by %d: range %d to %d after %d, shared %v", c[0], c[1], lo, hi, next, shared[[2]int{lo, hi}])
			}
			next, ranges = hi, ranges+1
		})
		if next != c[0] || ranges != len(shared) {
			t.Errorf("%d by %d: %d ranges up to %d, want %d", c[0], c[1], ranges, next, len(shared))
		}
	}
}
