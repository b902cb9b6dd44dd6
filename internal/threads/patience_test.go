package threads

import (
	"testing"
	"time"
)

// TestWaits: how long a worker looks for work follows from how long it was parked, within bounds.
func TestWaits(t *testing.T) {
	p := &patience{rounds: leastRounds}
	for range 20 {
		before := p.rounds
		if p.waited(shortPark / 2); p.rounds < before || p.rounds > mostRounds {
			t.Errorf("after a short wait %d rounds, before %d", p.rounds, before)
		}
	}
	if p.rounds != mostRounds {
		t.Errorf("after many short waits %d rounds", p.rounds)
	}
	for range 40 {
		p.waited(2 * shortPark)
	}
	if p.rounds != leastRounds {
		t.Errorf("after many long waits %d rounds", p.rounds)
	}
}

// TestGivesUp: a worker that never finds work while it looks, although it is soon woken each time, spends little
// of the processor. One that finds work now and then goes on as before.
func TestGivesUp(t *testing.T) {
	spent := func(waits, everyNth int) (rounds int) {
		p := &patience{rounds: leastRounds}
		for i := range waits {
			if rounds += p.rounds; everyNth > 0 && i%everyNth == 0 {
				p.found()
				continue
			}
			p.missed()
			p.waited(shortPark / 2)
		}
		return rounds
	}
	const waits = 10 * heldWaits
	if got := spent(waits, 0); got > 2*waits*leastRounds {
		t.Errorf("in vain: %d rounds in %d looks", got, waits)
	}
	if got := spent(waits, mostMisses/2); got < waits*mostRounds*9/10 {
		t.Errorf("with success now and then: %d rounds in %d looks", got, waits)
	}
}

// TestCallersWait has callers park for short and for long.
func TestCallersWait(t *testing.T) {
	var w waits
	w.rounds.Store(leastRounds)
	for range 20 {
		w.parked(50 * time.Microsecond)
	}
	if got := w.rounds.Load(); got != mostWaits {
		t.Errorf("after short parks callers look for %d rounds, want %d", got, mostWaits)
	}
	for range 40 {
		w.parked(4 * time.Millisecond)
	}
	if got := w.rounds.Load(); got != leastRounds {
		t.Errorf("after long parks callers look for %d rounds, want %d", got, leastRounds)
	}
}
