package lifecycle

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/serving/versions"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// fake is a model that knows whether it has been closed.
type fake struct {
	closed atomic.Bool
	open   *atomic.Int64
}

func (f *fake) Close() error {
	if f.closed.Swap(true) {
		panic("closed twice")
	}
	f.open.Add(-1)
	return nil
}

func places(n ...int64) map[int64]versions.Place {
	out := map[int64]versions.Place{}
	for _, v := range n {
		out[v] = versions.Place{Path: strconv.FormatInt(v, 10)}
	}
	return out
}

// TestSwapsUnderLoad changes versions a thousand times while many goroutines hold
// them: there is always one, and none that is held is closed.
func TestSwapsUnderLoad(t *testing.T) {
	var open atomic.Int64
	m := New(Config[*fake]{Load: func(context.Context, ID, string) (*fake, error) {
		open.Add(1)
		return &fake{open: &open}, nil
	}})
	m.Aspire("m", places(0))
	if err := m.Wait(t.Context(), func() bool { h := m.Latest("m"); defer release(h); return h != nil }); err != nil {
		t.Fatal(err)
	}
	var users sync.WaitGroup
	var end atomic.Bool
	for range 4 {
		users.Go(func() {
			for !end.Load() {
				h := m.Latest("m")
				if h == nil {
					t.Error("no version is there")
					return
				}
				if h.Model.closed.Load() {
					t.Error("a version that is held has been closed")
				}
				runtime.Gosched() // else goroutines wait for the ends of each other's time slices
				h.Release()
			}
		})
	}
	for n := int64(1); n <= 1000; n++ {
		m.Aspire("m", places(n))
		if n%10 == 0 {
			m.Wait(t.Context(), func() bool { return m.Status("m")[0].State == versions.Available })
		}
	}
	end.Store(true)
	users.Wait()
	m.Close()
	if n := open.Load(); n != 0 {
		t.Errorf("%d versions have not been closed", n)
	}
	if m.Latest("m") != nil {
		t.Error("a version is there after Close")
	}
}

func release(h *Handle[*fake]) {
	if h != nil {
		h.Release()
	}
}

// TestRetries: loading is tried again after the interval, as often as is said.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries []time.Time
		m := New(Config[*fake]{Retries: 2, Interval: time.Minute, Load: func(context.Context, ID, string) (*fake, error) {
			tries = append(tries, time.Now())
			return nil, errors.New("damaged")
		}})
		defer m.Close()
		start := time.Now()
		m.Aspire("m", places(1))
		m.Wait(t.Context(), func() bool { return m.Status("m")[0].State == versions.End })
		if len(tries) != 3 || tries[2].Sub(start) != 2*time.Minute || m.Status("m")[0].Err == nil {
			t.Errorf("%d tries, %v", len(tries), m.Status("m"))
		}
	})
}

// TestRetriesEndWithTheWish: a version that is no longer wanted is not tried again,
// and Close does not wait for the interval.
func TestRetriesEndWithTheWish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New(Config[*fake]{Retries: 5, Interval: time.Hour, Load: func(context.Context, ID, string) (*fake, error) {
			return nil, errors.New("damaged")
		}})
		start := time.Now()
		m.Aspire("m", places(1, 2))
		synctest.Wait()
		m.Aspire("m", places(2))
		m.Wait(t.Context(), func() bool { return m.Status("m")[1].State == versions.End })
		m.Close()
		if d := time.Since(start); d != 0 {
			t.Errorf("it took %v", d)
		}
	})
}

// TestLoadsOneByOne: no more versions are loaded at once than is said.
func TestLoadsOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most, open atomic.Int64
		m := New(Config[*fake]{Loads: 2, Load: func(context.Context, ID, string) (*fake, error) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			open.Add(1)
			return &fake{open: &open}, nil
		}})
		defer m.Close()
		m.Aspire("a", places(1, 2, 3))
		m.Aspire("b", places(1, 2, 3))
		m.Wait(t.Context(), func() bool { return open.Load() == 6 })
		if most.Load() != 2 {
			t.Errorf("%d at once", most.Load())
		}
	})
}

// TestDrains: an old version is closed when the last request gives it back.
func TestDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		m := New(Config[*fake]{Load: func(context.Context, ID, string) (*fake, error) { open.Add(1); return &fake{open: &open}, nil }})
		m.Aspire("m", places(1))
		synctest.Wait()
		h := m.Latest("m")
		m.Aspire("m", places(2))
		synctest.Wait()
		if s := m.Status("m")[1]; s.State != versions.Unloading || h.Model.closed.Load() {
			t.Errorf("version 1 is %v, closed: %v", s.State, h.Model.closed.Load())
		}
		old := h.Model
		h.Release()
		synctest.Wait()
		if s := m.Status("m")[1]; s.State != versions.End || !old.closed.Load() {
			t.Errorf("version 1 is %v, closed: %v", s.State, old.closed.Load())
		}
		m.Close()
	})
}

// TestPanicsAreErrors: a loader that panics is one that fails.
func TestPanicsAreErrors(t *testing.T) {
	m := New(Config[*fake]{Load: func(context.Context, ID, string) (*fake, error) { panic("bad") }})
	defer m.Close()
	m.Aspire("m", places(1))
	m.Wait(t.Context(), func() bool { return m.Status("m")[0].State == versions.End })
	if m.Status("m")[0].Err == nil {
		t.Error("no error")
	}
}

// TestReloads: a version that gets its variables later answers requests until it has been
// loaded with them, and stays when they are damaged.
func TestReloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		var damaged atomic.Bool
		m := New(Config[*fake]{Load: func(context.Context, ID, string) (*fake, error) {
			time.Sleep(time.Second)
			if damaged.Load() {
				return nil, errors.New("damaged")
			}
			open.Add(1)
			return &fake{open: &open}, nil
		}})
		aspire := func(p versions.Place) *fake {
			m.Aspire("m", map[int64]versions.Place{1: p})
			for range 20 {
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
				if h := m.Latest("m"); h != nil {
					h.Release()
				} else if !p.Partial {
					t.Fatal("the version has gone while it was loaded again")
				}
			}
			h := m.Latest("m")
			defer h.Release()
			return h.Model
		}
		first := aspire(versions.Place{Stamp: "a", Partial: true})
		damaged.Store(true)
		if got := aspire(versions.Place{Stamp: "b"}); got != first || got.closed.Load() || m.Status("m")[0].State != versions.Available {
			t.Errorf("after damaged files the version is another one, closed: %v, %v", got.closed.Load(), m.Status("m"))
		}
		damaged.Store(false)
		if got := aspire(versions.Place{Stamp: "c"}); got == first || !first.closed.Load() || open.Load() != 1 {
			t.Errorf("the version has not been replaced: %v, closed: %v, %d open", got != first, first.closed.Load(), open.Load())
		}
		m.Close()
		if open.Load() != 0 {
			t.Errorf("%d versions have not been closed", open.Load())
		}
	})
}
