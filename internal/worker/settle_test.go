package worker

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TestSessionsSettle: before a session begins the worker reaches anew the tasks that could not be reached.
func TestSessionsSettle(t *testing.T) {
	settled := 0
	w := New(Env{Task: task, Devices: device.CPUs("worker", 0, 1), Rendezvous: rendezvous.NewManager(0), Settle: func(context.Context) { settled++ }})
	t.Cleanup(w.Close)
	for i, handle := range []string{"a", "b"} {
		if _, err := w.CreateWorkerSession(t.Context(), &pb.CreateWorkerSessionRequest{SessionHandle: handle}); err != nil {
			t.Fatal(err)
		}
		if settled != i+1 {
			t.Errorf("settled %d times before session %d", settled, i+1)
		}
	}
}
