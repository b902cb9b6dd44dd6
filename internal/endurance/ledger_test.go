package endurance

import (
	"fmt"
	"testing"
)

// A ledger bounds the value of a counter that one client adds to. Updates whose
// outcome is not known may still be made later, but never in another life of the
// parameter server. Saves go to files of their own, so that only those count that
// were acknowledged.
type ledger struct {
	low, high           int64 // the counter's bounds
	savedLow, savedHigh int64 // those of what the last acknowledged checkpoint has
	acked, unsure       int64 // updates in all
	late                bool  // a restore of this life may still be made later
}

// update notes the outcome of an update.
func (l *ledger) update(err error) {
	l.high++
	if err != nil {
		l.unsure++
		return
	}
	l.low++
	l.acked++
}

// read compares a value with the bounds. What has been read stays, unless an older
// value may be restored later.
func (l *ledger) read(v int64) error {
	low := l.low
	if l.late {
		low = l.savedLow
	}
	if v < low || v > l.high {
		return fmt.Errorf("the counter is %d, want %d to %d: an update was lost or made twice", v, low, l.high)
	}
	l.low = v
	return nil
}

// save notes an acknowledged save, before which the counter was at least low.
func (l *ledger) save(low int64) { l.savedLow, l.savedHigh = low, l.high }

// restore notes the outcome of a restore after the server's loss of the counter.
func (l *ledger) restore(err error) {
	l.low, l.high = l.savedLow, l.savedHigh
	l.late = err != nil
}

// A check that cannot fail is none.
func TestLedgerFindsFaults(t *testing.T) {
	l := &ledger{}
	l.update(nil)
	l.update(fmt.Errorf("no answer"))
	for v, ok := range map[int64]bool{0: false, 1: true, 2: true, 3: false} {
		if c := *l; (c.read(v) == nil) != ok {
			t.Errorf("one update acknowledged, one unsure: is %d a possible value? got %v, want %v", v, !ok, ok)
		}
	}
	l.save(2)
	l.update(nil)
	l.restore(nil)
	if c := *l; c.read(3) == nil {
		t.Error("an update made for another life of the server is not noticed")
	}
}
