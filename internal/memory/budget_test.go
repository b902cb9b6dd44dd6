package memory

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fake is a heap that a test fills, and its budget.
type fake struct {
	budget
	live, garbage, idle atomic.Int64
	collected           atomic.Int64
}

func newFake(limit int64) *fake {
	f := &fake{}
	f.measure = func() int64 { return f.live.Load() + f.garbage.Load() }
	f.collect = func() { f.garbage.Store(0); f.collected.Add(1) }
	f.trim = func() int64 {
		n := f.idle.Swap(0)
		f.live.Add(-n)
		f.garbage.Add(n)
		return n
	}
	f.system = func() int64 { return limit }
	f.holders = func() []Holder { return []Holder{{"session one", f.live.Load()}} }
	return f
}

// make takes n bytes and allocates them.
func (f *fake) make(n int64) error {
	err := f.take(n)
	if err == nil {
		f.live.Add(n)
		f.allocated(n)
	}
	return err
}

func TestBudgetRefusesBeyondTheLimit(t *testing.T) {
	f := newFake(100 << 20)
	for range 10 {
		if err := f.make(10 << 20); err != nil {
			t.Fatal(err)
		}
	}
	err := f.make(large)
	var x *Exhausted
	if !errors.As(err, &x) || x.Asked != large || x.InUse != 100<<20 || x.Limit != 100<<20 {
		t.Fatalf("a full budget says %v", err)
	}
	for _, want := range []string{"limit of 104857600 bytes", "65536 more", "104857600 are in use", "session one 104857600"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error %q lacks %q", err, want)
		}
	}
	f.live.Add(-large)
	if err := f.make(large); err != nil {
		t.Errorf("there is room again: %v", err)
	}
}

func TestBudgetCollectsGarbageBeforeItRefuses(t *testing.T) {
	f := newFake(100 << 20)
	f.garbage.Store(90 << 20)
	if err := f.make(50 << 20); err != nil || f.collected.Load() != 1 {
		t.Errorf("garbage was collected %d times, then: %v", f.collected.Load(), err)
	}
	if err := f.make(20 << 20); err != nil || f.collected.Load() != 1 {
		t.Errorf("garbage was collected %d times, then: %v", f.collected.Load(), err)
	}
}

func TestBudgetTrimsPoolsBeforeItRefuses(t *testing.T) {
	f := newFake(100 << 20)
	f.live.Store(90 << 20)
	f.idle.Store(80 << 20)
	if err := f.make(50 << 20); err != nil || f.idle.Load() != 0 {
		t.Errorf("%d bytes are idle: %v", f.idle.Load(), err)
	}
}

func TestBudgetCollectsNothingForWhatNeverFits(t *testing.T) {
	f := newFake(100 << 20)
	if err := f.make(101 << 20); err == nil || f.collected.Load() != 0 {
		t.Errorf("garbage was collected %d times, then: %v", f.collected.Load(), err)
	}
}

// TestBudgetWaitsForWhatIsPending: a block that is in the heap and not yet cleared counts
// twice. What fits when it counts once is granted.
func TestBudgetWaitsForWhatIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(100 << 20)
		if err := f.take(60 << 20); err != nil {
			t.Fatal(err)
		}
		f.live.Store(60 << 20)
		time.AfterFunc(300*time.Millisecond, func() { f.allocated(60 << 20) })
		if err := f.make(20 << 20); err != nil {
			t.Error(err)
		}
		if err := f.several(sample); err != nil {
			t.Error(err)
		}
	})
}

// TestBudgetCountsWhatIsPending: a block that is not in the heap yet takes its room.
func TestBudgetCountsWhatIsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(100 << 20)
		if err := f.take(60 << 20); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(300*time.Millisecond, func() { f.live.Store(60 << 20); f.allocated(60 << 20) })
		if err := f.make(50 << 20); err == nil {
			t.Error("110 MiB of 100 MiB were granted")
		}
		if err := f.take(30 << 20); err != nil {
			t.Error(err)
		}
		began := time.Now()
		if err := f.make(20 << 20); err == nil { // whoever makes the other block, does not end
			t.Error("110 MiB of 100 MiB were granted")
		}
		if waited := time.Since(began); waited > time.Second {
			t.Errorf("a refusal took %v", waited)
		}
	})
}

func TestBudgetNoticesWhatNobodyCounts(t *testing.T) {
	f := newFake(100 << 20)
	if err := f.make(large); err != nil {
		t.Fatal(err)
	}
	f.live.Add(99<<20 + large) // strings, say
	n := 0
	for f.make(large) == nil {
		n += large
	}
	if n > stride+1<<20 {
		t.Errorf("%d bytes were granted before it was noticed that the heap is full", n)
	}
}

func TestBudgetLeavesSmallBlocksSomeMore(t *testing.T) {
	f := newFake(64 << 20)
	f.live.Store(64 << 20)
	if err := f.make(large); err == nil {
		t.Error("a full budget has granted a large block")
	}
	n := 0
	for f.several(sample) == nil {
		f.live.Add(sample)
		n++
	}
	if n != 2 {
		t.Errorf("%d megabytes in small blocks were granted beyond the limit, want 2", n)
	}
}

