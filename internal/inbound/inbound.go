// Package inbound bounds the memory of messages that have come in part.
//
// A message is read as a whole before it is looked at: what has come of it waits in
// memory for the rest. A peer that begins many large messages and ends none would fill
// the memory of the process. So it is with the bodies of requests by HTTP.
//
// All connections of the process that serve peers count such bytes in one ledger.
// Together they may have [Most] of them. Beyond that the connection with the most
// bytes is ended, whichever asks for more: a peer with a short message is not refused
// for the sake of one with a long one.
//
// Lock order: the ledger's lock may be taken while that of a [Conn] is held. No lock
// is held when a connection is ended.
package inbound

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/gorge-tf/gorge/internal/memory"
)

const (
	// stride is how many bytes come between two questions for room.
	stride = 1 << 20
	// share divides the memory limit: a message that is decoded takes its size again.
	share = 2
	// notable divides Most: below that unfinished messages are not what fills the
	// memory, and none is ended for it.
	notable = 4
)

// Most returns how many bytes of unfinished messages there may be: half of what the
// process may use.
func Most() int64 { return memory.Most() / share }

// MaxMessage returns how long a message may be, at most n bytes. A longer one would
// never be whole.
func MaxMessage(n int) int { return int(min(int64(n), Most(), math.MaxInt32)) }

// ErrCrowded is wrapped by the errors of connections that have been ended.
var ErrCrowded = errors.New("messages that have come in part must fit into half of the memory limit")

// A ledger counts what the open connections hold.
type ledger struct {
	mu    sync.Mutex
	total int64 // of all that are open
	open  map[*Holder]struct{}
}

var process = &ledger{open: map[*Holder]struct{}{}}

// A Holder counts the bytes of unfinished messages of one connection.
type Holder struct {
	ledger *ledger
	end    func()

	// Guarded by ledger.mu:
	held  int64
	fresh int64 // what came since room was asked for
	ended error // why the connection was ended
}

// Open begins to count a connection, until Close. End ends the connection soon and
// does not wait; it is called at most once.
func Open(end func()) *Holder { return process.add(end) }

// Held returns how many bytes of unfinished messages the process has.
func Held() int64 {
	process.mu.Lock()
	defer process.mu.Unlock()
	return process.total
}

func (l *ledger) add(end func()) *Holder {
	h := &Holder{ledger: l, end: end}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[h] = struct{}{}
	return h
}

// Close ends the counting.
func (h *Holder) Close() {
	h.ledger.mu.Lock()
	defer h.ledger.mu.Unlock()
	h.ledger.remove(h)
}

// remove takes what h holds out of the sum; l.mu is held.
func (l *ledger) remove(h *Holder) {
	if _, ok := l.open[h]; ok {
		delete(l.open, h)
		l.total -= h.held
	}
}

// Take counts n bytes more. An error says that the connection has been ended.
func (h *Holder) Take(n int64) error {
	ask, err := h.count(n)
	if ask {
		h.ledger.makeRoom()
		_, err = h.count(0)
	}
	return err
}

// Give counts n bytes less: their message is whole, or will never be.
func (h *Holder) Give(n int64) { _, _ = h.count(-n) } // which needs no room

// count adds n bytes and says whether to ask for room.
func (h *Holder) count(n int64) (ask bool, err error) {
	l := h.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.open[h]; !ok {
		return false, h.ended
	}
	h.held += n
	l.total += n
	if n <= 0 {
		return false, h.ended
	}
	if h.fresh += n; h.fresh < stride && l.total <= Most() {
		return false, nil
	}
	h.fresh = 0
	return true, nil
}

// makeRoom ends the connection that holds the most, as often as there is too much.
func (l *ledger) makeRoom() {
	for l.crowded() {
		if end := l.endLargest(); end == nil {
			return
		} else {
			end()
		}
		if l.fits() {
			return
		}
	}
}

// fits reports whether the sum is within its bound.
func (l *ledger) fits() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total <= Most()
}

// crowded reports whether there is too much: beyond the bound, or within it while the
// process has no memory for more.
func (l *ledger) crowded() bool {
	l.mu.Lock()
	total := l.total
	l.mu.Unlock()
	return total > Most() || total > Most()/notable && memory.TryRoom(stride) != nil
}

// endLargest takes the holder of the most bytes out of the ledger and returns what ends
// its connection; nil: there is none.
func (l *ledger) endLargest() func() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var most *Holder
	for h := range l.open {
		if most == nil || h.held > most.held {
			most = h
		}
	}
	if most == nil {
		return nil
	}
	l.remove(most)
	most.ended = fmt.Errorf("%w, %d bytes; this connection had the most of them, %d", ErrCrowded, Most(), most.held)
	return most.end
}
