package memory

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/gorge-tf/gorge/internal/invariants"
)

// keeping skips a test of what pools keep where they keep nothing.
func keeping(t *testing.T) {
	if invariants.Race {
		t.Skip("under the race detector pools keep nothing")
	}
}

// takeAll takes blocks of some sizes at once, and releases them.
func takeAll(p *Pool, sizes ...int) {
	var held []*Buffer
	for _, n := range sizes {
		held = append(held, p.Get(n))
	}
	for _, b := range held {
		b.Unref()
	}
}

// TestPoolForgets: what nothing uses is gone after two intervals, with what was reserved for it, and then
// nothing is left that would wake the process; the pool works as before afterwards.
func TestPoolForgets(t *testing.T) {
	keeping(t)
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(1 << 30)
		for range 3 {
			takeAll(p, 100, 100, 5000, 1<<20, 1<<20, 1<<20, 9<<20)
			if s := p.Stats(); s.Idle != 7 {
				t.Fatalf("%+v after the step, want 7 blocks", s)
			}
			time.Sleep(2*interval + 1)
			synctest.Wait()
			if s := p.Stats(); s.Idle != 0 || s.IdleBytes != 0 {
				t.Fatalf("%+v after two intervals", s)
			}
			time.Sleep(interval)
			synctest.Wait()
			if n := p.reserved.Load(); n != 0 || p.ager.armed.Load() {
				t.Fatalf("%d bytes reserved and armed %v after three intervals", n, p.ager.armed.Load())
			}
		}
	})
}

// TestPoolIsArmedByAnyBlock: blocks that were in use while the pool stopped looking are noticed when
// they come.
func TestPoolIsArmedByAnyBlock(t *testing.T) {
	keeping(t)
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(1 << 30)
		takeAll(p, 1000, 1000)
		a, b := p.Get(1000), p.Get(1000)
		time.Sleep(10 * interval)
		synctest.Wait()
		if n := p.reserved.Load(); n != 0 || p.ager.armed.Load() {
			t.Fatalf("%d bytes reserved and armed %v, with nothing idle", n, p.ager.armed.Load())
		}
		a.Unref()
		b.Unref()
		if s := p.Stats(); s.Idle != 2 || !p.ager.armed.Load() {
			t.Fatalf("%+v and armed %v, want two blocks that are looked at", s, p.ager.armed.Load())
		}
		time.Sleep(10 * interval)
		synctest.Wait()
		if s := p.Stats(); s.Idle != 0 || p.ager.armed.Load() {
			t.Fatalf("%+v and armed %v", s, p.ager.armed.Load())
		}
	})
}

// TestPoolInUseReservesOnce: blocks that happen to be in use when the pool looks do not reserve again.
func TestPoolInUseReservesOnce(t *testing.T) {
	keeping(t)
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(1 << 30)
		takeAll(p, 1000, 1000, 1000)
		want := p.reserved.Load()
		for range 20 {
			a, b, c := p.Get(1000), p.Get(1000), p.Get(1000)
			time.Sleep(interval)
			synctest.Wait()
			for _, b := range []*Buffer{a, b, c} {
				b.Unref()
			}
		}
		if s, n := p.Stats(), p.reserved.Load(); s.Misses != 3 || n != want {
			t.Errorf("%+v and %d bytes reserved, want three blocks and %d", s, n, want)
		}
		p.Close()
	})
}

// TestSteadyStepsAllocateNothing: after a burst, steps that come again and again have what they take,
// and after two intervals the pool keeps no more than that.
func TestSteadyStepsAllocateNothing(t *testing.T) {
	keeping(t)
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for range 20 {
			p := NewPool(1 << 30)
			var steady, burst []int
			for range 1 + r.IntN(30) {
				steady = append(steady, 1+r.IntN(1<<(6+r.IntN(16))))
			}
			for range 100 {
				burst = append(burst, 1+r.IntN(1<<(6+r.IntN(16))))
			}
			takeAll(p, append(burst, steady...)...)
			misses := p.Stats().Misses
			for range 200 {
				time.Sleep(time.Duration(r.Int64N(int64(interval - 1))))
				takeAll(p, steady...)
			}
			if s := p.Stats(); s.Misses != misses || s.Idle != len(steady) {
				t.Errorf("%+v, want %d blocks and %d misses", s, len(steady), misses)
			}
			p.Close()
		}
	})
}

// counted is what a class keeps, by the definition: how many blocks, and the least since the last look.
type counted struct{ idle, low int }

// TestAgingCounts compares a pool with the count of each of its classes, block by block: it never gives up one that
// was needed, and keeps no more than one that was not.
func TestAgingCounts(t *testing.T) {
	keeping(t)
	r := rand.New(rand.NewPCG(5, 6))
	for range 30 {
		p, want := NewPool(1<<40), map[int]*counted{}
		held, misses := map[*Buffer]int{}, uint64(0)
		for range 3000 {
			switch k := r.IntN(100); {
			case k < 2:
				p.age()
				for i, c := range want {
					now, _ := p.classes[i].stats()
					if now < c.idle-c.low || now > c.idle-max(0, c.low-1) {
						t.Fatalf("%d of %d blocks are left, of which %d were not needed", now, c.idle, c.low)
					}
					c.idle, c.low = now, now
				}
			case k < 2+50 && len(held) > 0:
				for b, i := range held { // any
					b.Unref()
					want[i].idle++
					delete(held, b)
					break
				}
			case len(held) < 60:
				n := 1 + r.IntN(4096)
				i := classIndex(n)
				c := want[i]
				if c == nil {
					c = &counted{}
					want[i] = c
				}
				if c.idle == 0 {
					misses++
				} else {
					c.idle--
					c.low = min(c.low, c.idle)
				}
				held[p.Get(n)] = i
			}
			compareCounts(t, p, want, misses)
		}
	}
}

