package train

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/gorge-tf/gorge/tf"
)

// TestQueueRunnerAlone: without a coordinator a goroutine that fails stops no other, and
// readers see the end of the queue once all have ended.
func TestQueueRunnerAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSteps()
		failed := make(chan struct{})
		var total, closed, cancelled atomic.Int32
		r := &QueueRunner{
			Enqueue: []*tf.Operation{
				s.op(func(context.Context) error { return errBroken }),
				s.op(func(ctx context.Context) error {
					<-failed
					return countTo(0, &total)(ctx)
				}),
			},
			Close:  s.op(func(context.Context) error { closed.Add(1); return nil }),
			Cancel: s.op(func(context.Context) error { cancelled.Add(1); return nil }),
		}
		AddQueueRunner(s.g, r)
		StartQueueRunners(s.g, nil, s)
		synctest.Wait()
		close(failed)
		synctest.Wait()
		if errs := r.Errors(); len(errs) != 1 || !errors.Is(errs[0], errBroken) || closed.Load() != 1 || cancelled.Load() != 1 {
			t.Error(errs, closed.Load(), cancelled.Load())
		}
	})
}
