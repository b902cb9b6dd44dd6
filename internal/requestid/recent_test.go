package requestid

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

func TestTrack(t *testing.T) {
	r := NewRecent(3)
	for i, step := range []struct {
		id    int64
		twice bool
	}{
		{1, false}, {1, true}, {2, false}, {3, false}, {1, true},
		{4, false}, // 1 is forgotten
		{1, false}, // and with it 2
		{3, true}, {2, false}, {4, true},
		{0, false}, {0, false}, // not tracked
		{-5, false}, {-5, true},
	} {
		err := r.Track(step.id, "RunStep (Master)")
		if twice := err != nil; twice != step.twice {
			t.Fatalf("step %d: Track(%d) = %v, want an error: %v", i, step.id, err, step.twice)
		}
		if err != nil && !errors.Is(err, &core.Error{Code: core.Aborted}) {
			t.Errorf("step %d: %v, want an Aborted error", i, err)
		}
	}
}

func TestTrackText(t *testing.T) {
	r := NewRecent(1)
	r.Track(7, "")
	want := "The same RunGraph (Worker) request was received twice. Its id is 7"
	if got := core.AsError(r.Track(7, "RunGraph (Worker)")).Message(); got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

// TestTrackConcurrently: exactly one of many calls with the same number gets through.
func TestTrackConcurrently(t *testing.T) {
	r := NewRecent(1000)
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for id := int64(1); id <= 500; id++ {
				if r.Track(id, "x") == nil {
					passed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if passed.Load() != 500 {
		t.Errorf("%d requests passed, want 500", passed.Load())
	}
}

func TestNew(t *testing.T) {
	seen := map[int64]bool{}
	for range 1000 {
		id := New()
		if id == 0 || seen[id] {
			t.Fatalf("New() = %d, zero or a number given before", id)
		}
		seen[id] = true
	}
}
