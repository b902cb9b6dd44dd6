package queue

import (
	"container/list"
	"context"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Line guards a state that requests wait for: staging areas, accumulators.
// Waiting costs no goroutine. Its zero value is ready for use.
type Line struct {
	// InOrder serves attempts in the order in which they came.
	InOrder bool

	mu      sync.Mutex
	waiting list.List // of *waiter
}

type waiter struct {
	try  func() (served bool, err error)
	done func(error)
	err  error
	at   *list.Element
	stop func() bool
}

// Wait calls try, with the line's lock, now and after each change of the state,
// until it serves the request or fails; then done is called without the lock.
// When ctx ends first, done hears that the operation named what was cancelled.
func (l *Line) Wait(ctx context.Context, what string, try func() (bool, error), done func(error)) {
	w := &waiter{try: try, done: done}
	if ctx.Err() != nil {
		done(l.cancelled(what, ctx))
		return
	}
	l.mu.Lock()
	w.at = l.waiting.PushBack(w)
	served := l.serve()
	if w.at != nil && ctx.Done() != nil {
		w.stop = context.AfterFunc(ctx, func() { l.cancel(w, l.cancelled(what, ctx)) })
	}
	l.mu.Unlock()
	tell(served)
}

func (l *Line) cancelled(what string, ctx context.Context) error {
	return &core.Error{Code: core.Canceled, Msg: what + " operation was cancelled", Err: context.Cause(ctx), Derived: true}
}

// Change calls f with the line's lock and then serves the attempts that can go on.
func (l *Line) Change(f func() error) error {
	served, err := l.change(f)
	tell(served)
	return err
}

// change gives the lock up also where f panics, as it does for lack of memory: those
// who come later must not wait for ever.
func (l *Line) change(f func() error) (served []*waiter, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = f()
	return l.serve(), err
}

// attempt calls try, whose panic is an error of this request alone: the others, and the
// caller that serves them, go on.
func (w *waiter) attempt() (served bool, err error) {
	defer core.Recover(&err, "what a request waits for")
	return w.try()
}

// serve tries the waiting attempts until none can go on. The lock is held.
func (l *Line) serve() (served []*waiter) {
	for changed := true; changed; {
		changed = false
		for e := l.waiting.Front(); e != nil; {
			w := e.Value.(*waiter)
			e = e.Next()
			ok, err := w.attempt()
			if !ok && err == nil {
				if l.InOrder {
					return served
				}
				continue
			}
			w.err, changed = err, true
			l.leave(w)
			served = append(served, w)
		}
	}
	return served
}

func (l *Line) leave(w *waiter) {
	l.waiting.Remove(w.at)
	w.at = nil
}

func (l *Line) cancel(w *waiter, err error) {
	l.mu.Lock()
	if w.at == nil {
		l.mu.Unlock()
		return
	}
	l.leave(w)
	w.err = err
	served := append(l.serve(), w)
	l.mu.Unlock()
	tell(served)
}

// Close answers all waiting attempts with err: what they wait for will not come.
func (l *Line) Close(err error) {
	l.mu.Lock()
	var all []*waiter
	for e := l.waiting.Front(); e != nil; e = l.waiting.Front() {
		w := e.Value.(*waiter)
		l.leave(w)
		w.err = err
		all = append(all, w)
	}
	l.mu.Unlock()
	tell(all)
}

func tell(served []*waiter) {
	for _, w := range served {
		if w.stop != nil {
			w.stop()
		}
		w.done(w.err)
	}
}
