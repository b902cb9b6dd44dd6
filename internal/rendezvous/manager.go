package rendezvous

import (
	"context"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Manager knows the rendezvous of each step that this task takes part in.
// It is safe for concurrent use.
//
// A step begins with whatever is heard of it first: the master's order to run
// it, or another task that wants something from it.
type Manager struct {
	patience time.Duration

	mu    sync.Mutex
	steps map[int64]*entry
}

// An entry is a step, which stays unclaimed until this task runs it.
type entry struct {
	remote  *Remote
	claimed bool
	expiry  *time.Timer // of an unclaimed step
}

// DefaultPatience is how long other tasks may wait for a step that this task
// has not been told to run.
const DefaultPatience = 10 * time.Minute

// NewManager returns a manager without steps. A step that only other tasks
// speak of, perhaps because it is long over here, is aborted after patience;
// 0 stands for DefaultPatience.
func NewManager(patience time.Duration) *Manager {
	if patience <= 0 {
		patience = DefaultPatience
	}
	return &Manager{patience: patience, steps: map[int64]*entry{}}
}

// Find returns the rendezvous of a step that this task runs. The caller sees
// to it that Cleanup is called in the end.
func (m *Manager) Find(step int64) *Remote {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.find(step)
	e.claimed = true
	if e.expiry != nil {
		e.expiry.Stop()
		e.expiry = nil
	}
	return e.remote
}

func (m *Manager) find(step int64) *entry {
	e := m.steps[step]
	if e == nil {
		e = &entry{remote: NewRemote(step)}
		m.steps[step] = e
	}
	return e
}

// RecvLocal takes one value of a step for a receiver in another task, now or
// when it is sent. It waits, too, for a step that this task has not heard of:
// until that is run, ctx ends, or patience does.
func (m *Manager) RecvLocal(ctx context.Context, step int64, key string, done Done) {
	if r := m.park(ctx, step, key, done); r != nil {
		r.recvLocal(ctx, key, done)
	}
}

// park parks the receive, or returns the rendezvous that can serve it. One
// lock covers finding and parking, so that no step is forgotten in between.
func (m *Manager) park(ctx context.Context, step int64, key string, done Done) *Remote {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.find(step)
	parked := e.remote.park(ctx, key, func(t *core.Tensor, dead bool, err error) {
		if err != nil {
			m.forget(step, e)
		}
		done(t, dead, err)
	})
	if !parked {
		return e.remote
	}
	if !e.claimed && e.expiry == nil {
		e.expiry = time.AfterFunc(m.patience, func() { m.expire(step, e) })
	}
	return nil
}

// forget drops a step of which only other tasks spoke, once they gave up.
func (m *Manager) forget(step int64, e *entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.steps[step] == e && !e.claimed && e.remote.idle() {
		m.drop(step, e)
	}
}

func (m *Manager) drop(step int64, e *entry) {
	delete(m.steps, step)
	if e.expiry != nil {
		e.expiry.Stop()
	}
}

// expire aborts a step that this task was not told to run in time.
func (m *Manager) expire(step int64, e *entry) {
	m.mu.Lock()
	late := m.steps[step] == e && !e.claimed
	if late {
		m.drop(step, e)
	}
	m.mu.Unlock()
	if late {
		e.remote.Abort(core.Errorf(core.Aborted, "Step %d was asked for by another task but not run here within %v", step, m.patience))
	}
}

// Abort fails a step with err if it is known; it stays known until Cleanup.
func (m *Manager) Abort(step int64, err error) {
	m.mu.Lock()
	e := m.steps[step]
	m.mu.Unlock()
	if e != nil {
		e.remote.Abort(err)
	}
}

// Cleanup ends a step and fails what still waits in it.
func (m *Manager) Cleanup(step int64) {
	m.mu.Lock()
	e := m.steps[step]
	if e != nil {
		m.drop(step, e)
	}
	m.mu.Unlock()
	if e != nil {
		e.remote.Abort(core.Errorf(core.Aborted, "Cleanup %d", step))
	}
}

// Release is Cleanup of a step whose rendezvous is r still, and reports whether
// nothing of the step is left: another attempt under its number may have begun.
func (m *Manager) Release(step int64, r *Remote) bool {
	m.mu.Lock()
	e := m.steps[step]
	if e != nil && e.remote != r {
		m.mu.Unlock()
		return false
	}
	if e != nil {
		m.drop(step, e)
	}
	m.mu.Unlock()
	r.Abort(core.Errorf(core.Aborted, "Cleanup %d", step))
	return true
}

// CleanupAll ends all steps, as when the task shuts down.
func (m *Manager) CleanupAll() {
	m.mu.Lock()
	all := m.steps
	m.steps = map[int64]*entry{}
	for _, e := range all {
		if e.expiry != nil {
			e.expiry.Stop()
		}
	}
	m.mu.Unlock()
	for _, e := range all {
		e.remote.Abort(core.Errorf(core.Aborted, "Shutdown"))
	}
}

// Len returns the number of steps that are known.
func (m *Manager) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.steps)
}
