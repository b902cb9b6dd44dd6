package worker

import (
	"context"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
)

// drainEvery is how often a worker that drains looks whether steps are under way.
const drainEvery = 5 * time.Millisecond

// Drain makes the worker refuse new steps of other tasks' masters as Unavailable
// (its own task's master does so itself), and waits until all steps that have run
// here have been cleaned up and operations of eager contexts have ended, or ctx ends.
// It reports whether they have.
func (w *Worker) Drain(ctx context.Context) bool {
	w.mu.Lock()
	w.draining = true
	w.mu.Unlock()
	tick := time.NewTicker(drainEvery)
	defer tick.Stop()
	for w.busy() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func (w *Worker) busy() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.operations.Load() > 0 || w.underWay() > 0
}

// underWay counts the steps that are not cleaned up, without those that last as long as
// their session. w.mu is held.
func (w *Worker) underWay() (n int) {
	for id, s := range w.steps {
		if !s.standing[id] {
			n++
		}
	}
	return n
}

// admit refuses steps that are new here while the worker drains.
func (w *Worker) admit(s *session, step int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.draining && w.steps[step] == nil && s.master != w.env.Task {
		return w.leaving()
	}
	return nil
}

// leaving is what masters hear of a worker that ends.
func (w *Worker) leaving() error {
	return core.Errorf(core.Unavailable, "the worker %s is shutting down", w.env.Task)
}