func compareCounts(t *testing.T, p *Pool, want map[int]*counted, misses uint64) {
	t.Helper()
	sum := PoolStats{Misses: misses}
	for i, c := range want {
		sum.Idle += c.idle
		sum.IdleBytes += int64(c.idle) * int64(classSize(i))
	}
	if got := p.Stats(); got != sum {
		t.Fatalf("the pool has %+v, its classes add up to %+v", got, sum)
	}
	if n := p.reserved.Load(); n < sum.IdleBytes {
		t.Fatalf("%d bytes are reserved for %d", n, sum.IdleBytes)
	}
}

// TestAgingKeepsLimit: whatever comes between looks, the pool keeps no more than its limit.
func TestAgingKeepsLimit(t *testing.T) {
	keeping(t)
	r := rand.New(rand.NewPCG(7, 8))
	const most = 40_000
	p := NewPool(most)
	var held []*Buffer
	for range 50_000 {
		switch k := r.IntN(100); {
		case k == 0:
			p.age()
		case k < 50 && len(held) > 0:
			i := r.IntN(len(held))
			held[i].Unref()
			held = append(held[:i], held[i+1:]...)
		default:
			held = append(held, p.Get(1+r.IntN(3000)))
		}
		if s := p.Stats(); s.IdleBytes > p.reserved.Load() || p.reserved.Load() > most {
			t.Fatalf("%+v with %d of %d bytes reserved", s, p.reserved.Load(), most)
		}
	}
}

// TestAgingBesideOthers: goroutines take, stamp and release blocks while the pool is looked at, trimmed
// and closed. It goes by the classes, which keep blocks under the race detector, too.
func TestAgingBesideOthers(t *testing.T) {
	p := NewPool(1 << 20)
	var users, lookers sync.WaitGroup
	end := make(chan struct{})
	for id := range 4 {
		users.Go(func() {
			r := rand.New(rand.NewPCG(uint64(id), 9))
			for range 3000 {
				stampBlock(t, &p.classes[classIndex(64<<r.IntN(4))], id)
			}
		})
	}
	for range 2 {
		lookers.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
					p.age()
				}
			}
		})
	}
	users.Wait()
	p.Close()
	close(end)
	lookers.Wait()
	if s := p.Stats(); s.Idle != 0 || p.reserved.Load() != 0 {
		t.Errorf("%+v and %d bytes reserved of a closed pool", s, p.reserved.Load())
	}
}

func stampBlock(t *testing.T, c *class, id int) {
	b := c.pop()
	if b == nil {
		b, _ = c.claimed(nil, nil)
	}
	b.n = c.size
	mem := c.block(b)
	for i := range mem {
		mem[i] = byte(id)
	}
	runtime.Gosched()
	for _, v := range mem {
		if v != byte(id) {
			t.Errorf("goroutine %d sees another's bytes", id)
			return
		}
	}
	if !c.fillSlot(b) {
		c.push(b)
	}
}

// TestPoolCloseAsItLooks: Close at the moment of a look, from several goroutines, waits for it; nothing
// comes after it.
func TestPoolCloseAsItLooks(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			p := NewPool(1 << 20)
			c := &p.classes[3]
			for range 3 {
				b, _ := c.claimed(nil, nil)
				c.push(b)
			}
			for k := range 3 {
				go func() {
					time.Sleep(interval * time.Duration(1+k/2))
					p.Close()
				}()
			}
			time.Sleep(interval)
			b, _ := c.claimed(nil, nil)
			c.push(b)
			synctest.Wait()
			if s := p.Stats(); p.ager.armed.Load() && !p.ager.closed.Load() || s.Idle != 0 {
				t.Fatalf("%+v, armed %v", s, p.ager.armed.Load())
			}
			time.Sleep(5 * interval)
		})
	}
}

// TestClosedPoolKeepsNothing: buffers may be taken and released after Close.
func TestClosedPoolKeepsNothing(t *testing.T) {
	p := NewPool(1 << 20)
	b := p.Get(1000)
	takeAll(p, 1000, 2000)
	p.Close()
	b.Unref()
	takeAll(p, 1000, 2000)
	if s := p.Stats(); s.Idle != 0 {
		t.Errorf("%+v", s)
	}
	p.Close()
}

// TestDroppedPoolIsCollected: the timer does not hold a pool that is not closed.
func TestDroppedPoolIsCollected(t *testing.T) {
	w := func() weak.Pointer[Pool] {
		p := NewPool(1 << 20)
		c := &p.classes[3]
		b, _ := c.claimed(nil, nil)
		c.push(b)
		return weak.Make(p)
	}()
	for range 10 {
		runtime.GC()
		if w.Value() == nil {
			return
		}
	}
	t.Error("the pool is still there")
}
