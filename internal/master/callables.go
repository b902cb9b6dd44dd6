package master

import (
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
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

// use returns a callable for a step, which ends with c.prepared.uses.Done.
func (t *callables) use(handle int64) (*callable, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.all[handle]; c != nil {
		c.prepared.uses.Add(1)
		return c, nil
	}
	if handle >= t.next {
		return nil, core.Errorf(core.InvalidArgument, "No such callable handle: %d", handle)
	}
	return nil, core.Errorf(core.InvalidArgument, "Attempted to run callable after handle was released: %d", handle)
}

// release takes a callable out, nil if there is none; no step begins with it
// afterwards.
func (t *callables) release(handle int64) *callable {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.all[handle]
	delete(t.all, handle)
	return c
}
