package rendezvous

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
)

func managerRecv(ctx context.Context, m *Manager, step int64, key string) chan answer {
	c := make(chan answer, 2)
	m.RecvLocal(ctx, step, key, func(t *core.Tensor, dead bool, err error) { c <- answer{t, dead, err} })
	return c
}

func wantSteps(t *testing.T, m *Manager, want int) {
	t.Helper()
	if got := m.Len(); got != want {
		t.Errorf("%d steps are known, want %d", got, want)
	}
}

func TestManagerRunFirst(t *testing.T) {
	m := NewManager(0)
	r := m.Find(5)
	if m.Find(5) != r || m.Find(6) == r {
		t.Error("a step has one rendezvous of its own")
	}
	if err := r.Initialize(task0); err != nil {
		t.Fatal(err)
	}
	mustSend(t, r, outKey, 1)
	wantValue(t, now(t, managerRecv(background, m, 5, outKey)), 1)
	m.Cleanup(5)
	m.Cleanup(6)
	m.Cleanup(7)
	wantSteps(t, m, 0)
}

func TestManagerAskedFirst(t *testing.T) {
	m := NewManager(0)
	c := managerRecv(background, m, 5, outKey)
	wantSteps(t, m, 1)
	r := m.Find(5)
	if err := r.Initialize(task0); err != nil {
		t.Fatal(err)
	}
	mustSend(t, r, outKey, 1)
	wantValue(t, now(t, c), 1)
	m.CleanupAll()
}

// TestManagerForgets: a step of which others only ask ends with their interest.
func TestManagerForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		first := managerRecv(ctx, m, 5, outKey)
		second := managerRecv(t.Context(), m, 5, hereKey)
		claimed := managerRecv(ctx, m, 6, outKey)
		m.Find(6)
		cancel()
		synctest.Wait()
		for _, c := range []chan answer{first, claimed} {
			if a := now(t, c); core.CodeOf(a.err) != core.Canceled {
				t.Errorf("cancelled receive: %v", a.err)
			}
		}
		wantWaiting(t, second)
		wantSteps(t, m, 2) // one is asked for, one was run
		m.CleanupAll()
		if a := now(t, second); core.CodeOf(a.err) != core.Aborted {
			t.Errorf("receive at the shutdown: %v", a.err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		managerRecv(ctx, m, 7, outKey)
		wantSteps(t, m, 1)
		cancel()
		synctest.Wait()
		wantSteps(t, m, 0)
	})
}

func TestManagerLosesPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(time.Minute)
		c := managerRecv(t.Context(), m, 5, outKey)
		time.Sleep(30 * time.Second)
		later := managerRecv(t.Context(), m, 5, outKey)
		time.Sleep(29 * time.Second)
		synctest.Wait()
		wantWaiting(t, c)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for _, c := range []chan answer{c, later} {
			a := now(t, c)
			if core.CodeOf(a.err) != core.Aborted || !strings.Contains(a.err.Error(), "Step 5 was asked for by another task but not run here within 1m0s") {
				t.Errorf("receive of a step that never runs: %v", a.err)
			}
		}
		wantSteps(t, m, 0)
	})
}

// TestManagerRunStopsTheClock: patience is only for steps that do not run.
func TestManagerRunStopsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewManager(time.Minute)
		c := managerRecv(t.Context(), m, 5, outKey)
		r := m.Find(5)
		if err := r.Initialize(task0); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		wantWaiting(t, c)
		mustSend(t, r, outKey, 1)
		wantValue(t, now(t, c), 1)
		m.Cleanup(5)
	})
}

func TestManagerAbort(t *testing.T) {
	m := NewManager(0)
	m.Abort(5, aborting) // not known: nothing to do
	wantSteps(t, m, 0)
	r := m.Find(5)
	c := managerRecv(background, m, 5, outKey)
	m.Abort(5, aborting)
	if a := now(t, c); core.CodeOf(a.err) != core.Aborted {
		t.Errorf("receive of an aborted step: %v", a.err)
	}
	if a := now(t, managerRecv(background, m, 5, outKey)); core.CodeOf(a.err) != core.Aborted {
		t.Errorf("receive after the abort: %v", a.err)
	}
	if m.Find(5) != r {
		t.Error("an aborted step is known until it is cleaned up")
	}
	m.Cleanup(5)
}

// TestManagerCleanupText: what TensorFlow's workers say at the end of a step.
func TestManagerCleanupText(t *testing.T) {
	m := NewManager(0)
	c, d := managerRecv(background, m, 5, outKey), managerRecv(background, m, 6, outKey)
	m.Cleanup(5)
	m.CleanupAll()
	for want, c := range map[string]chan answer{"Cleanup 5": c, "Shutdown": d} {
		if a := now(t, c); core.AsError(a.err).Message() != want {
			t.Errorf("receive at the end: %v, want %q", a.err, want)
		}
	}
}

// TestManagerRace has askers, a runner and cancellations meet at the same
// steps: every receive is answered once.
func TestManagerRace(t *testing.T) {
	m := NewManager(0)
	for step := range int64(200) {
		var wg sync.WaitGroup
		ctx, cancel := context.WithCancel(background)
		kept, dropped := make(chan answer, 2), make(chan answer, 2)
		wg.Go(func() {
			m.RecvLocal(ctx, step, hereKey, func(t *core.Tensor, d bool, e error) { dropped <- answer{t, d, e} })
		})
		wg.Go(cancel)
		wg.Go(func() {
			m.RecvLocal(background, step, outKey, func(t *core.Tensor, d bool, e error) { kept <- answer{t, d, e} })
		})
		wg.Go(func() {
			r := m.Find(step)
			if err := r.Initialize(task0); err != nil {
				t.Error(err)
			}
			if err := r.Send(outKey, core.Scalar(step), false); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		wantValue(t, <-kept, step)
		if a := <-dropped; core.CodeOf(a.err) != core.Canceled {
			t.Errorf("step %d: cancelled receive: %+v", step, a)
		}
		m.Cleanup(step)
	}
	wantSteps(t, m, 0)
}

// Release ends the attempt that is meant, not another one under its number.
func TestRelease(t *testing.T) {
	m := NewManager(0)
	old := m.Find(7)
	m.Cleanup(7)
	if !m.Release(7, old) {
		t.Error("Release of a step that is gone reports that something is left")
	}
	again := m.Find(7)
	if m.Release(7, old) || m.Len() != 1 {
		t.Error("Release has ended another attempt of the step")
	}
	if !m.Release(7, again) || m.Len() != 0 {
		t.Error("Release has left its step")
	}
}
