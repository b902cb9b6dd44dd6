package verbs_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/gorge-tf/gorge/internal/verbs"
)

// A counting device knows how many memory regions and queue pairs it has.
type counting struct {
	verbs.Device
	regions, pairs *atomic.Int64
}

func (d counting) Register(mem []byte, a verbs.Access) (verbs.MemoryRegion, error) {
	mr, err := d.Device.Register(mem, a)
	if err != nil {
		return nil, err
	}
	d.regions.Add(1)
	return countedRegion{mr, d.regions}, nil
}

type countedRegion struct {
	verbs.MemoryRegion
	n *atomic.Int64
}

func (r countedRegion) Deregister() error {
	r.n.Add(-1)
	return r.MemoryRegion.Deregister()
}

func (d counting) CreateQP(cq verbs.CompletionQueue, depth int) (verbs.QueuePair, error) {
	d.pairs.Add(1)
	return d.Device.CreateQP(cq, depth)
}

// TestFlat: however many steps there are, no memory region, queue pair, goroutine
// or file stays of them. The environment may ask for more steps.
func TestFlat(t *testing.T) {
	steps, err := strconv.Atoi(os.Getenv("GORGE_STEPS"))
	if err != nil {
		steps = 500
	}
	var regions, pairs atomic.Int64
	c := newCluster()
	c.arena = true
	c.wrap = func(d verbs.Device) verbs.Device { return counting{d, &regions, &pairs} }
	p := c.pair(t)
	run := func(id int64) {
		s := begin(t, p, id)
		for i, n := range []int{1, 100, 3000, 200_000} {
			edge := fmt.Sprint("e", i)
			s.send(edge, full(n+int(id)%2, byte(id)))
			o := <-s.recv(edge)
			if o.err != nil {
				t.Fatal(o.err)
			}
			o.t.Release()
		}
		p.A.Manager.Cleanup(id)
		p.B.Manager.Cleanup(id)
	}
	for i := range 50 {
		run(int64(i))
	}
	wantRegions, wantPairs, wantRoutines, wantFiles := regions.Load(), pairs.Load(), runtime.NumGoroutine(), files()
	for i := range steps {
		run(int64(50 + i))
	}
	// What ends a transfer may come a moment after what it is for.
	if r := regions.Load(); r > wantRegions+4 {
		t.Errorf("%d memory regions after %d steps, %d after the first", r, steps, wantRegions)
	}
	if n := pairs.Load(); n != wantPairs {
		t.Errorf("%d queue pairs were made, want %d", n, wantPairs)
	}
	if n := runtime.NumGoroutine(); n > wantRoutines+8 {
		t.Errorf("%d goroutines after %d steps, %d after the first", n, steps, wantRoutines)
	}
	if n := files(); n > wantFiles {
		t.Errorf("%d files are open after %d steps, %d after the first", n, steps, wantFiles)
	}
}

// files is how many files the process has open, where that can be told.
func files() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}
