package threads

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// TestBegun: what begins runs once, whether the caller waits at once, later, or computes
// something else with the same workers meanwhile.
func TestBegun(t *testing.T) {
	withProcs(t, 4)
	p := newPool(t, 0)
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		n, grain := 1+r.IntN(200), 1+r.IntN(20)
		counts := make([]atomic.Int32, n)
		ended := p.Begin(n, grain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				counts[i].Add(1)
			}
		})
		if ended == nil {
			t.Fatal("nothing has begun")
		}
		for range r.IntN(4) {
			if got := ranges(p, 64, 1); len(got) != 64 {
				t.Fatalf("meanwhile %d ranges, want 64", len(got))
			}
			ended(false)
		}
		if !ended(true) {
			t.Fatal("not ended after waiting")
		}
		for i := range counts {
			if c := counts[i].Load(); c != 1 {
				t.Fatalf("n %d grain %d: %d was computed %d times", n, grain, i, c)
			}
		}
	}
	if k := p.set.begun.Load(); k != 0 {
		t.Errorf("%d calls are still under way", k)
	}
}

// TestBegunElsewhere: another goroutine computes while the caller does not wait.
func TestBegunElsewhere(t *testing.T) {
	withProcs(t, 2)
	p := newPool(t, 0)
	for range 20 {
		var wg sync.WaitGroup
		wg.Add(3)
		ended := p.Begin(3, 1, func(lo, hi int) { wg.Add(lo - hi) })
		wg.Wait() // would hang if nothing ran before ended waits
		if ended(true); !ended(false) {
			t.Fatal("not ended")
		}
	}
}

// TestBeginIsBounded: calls that are under way leave slots to those that wait.
func TestBeginIsBounded(t *testing.T) {
	withProcs(t, 4)
	if newPool(t, 1).Begin(10, 1, func(lo, hi int) { t.Error("ran") }) != nil {
		t.Error("a pool of one goroutine has begun something")
	}
	p := newPool(t, 0)
	var all []func(bool) bool
	hold := make(chan struct{})
	for range slots {
		if ended := p.Begin(8, 1, func(lo, hi int) { <-hold }); ended != nil {
			all = append(all, ended)
		}
	}
	if len(all) != mostBegun {
		t.Errorf("%d have begun, want %d", len(all), mostBegun)
	}
	if got := ranges(p, 64, 1); len(got) != 64 {
		t.Errorf("meanwhile %d ranges, want 64", len(got))
	}
	for _, ended := range all {
		if ended(false) {
			t.Error("ended although it is held")
		}
	}
	close(hold)
	for _, ended := range all {
		ended(true)
	}
	if ended := p.Begin(8, 1, func(lo, hi int) {}); ended == nil {
		t.Error("nothing begins any more")
	} else {
		ended(true)
	}
}

// TestBegunPanics: a panic reaches the call that waits, and the slot is free again.
func TestBegunPanics(t *testing.T) {
	withProcs(t, 4)
	p := newPool(t, 0)
	for range 2 * slots {
		ended := p.Begin(8, 1, func(lo, hi int) {
			if lo == 5 {
				panic("range 5")
			}
		})
		if got := recovered(func() { ended(true) }); got != "range 5" {
			t.Fatalf("recovered %v, want range 5", got)
		}
	}
	if got := ranges(p, 64, 1); len(got) != 64 {
		t.Errorf("after a panic %d ranges, want 64", len(got))
	}
}
