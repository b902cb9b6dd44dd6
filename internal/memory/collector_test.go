package memory

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestCollectorBeginsAnewForLateGarbage: who asks while garbage is collected may have dropped
// something since that began. All who ask meanwhile share one collection more.
func TestCollectorBeginsAnewForLateGarbage(t *testing.T) {
	var begun atomic.Int64
	first := make(chan struct{})
	collect := process.collect
	defer func() { process.collect = collect }()
	process.collect = func() {
		begun.Add(1)
		<-first
	}
	var c collector
	var all sync.WaitGroup
	all.Go(c.collect)
	for begun.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	all.Go(c.collect)
	all.Go(c.collect)
	time.Sleep(20 * time.Millisecond) // until both wait
	close(first)
	all.Wait()
	if n := begun.Load(); n < 2 || n > 3 { // 3: one of them was late
		t.Errorf("%d collections for three who asked, want 2", n)
	}
}
