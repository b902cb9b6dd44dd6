package worker

import (
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/resource"
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

// held is a resource that counts how often it is closed.
type held struct{ closed int }

func (h *held) Close() { h.closed++ }

// TestWorkerClosesResources: what sessions leave on devices goes with the worker.
func TestWorkerClosesResources(t *testing.T) {
	w, h := newWorker(t), &held{}
	for _, d := range w.env.Devices.List() {
		if err := resource.Create(d.Resources(), "", "held", h); err != nil {
			t.Fatal(err)
		}
	}
	if w.Close(); h.closed != 2 {
		t.Errorf("%d of 2 resources were closed", h.closed)
	}
}
