package rendezvoustest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

// A transport as a function: what the faults below are made of.
type transport func(ctx context.Context, task string, step int64, key string, alloc rendezvous.Alloc, done func(rendezvous.Result))

func (f transport) Recv(ctx context.Context, task string, step int64, key string, alloc rendezvous.Alloc, done func(rendezvous.Result)) {
	f(ctx, task, step, key, alloc, done)
}

// Drop returns a transport that loses the receives whose key lost picks: they
// are answered when their context ends.
func Drop(t rendezvous.Transport, lost func(key string) bool) rendezvous.Transport {
	return transport(func(ctx context.Context, task string, step int64, key string, alloc rendezvous.Alloc, done func(rendezvous.Result)) {
		if !lost(key) {
			t.Recv(ctx, task, step, key, alloc, done)
			return
		}
		context.AfterFunc(ctx, func() { done(rendezvous.Result{Err: ctx.Err()}) })
	})
}

// Delay returns a transport that begins each receive only after d.
func Delay(t rendezvous.Transport, d time.Duration) rendezvous.Transport {
	return transport(func(ctx context.Context, task string, step int64, key string, alloc rendezvous.Alloc, done func(rendezvous.Result)) {
		time.AfterFunc(d, func() { t.Recv(ctx, task, step, key, alloc, done) })
	})
}

// Reorder returns a transport that holds receives back until there are n, and
// then begins them last to first.
func Reorder(t rendezvous.Transport, n int) rendezvous.Transport {
	var mu sync.Mutex
	var held []func()
	return transport(func(ctx context.Context, task string, step int64, key string, alloc rendezvous.Alloc, done func(rendezvous.Result)) {
		mu.Lock()
		held = append(held, func() { t.Recv(ctx, task, step, key, alloc, done) })
		var due []func()
		if len(held) == n {
			due, held = held, nil
		}
		mu.Unlock()
		for _, begin := range slices.Backward(due) {
			begin()
		}
	})
}

// Duplicate returns a transport that gives every answer twice.
func Duplicate(t rendezvous.Transport) rendezvous.Transport {
	return transport(func(ctx context.Context, task string, step int64, key string, alloc rendezvous.Alloc, done func(rendezvous.Result)) {
		t.Recv(ctx, task, step, key, alloc, func(r rendezvous.Result) {
			again := r
			if r.Tensor != nil {
				again.Tensor = r.Tensor.Share()
			}
			done(r)
			done(again)
		})
	})
}

// Fail returns a transport that answers with err the receives whose key broken
// picks, after the value has been taken from its sender: as a connection that
// breaks in the middle of an answer.
func Fail(t rendezvous.Transport, broken func(key string) bool, err error) rendezvous.Transport {
	return transport(func(ctx context.Context, task string, step int64, key string, alloc rendezvous.Alloc, done func(rendezvous.Result)) {
		if !broken(key) {
			t.Recv(ctx, task, step, key, alloc, done)
			return
		}
		t.Recv(ctx, task, step, key, alloc, func(r rendezvous.Result) {
			releaseTensor(r.Tensor)
			done(rendezvous.Result{Err: err})
		})
	})
}

func releaseTensor(t *core.Tensor) {
	if t != nil {
		t.Release()
	}
}
