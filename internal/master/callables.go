package master

import (
	"sync"

	"github.com/gorge-tf/gorge/tf"
)

// callables are those of one session, by handle: a number that counts up, so
// that a released one is known from one that never was.
type callables struct {
	mu   sync.Mutex
	next int64
	all  map[int64]*callable
}

func (t *callables) add(c *callable) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[int64]*callable{}
	}
	handle := t.next
	t.next++
	t.all[handle] = c
	return handle
}

func (t *callables) find(handle int64) (*callable, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if handle < 0 || handle >= t.next {
		return nil, tf.Errorf(tf.InvalidArgument, "No such callable handle: %d", handle)
	}
	if c := t.all[handle]; c != nil {
		return c, nil
	}
	return nil, tf.Errorf(tf.InvalidArgument, "Attempted to run callable after handle was released: %d", handle)
}

func (t *callables) release(handle int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, handle)
}
