package master

import (
	"context"
	"slices"
	"sync"

	"github.com/gorge-tf/gorge/tf/pb"
)

// A stepForgetter is a worker that can be told of a step's end without waiting for
// an answer; it reports whether it was.
type stepForgetter interface{ ForgetStep(step int64) bool }

// cleanup tells the workers that a step is over. The client does not wait for
// their answers; what goes wrong is only logged.
func (s *session) cleanup(step int64, parts []registered) {
	parts = slices.DeleteFunc(slices.Clone(parts), func(p registered) bool {
		f, ok := p.worker.(stepForgetter)
		return ok && f.ForgetStep(step)
	})
	if len(parts) == 0 {
		return
	}
	if s.m.start() != nil {
		return // the workers notice when the master's connections close
	}
	s.trailing.Add(1) // a step is running, so that Wait has not been called yet
	go func() {
		defer s.m.background.Done()
		defer s.trailing.Done()
		s.cleanupNow(step, parts)
	}()
}

// cleanupNow is cleanup that waits for the workers.
func (s *session) cleanupNow(step int64, parts []registered) {
	ctx, cancel := context.WithTimeout(s.m.ctx, cleanupTimeout)
	defer cancel()
	var wg sync.WaitGroup
	for _, p := range parts {
		wg.Go(func() { s.cleanupAt(ctx, p, step) })
	}
	wg.Wait()
}

func (s *session) cleanupAt(ctx context.Context, p registered, step int64) {
	if _, err := p.worker.CleanupGraph(ctx, &pb.CleanupGraphRequest{StepId: step}); err != nil {
		s.log.Info("a worker could not clean up a step", "worker", p.task, "step", step, "error", err)
	}
}
