package memory

import (
	"sync"
	"sync/atomic"
	"testing"
)

// TestSweeper: it collects when more has come than it leaves, not sooner; what lives counts from then on as
// what is there, and so does less.
func TestSweeper(t *testing.T) {
	var used int64
	s := NewSweeper(100)
	s.measure, s.collect = func() int64 { return used }, func() { used -= 90 }
	for _, c := range []struct {
		used int64
		due  bool
	}{{1000, false}, {1100, false}, {1101, true}, {1111, false}, {1112, true}, {500, false}, {600, false}, {601, true}} {
		used = c.used
		if got := s.Due(); got != c.due {
			t.Fatalf("with %d bytes it is due: %v", c.used, got)
		}
		if c.due {
			s.Sweep()
		}
		s.next.Store(0) // it has rested
	}
}

// TestSweeperOnce: one of the goroutines that ask at once is told to collect, and none before it has.
func TestSweeperOnce(t *testing.T) {
	var used, sweeping, swept atomic.Int64
	used.Store(1000)
	s := NewSweeper(100)
	s.measure, s.collect = used.Load, func() { used.Store(1000) }
	s.Due()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				used.Add(1)
				if next := s.next.Load(); next != never {
					s.next.CompareAndSwap(next, 0) // it has rested
				}
				if !s.Due() {
					continue
				}
				if sweeping.Add(1) != 1 {
					t.Error("two are told at once")
				}
				swept.Add(1)
				sweeping.Add(-1)
				s.Sweep()
			}
		})
	}
	all.Wait()
	if swept.Load() == 0 {
		t.Error("nothing was collected")
	}
}
