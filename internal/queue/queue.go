package queue

import (
	"container/list"
	"context"
	"sync"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Queue is one queue. It is safe for concurrent use.
type Queue struct {
	spec Spec

	mu       sync.Mutex
	store    store
	closed   bool
	enqueues list.List // of *attempt: enqueues and closes
	dequeues list.List // of *attempt
}

var _ = resource.Declare[*Queue]("tensorflow::QueueInterface")

// New returns an empty queue.
func New(s Spec) (*Queue, error) {
	s.normalize()
	if err := s.check(); err != nil {
		return nil, err
	}
	return &Queue{spec: s, store: newStore(&s)}, nil
}

// An attempt is a request, served or waiting.
type attempt struct {
	kind  kind
	want  int     // elements that are still to be moved
	batch Tuple   // what is enqueued
	taken []Tuple // what a dequeue has got so far
	some  bool    // a dequeue is content with fewer once the queue is closed

	result Tuple
	err    error
	done   func(Tuple, error)
	at     *list.Element // where it waits; nil once it is finished
	stop   func() bool   // ends the watch over the context
}

type kind uint8

const (
	enqueueOne kind = iota
	enqueueMany
	dequeueOne
	dequeueMany
	closing
)

// progress says what a try of an attempt has come to.
type progress uint8

const (
	stuck progress = iota
	moved
	complete
)

// submit lets a wait in line, serves the attempts that can go on, and watches ctx if a
// has to wait.
func (q *Queue) submit(ctx context.Context, a *attempt) {
	if ctx.Err() != nil && a.kind != closing {
		a.err = cancelled(a, context.Cause(ctx))
		a.finish()
		return
	}
	q.mu.Lock()
	a.at = q.line(a).PushBack(a)
	served := q.serve()
	if a.at != nil && ctx.Done() != nil {
		a.stop = context.AfterFunc(ctx, func() { q.cancel(a, context.Cause(ctx)) })
	}
	q.mu.Unlock()
	finish(served)
}

// line returns where a waits.
func (q *Queue) line(a *attempt) *list.List {
	if a.kind == dequeueOne || a.kind == dequeueMany {
		return &q.dequeues
	}
	return &q.enqueues
}

// serve tries attempts until nothing moves, and returns those that it has
// finished. The lock is held.
func (q *Queue) serve() (finished []*attempt) {
	for changed := true; changed; {
		changed = q.serveLine(&q.enqueues, &finished)
		changed = q.serveLine(&q.dequeues, &finished) || changed
	}
	return finished
}

// serveLine tries the first of a line, and those behind it as long as the first
// one is served.
func (q *Queue) serveLine(line *list.List, finished *[]*attempt) (changed bool) {
	for e := line.Front(); e != nil; e = line.Front() {
		a := e.Value.(*attempt)
		switch q.try(a) {
		case stuck:
			return changed
		case moved:
			return true
		}
		q.leave(a)
		*finished = append(*finished, a)
		changed = true
	}
	return changed
}

func (q *Queue) try(a *attempt) progress {
	switch a.kind {
	case enqueueOne:
		return q.tryEnqueue(a)
	case enqueueMany:
		return q.tryEnqueueMany(a)
	case dequeueOne:
		return q.tryDequeue(a)
	case dequeueMany:
		return q.tryDequeueMany(a)
	}
	return q.tryClose(a)
}

func (q *Queue) leave(a *attempt) {
	q.line(a).Remove(a.at)
	a.at = nil
}

// finish tells the attempts that have been served.
func finish(served []*attempt) {
	for _, a := range served {
		if a.stop != nil {
			a.stop()
		}
		a.finish()
	}
}

// finish gives up the tensors of which the queue has copies, or which it has not taken, and
// says what a has come to.
func (a *attempt) finish() {
	if a.kind == enqueueMany || a.err != nil {
		release(a.batch)
	}
	a.done(a.result, a.err)
}

// cancel ends a, unless it is finished. What it has taken goes back, which may
// serve others.
func (q *Queue) cancel(a *attempt, cause error) {
	q.mu.Lock()
	if a.at == nil {
		q.mu.Unlock()
		return
	}
	q.leave(a)
	q.store.putBack(a.taken)
	a.taken, a.err = nil, cancelled(a, cause)
	served := append(q.serve(), a)
	q.mu.Unlock()
	finish(served)
}

// cancelled is what TensorFlow reports. The end of a step cancels what waits
// in it, so this error is not the one that explains a step's failure.
func cancelled(a *attempt, cause error) error {
	what := map[kind]string{dequeueOne: "Dequeue", dequeueMany: "Dequeue", closing: "Close"}[a.kind]
	if what == "" {
		what = "Enqueue"
	}
	return &core.Error{Code: core.Canceled, Msg: what + " operation was cancelled", Err: cause, Derived: cause != nil}
}

// CloseQueue lets nothing more in once the enqueues that wait are done, or,
// with cancelPending, at once: then those fail. done is called when the queue
// is closed.
func (q *Queue) CloseQueue(ctx context.Context, cancelPending bool, done func(error)) {
	if !cancelPending {
		q.submit(ctx, &attempt{kind: closing, done: func(_ Tuple, err error) { done(err) }})
		return
	}
	q.cancelPending()
	done(nil)
}

func (q *Queue) cancelPending() {
	q.mu.Lock()
	q.closed = true
	var failed []*attempt
	for e := q.enqueues.Front(); e != nil; {
		a := e.Value.(*attempt)
		e = e.Next()
		q.leave(a)
		a.err = cancelled(a, nil)
		failed = append(failed, a)
	}
	served := append(failed, q.serve()...)
	q.mu.Unlock()
	finish(served)
}

func (q *Queue) tryClose(a *attempt) progress {
	if q.closed {
		a.err = core.Errorf(core.Canceled, "Queue '%s' is already closed.", q.spec.Name)
	}
	q.closed = true
	return complete
}

// Close ends a queue that cannot be found any more: attempts that wait are told that it
// is closed.
func (q *Queue) Close() { q.cancelPending() }

// Closed reports whether the queue lets nothing more in.
func (q *Queue) Closed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// HeldMemory tells, for reports, what the elements hold.
func (q *Queue) HeldMemory() (kind string, bytes int) {
	if q.mu.TryLock() {
		defer q.mu.Unlock()
		q.store.each(func(e Tuple) {
			for _, t := range e {
				bytes += t.HeldBytes()
			}
		})
	}
	return "queues", bytes
}

// Size returns the number of elements that are in the queue.
func (q *Queue) Size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.store.len()
}

// Types returns the types of the components, which the caller must not change.
func (q *Queue) Types() []core.DType { return q.spec.Types }
