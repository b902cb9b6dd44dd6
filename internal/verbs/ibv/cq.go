//go:build rdma && cgo && linux

package ibv

/*
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gorge-tf/gorge/internal/verbs"
)

// A completionQueue has a completion channel of its own.
type completionQueue struct {
	dev    *device
	ch     *C.struct_ibv_comp_channel
	events *waiter

	mu      sync.Mutex
	cq      *C.struct_ibv_cq // nil when closed
	wc      [64]C.struct_gorge_wc
	pending []verbs.Completion // read when a queue pair was destroyed, of others
}

// CreateCQ returns a completion queue that holds at least the given number of
// entries.
func (d *device) CreateCQ(entries int) (verbs.CompletionQueue, error) {
	if entries <= 0 || entries > d.attr.MaxCQE {
		return nil, fmt.Errorf("ibv: a completion queue of %s has 1 to %d entries, got %d", d.attr.Name, d.attr.MaxCQE, entries)
	}
	if err := d.enter(); err != nil {
		return nil, err
	}
	q := &completionQueue{dev: d}
	if err := q.setUp(entries); err != nil {
		return nil, errors.Join(err, q.release())
	}
	return q, nil
}

func (q *completionQueue) setUp(entries int) (err error) {
	if q.ch, err = C.ibv_create_comp_channel(q.dev.ctx); q.ch == nil {
		return fmt.Errorf("ibv: ibv_create_comp_channel: %w", err)
	}
	if q.events, err = newWaiter(int(q.ch.fd), "completions"); err != nil {
		return err
	}
	if q.cq, err = C.ibv_create_cq(q.dev.ctx, C.int(entries), nil, q.ch, 0); q.cq == nil {
		return fmt.Errorf("ibv: ibv_create_cq of %d entries: %w", entries, err)
	}
	return nil
}

// Poll takes completions.
func (q *completionQueue) Poll(wc []verbs.Completion) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.cq == nil {
		return 0, verbs.ErrClosed
	}
	if len(q.pending) > 0 {
		n := copy(wc, q.pending)
		q.pending = q.pending[:copy(q.pending, q.pending[n:])]
		return n, nil
	}
	return q.read(wc)
}

// read takes completions from the device; the caller holds the lock. Those of
// queue pairs that are no more are left out.
func (q *completionQueue) read(wc []verbs.Completion) (int, error) {
	for {
		n := C.gorge_poll(q.cq, C.int(min(len(wc), len(q.wc))), &q.wc[0])
		if n < 0 {
			return 0, fmt.Errorf("ibv: ibv_poll_cq of %s fails with %d", q.dev.attr.Name, int(n))
		}
		kept := 0
		for i := range q.wc[:n] {
			if q.translate(&q.wc[i], &wc[kept]) {
				kept++
			}
		}
		if kept > 0 || n == 0 {
			return kept, nil
		}
	}
}

// translate makes a completion of the device one of ours, and reports whether it
// is of a queue pair that exists.
func (q *completionQueue) translate(from *C.struct_gorge_wc, to *verbs.Completion) bool {
	p := q.dev.pair(uint32(from.qpn))
	if p == nil {
		return false
	}
	*to = verbs.Completion{Status: verbs.Status(from.status), QPN: p.num}
	if uint64(from.id)&recvBit != 0 {
		return p.received(uint64(from.id)&^recvBit, from, to)
	}
	return p.sent(uint64(from.id), to)
}

// purge drops the completions of a queue pair that is no more and is not known to
// the device any more: its number may be used again.
func (q *completionQueue) purge(qpn uint32) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	kept := q.pending[:0]
	for _, w := range q.pending {
		if w.QPN != qpn {
			kept = append(kept, w)
		}
	}
	q.pending = kept
	for q.cq != nil {
		var wc [64]verbs.Completion
		n, err := q.read(wc[:])
		if n == 0 || err != nil {
			return err
		}
		q.pending = append(q.pending, wc[:n]...)
	}
	return nil
}

// Arm asks for an event at the next completion.
func (q *completionQueue) Arm() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.cq == nil {
		return verbs.ErrClosed
	}
	return errno("ibv_req_notify_cq", C.gorge_arm(q.cq))
}

// Wait waits for an event.
func (q *completionQueue) Wait() error {
	return q.events.wait("ibv_get_cq_event", func() C.int { return C.gorge_cq_event(q.ch) })
}

// Close ends all waiting. The queue pairs of the queue must have been destroyed.
func (q *completionQueue) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.cq == nil {
		return nil
	}
	return q.release()
}

// release gives back what setUp has got so far. A wait for events does not
// hold the lock.
func (q *completionQueue) release() error {
	var errs []error
	if q.events != nil {
		errs = append(errs, q.events.close())
	}
	if q.cq != nil {
		errs = append(errs, gone(errno("ibv_destroy_cq", C.ibv_destroy_cq(q.cq))))
	}
	if q.ch != nil {
		errs = append(errs, errno("ibv_destroy_comp_channel", C.ibv_destroy_comp_channel(q.ch)))
	}
	q.cq, q.ch = nil, nil
	q.dev.leave()
	return errors.Join(errs...)
}
