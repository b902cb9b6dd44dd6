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
// here have been cleaned up, or ctx ends. It reports whether they have been.
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
	return len(w.steps) > 0
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
