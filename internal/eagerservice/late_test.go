package eagerservice

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TestLateComponent: a part of a function may begin when its caller has given up, and has
// said already that the step is over. Nothing stays of the step then.
func TestLateComponent(t *testing.T) {
	s := newService(t)
	c := newClient(t, s, 7)
	f := double(t)
	if _, err := c.enqueue(registering(f, nil, true)); err != nil {
		t.Fatal(err)
	}
	op := c.callOf(f, floats(1))
	op.IsComponentFunction, op.FuncStepId = true, 44
	if _, err := c.enqueue(&pb.QueueItem{Item: &pb.QueueItem_CleanupFunction{CleanupFunction: &pb.CleanupFunctionOp{StepId: 44}}}); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.RunComponentFunction(ended, &pb.RunComponentFunctionRequest{ContextId: 7, Operation: op}); err != nil && core.CodeOf(err) != core.Canceled {
		t.Error(err)
	}
	if n := s.env.Worker.Status().Steps; n != 0 {
		t.Errorf("%d steps are left", n)
	}
}
