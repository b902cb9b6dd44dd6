package step

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// Plans holds what is made once, by key, for all callers that ask for it. A caller
// waits no longer than its own context; the making ends when nothing waits for it any
// more. What could not be made is tried again when it is asked for again.
type Plans[T any] struct {
	mu   sync.RWMutex
	made map[string]*plan[T]
}

// plan is one thing, made or in the making.
type plan[T any] struct {
	ready  atomic.Bool // v is set for good
	done   chan struct{}
	v      T
	err    error
	cancel context.CancelCauseFunc

	waiting int // callers, guarded by Plans.mu
}

// A Maker makes the things of Plans.
type Maker[T any] struct {
	// Within ends all making.
	Within context.Context
	// Working counts what is being made; nil: nothing waits for its end.
	Working *sync.WaitGroup
	Make    func(context.Context) (T, error)
}

// Get returns the thing of a key. It is made on a goroutine of its own.
func (p *Plans[T]) Get(ctx context.Context, key []byte, m Maker[T]) (T, error) {
	p.mu.RLock()
	e := p.made[string(key)]
	p.mu.RUnlock()
	if e != nil && e.ready.Load() {
		return e.v, nil
	}
	e = p.join(string(key), m)
	select {
	case <-e.done:
		p.leave(string(key), e, nil)
		return e.v, e.err
	case <-ctx.Done():
		p.leave(string(key), e, context.Cause(ctx))
		var none T
		return none, graph.Ended(ctx, "Run call")
	}
}

// join counts a waiter for a key, for which the making begins
// unless it has begun.
func (p *Plans[T]) join(key string, m Maker[T]) *plan[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.made[key]
	if e == nil {
		e = p.begin(key, m)
	}
	e.waiting++
	return e
}

func (p *Plans[T]) begin(key string, m Maker[T]) *plan[T] {
	e := &plan[T]{done: make(chan struct{})}
	var ctx context.Context
	ctx, e.cancel = context.WithCancelCause(m.Within)
	if p.made == nil {
		p.made = map[string]*plan[T]{}
	}
	p.made[key] = e
	if m.Working != nil {
		m.Working.Add(1)
	}
	go func() {
		if m.Working != nil {
			defer m.Working.Done()
		}
		defer close(e.done)
		defer e.cancel(nil)
		e.v, e.err = m.makeGuarded(ctx)
		if e.err != nil {
			p.forget(key, e)
			return
		}
		e.ready.Store(true)
	}()
	return e
}

// makeGuarded is Make that turns a panic into an error.
func (m *Maker[T]) makeGuarded(ctx context.Context) (v T, err error) {
	defer core.Recover(&err, "the planning of a graph")
	return m.Make(ctx)
}

// leave counts a caller that does not wait any more. The last one ends the making, if
// it is not over, and nothing else waits for its result.
func (p *Plans[T]) leave(key string, e *plan[T], why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e.waiting--
	if why == nil || e.waiting > 0 {
		return
	}
	if p.made[key] == e && !e.ready.Load() {
		delete(p.made, key)
	}
	e.cancel(why)
}

func (p *Plans[T]) forget(key string, e *plan[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.made[key] == e {
		delete(p.made, key)
	}
}

// Remove forgets what is made for a key. What is in the making is kept.
func (p *Plans[T]) Remove(key []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.made[string(key)]; e != nil && e.ready.Load() {
		delete(p.made, string(key))
	}
}

// Forget forgets what keys stand for, made or in the making: callers that wait get it,
// later ones have it made again.
func (p *Plans[T]) Forget(which func(key string) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.made, func(key string, _ *plan[T]) bool { return which(key) })
}
