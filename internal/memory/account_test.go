package memory

import (
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// share sets shares for a test, of a limit of 100 MB more than is in use.
func share(t *testing.T, session, step int64) {
	t.Helper()
	full(t, 100<<20)
	_, limit := Usage()
	a, b := SetShares(float64(session)/float64(limit), float64(step)/float64(limit))
	t.Cleanup(func() { SetShares(a, b) })
}

func TestSessionStaysWithinItsShare(t *testing.T) {
	share(t, 20<<20, 0)
	p, q := NewSessionPool(1<<30, "session one"), NewSessionPool(1<<30, "session two")
	b, err := p.GetFor(1, 10<<20)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.NewFor(2, 15<<20)
	var x *Exhausted
	if !errors.As(err, &x) || x.Of != "session one" || !strings.Contains(err.Error(), "step 1 of session one 10485760") {
		t.Errorf("a session that takes more than its share gets %v", err)
	}
	if _, err := q.GetFor(1, 15<<20); err != nil {
		t.Errorf("another session: %v", err)
	}
	b.Unref()
	if _, err := p.NewFor(2, 15<<20); err != nil {
		t.Errorf("after a release: %v", err)
	}
}

func TestStepStaysWithinItsShare(t *testing.T) {
	share(t, 0, 20<<20)
	p := NewSessionPool(1<<30, "session one")
	b, err := p.GetFor(1, 15<<20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.GetFor(1, 15<<20); err == nil || !strings.Contains(err.Error(), "memory of step 1 of session one") {
		t.Errorf("a step that takes more than its share gets %v", err)
	}
	c, err := p.GetFor(2, 15<<20)
	if err != nil {
		t.Errorf("another step: %v", err)
	}
	c.Unref()
	b.Unref()
	if n := p.account.used.Load(); n != 0 {
		t.Errorf("%d bytes are still claimed", n)
	}
	if b, err = p.GetFor(3, 15<<20); err != nil || p.account.of(3).used.Load() == 0 {
		t.Errorf("memory that is used again is not claimed: %v", err)
	}
	b.Unref()
}

func TestEndedStepLeavesToItsSession(t *testing.T) {
	p := NewSessionPool(1<<30, "session one")
	b, err := p.GetFor(7, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	p.EndStep(7)
	if list := p.account.report(nil); len(list) != 1 || list[0].Bytes != 1<<20 {
		t.Errorf("after the step memory is held by %v", list)
	}
	b.Unref()
	if n := p.account.used.Load(); n != 0 {
		t.Errorf("%d bytes are still claimed", n)
	}
}

func TestEscapedMemoryIsTheProgram(t *testing.T) {
	p := NewSessionPool(1<<30, "session one")
	b, err := p.NewFor(7, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	b.Escape()
	if n := p.account.used.Load(); n != 0 {
		t.Errorf("%d bytes are still claimed", n)
	}
}

func TestCollectedMemoryIsNotClaimed(t *testing.T) {
	p := NewSessionPool(1<<30, "session one")
	for range 3 {
		if _, err := p.GetFor(7, 1<<20); err != nil { // and is dropped
			t.Fatal(err)
		}
	}
	for range 1000 {
		runtime.GC()
		if p.account.used.Load() == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d bytes of garbage are still claimed", p.account.used.Load())
}

// TestGarbageDoesNotFillAShare: memory that was dropped without a release does not stand
// against a share, whenever it is collected.
func TestGarbageDoesNotFillAShare(t *testing.T) {
	before := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	share(t, 20<<20, 20<<20)
	p := NewSessionPool(1<<30, "session one")
	for i := range 12 {
		if _, err := p.GetFor(1, 5<<20); err != nil { // and is dropped
			t.Fatalf("block %d: %v", i, err)
		}
	}
}

// TestTinyShareIsAShare: 0 stands for all of the limit, and what is close to it does not.
func TestTinyShareIsAShare(t *testing.T) {
	session, step := SetShares(1e-4, math.NaN())
	tiny, none := SetShares(session, step)
	if tiny != 0.001 || none != 0 {
		t.Errorf("a share of a ten-thousandth is %v, one that is no number %v", tiny, none)
	}
}