func TestFewCountsWhatIsAllocated(t *testing.T) {
	f, measured := newFake(1<<40), 0
	f.measure = func() int64 { measured++; return 0 }
	const n, size = 1 << 20, 1000
	for range n {
		if err := f.few(size); err != nil {
			t.Fatal(err)
		}
	}
	// bound is measured anew, as nothing, whenever it has grown by a stride
	// or so: which blocks count is drawn
	if got, want := measured, n*(size+overhead)/stride; got < want/2 || got > 2*want {
		t.Errorf("the heap was measured %d times, want about %d", got, want)
	}
}

// TestBudgetUnderConcurrency takes and gives from many goroutines: never is more
// in the heap than the limit.
func TestBudgetUnderConcurrency(t *testing.T) {
	f := newFake(64 << 20)
	var most, refused atomic.Int64
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			n := int64(large * (1 + g%4*37))
			for range 2000 {
				if f.make(n) != nil {
					refused.Add(1)
					continue
				}
				if live := f.live.Load(); live > most.Load() {
					most.Store(live)
				}
				runtime.Gosched()
				f.live.Add(-n)
			}
		})
	}
	all.Wait()
	if most.Load() > 64<<20 {
		t.Errorf("%d bytes were in use at once", most.Load())
	}
	if f.pending.Load() != 0 {
		t.Errorf("%d bytes are pending", f.pending.Load())
	}
	if err := f.make(63 << 20); err != nil {
		t.Errorf("all has been given back (%d were refused): %v", refused.Load(), err)
	}
}

// full limits the process to room bytes more than it uses.
func full(t *testing.T, room int64) {
	t.Helper()
	runtime.GC()
	used, _ := Usage()
	before := SetLimit(used + room)
	t.Cleanup(func() { SetLimit(before) })
}

func TestNewPanicsWithExhausted(t *testing.T) {
	full(t, 32<<20)
	for name, f := range map[string]func(){
		"New": func() { New(1 << 30) }, "Get": func() { NewPool(1 << 20).Get(1 << 30) },
		"Make": func() { Make[string](1 << 40) }, "Room": func() { Room(1 << 43) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*Exhausted); !ok {
					t.Errorf("%s does not panic with *Exhausted", name)
				}
			}()
			f()
			t.Errorf("%s has worked", name)
		}()
	}
	if _, err := TryMake[int64](-1); err == nil {
		t.Error("a slice of -1 elements was made")
	}
}

func TestManyThatFitOneByOne(t *testing.T) {
	full(t, 64<<20)
	for _, size := range []int{64, 1 << 12, large, 5 << 20} {
		var keep []*Buffer
		var err error
		for total := 0; total < 256<<20 && err == nil; total += size {
			var b *Buffer
			if b, err = TryNew(size); err == nil {
				keep = append(keep, b)
			}
		}
		if err == nil {
			t.Errorf("256 MB in blocks of %d bytes fit into 64 MB", size)
		}
		runtime.KeepAlive(keep)
	}
	if _, err := TryNew(48 << 20); err != nil {
		t.Errorf("all is garbage: %v", err)
	}
}

func TestIdleMemoryIsTrimmed(t *testing.T) {
	full(t, 64<<20)
	p := NewPool(1 << 30)
	b := p.Get(40 << 20)
	b.Unref()
	if _, err := TryNew(50 << 20); err != nil {
		t.Errorf("what is idle in a pool was not given up: %v", err)
	}
	if n := p.Stats().IdleBytes; n != 0 {
		t.Errorf("%d bytes are idle", n)
	}
}

func TestArenaCounts(t *testing.T) {
	full(t, 64<<20)
	a, err := NewArena(40 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := TryNew(40 << 20); err == nil {
		t.Error("what is mapped does not count")
	}
	if _, err := NewArena(40 << 20); err == nil {
		t.Error("an arena was mapped that does not fit")
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := TryNew(40 << 20); err != nil {
		t.Errorf("what was mapped still counts: %v", err)
	}
}

func BenchmarkNew(b *testing.B) {
	for _, n := range []int{4, 1 << 10, 1 << 14, 1 << 18, 1 << 22} {
		b.Run(sizeName(n), func(b *testing.B) {
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					New(n)
				}
			})
		})
	}
}

func BenchmarkPoolGet(b *testing.B) {
	for _, n := range []int{4, 1 << 10, 1 << 18} {
		b.Run(sizeName(n), func(b *testing.B) {
			p := NewSessionPool(1<<30, "session")
			for b.Loop() {
				p.Get(n).Unref()
			}
		})
	}
}

func sizeName(n int) string {
	switch {
	case n >= 1<<20:
		return string(rune('0'+n>>20)) + "M"
	case n >= 1<<10:
		return map[int]string{1 << 10: "1K", 1 << 14: "16K", 1 << 18: "256K"}[n]
	}
	return "4"
}
