package master

import (
	"context"
	"sync"

	"github.com/gorge-tf/gorge/internal/wire/pb"
)

// cleanup tells the workers that a step is over. The client has its answer by
// then; what goes wrong is only logged.
func (s *session) cleanup(step int64, parts []registered) {
	if s.m.start() != nil {
		return // the workers notice when the master's connections close
	}
	s.trailing.Add(1) // a step is running, so nobody waits yet
	go func() {
		defer s.m.background.Done()
		defer s.trailing.Done()
		ctx, cancel := context.WithTimeout(s.m.ctx, farewell)
		defer cancel()
		var wg sync.WaitGroup
		for _, p := range parts {
			wg.Go(func() { s.cleanupAt(ctx, p, step) })
		}
		wg.Wait()
	}()
}

func (s *session) cleanupAt(ctx context.Context, p registered, step int64) {
	if _, err := p.worker.CleanupGraph(ctx, &pb.CleanupGraphRequest{StepId: step}); err != nil {
		s.log.Info("a worker could not clean up a step", "worker", p.task, "step", step, "error", err)
	}
}
