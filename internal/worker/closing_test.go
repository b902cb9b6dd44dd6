package worker

import (
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TestSessionsEndAtOnce: a step that comes while its session is being closed is either
// counted or told why not.
func TestSessionsEndAtOnce(t *testing.T) {
	w := newWorker(t)
	for range 2000 {
		s, err := w.newSession(&pb.CreateWorkerSessionRequest{SessionHandle: "s"})
		if err != nil {
			t.Fatal(err)
		}
		var steps sync.WaitGroup
		for range 2 {
			steps.Go(func() {
				for s.begin() == nil {
					s.steps.Done() // panics if it was not counted
				}
			})
		}
		s.close(core.Errorf(core.Aborted, "over"))
		steps.Wait()
	}
}
