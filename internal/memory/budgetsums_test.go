package memory

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestBudgetServesOthersWhileARefusalWaits: who asks for what fits does not wait for one
// who asks for what perhaps fits later.
func TestBudgetServesOthersWhileARefusalWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(100 << 20)
		if err := f.take(60 << 20); err != nil {
			t.Fatal(err)
		}
		refused := make(chan error, 1)
		go func() { refused <- f.make(50 << 20) }()
		synctest.Wait()
		if !f.mu.TryLock() { // Lock would wait for ever: in a bubble no time passes meanwhile
			t.Fatal("a refusal holds the lock while it waits")
		}
		f.mu.Unlock()
		began := time.Now()
		if err := f.make(20 << 20); err != nil || time.Since(began) > 0 {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		if err := <-refused; err == nil {
			t.Error("130 MiB of 100 MiB were granted")
		}
	})
}

// TestBudgetCollectsWhatCameWhileItWaited: what another dropped while a refusal waited for
// something else is garbage that nobody has collected.
func TestBudgetCollectsWhatCameWhileItWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(100 << 20)
		if err := f.take(40 << 20); err != nil {
			t.Fatal(err)
		}
		f.live.Store(40 << 20)
		time.AfterFunc(10*time.Millisecond, func() { // the block is done and dropped, and the next one is under way
			f.allocated(40 << 20)
			f.live.Store(0)
			f.garbage.Store(40 << 20)
			if err := f.take(40 << 20); err != nil {
				t.Error(err)
			}
			f.live.Store(40 << 20)
			time.AfterFunc(10*time.Millisecond, func() { f.allocated(40 << 20) })
		})
		if err := f.make(40 << 20); err != nil {
			t.Error(err)
		}
	})
}

// TestBudgetForgetsNothingThatIsRefused: what is counted and taken away again while use is
// measured leaves the sum as it was.
func TestBudgetForgetsNothingThatIsRefused(t *testing.T) {
	f := newFake(100 << 20)
	f.live.Store(90 << 20)
	f.inUse()
	var takers sync.WaitGroup
	for range 2 {
		takers.Go(func() {
			for range 50_000 {
				if f.take(50<<20) == nil {
					t.Error("140 MiB of 100 MiB were granted")
				}
			}
		})
	}
	for range 100_000 {
		f.inUse()
		if n := f.bound.Load(); n < 90<<20 {
			t.Errorf("the sum is %d MiB, in use are 90", n>>20)
			break
		}
	}
	takers.Wait()
}
