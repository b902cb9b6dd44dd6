package worker

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/internal/collective"
	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// received returns a worker that keeps its answers, a session of it in which step 1 has
// sent a value that another task has received, and the step.
func received(t *testing.T) (*Worker, *session, *rendezvous.Remote) {
	t.Helper()
	w := New(Env{Task: task, Devices: device.CPUs("worker", 0, 1), Rendezvous: rendezvous.NewManager(0), CacheResponses: true})
	t.Cleanup(w.Close)
	openSession(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "s"})
	s, err := w.find(true, "s")
	if err != nil {
		t.Fatal(err)
	}
	r := w.claim(1, s)
	if err := r.Initialize(&s.rdv); err != nil {
		t.Fatal(err)
	}
	if err := r.Send(w.key("x"), core.Scalar[float32](3), false); err != nil {
		t.Fatal(err)
	}
	v, err := w.RecvTensor(t.Context(), &pb.RecvTensorRequest{StepId: 1, RendezvousKey: w.key("x"), RequestId: 9})
	if err != nil {
		t.Fatal(err)
	}
	v.Tensor.Release()
	return w, s, r
}

// kept returns how many answers a worker keeps.
func (w *Worker) kept() int {
	w.responses.mu.Lock()
	defer w.responses.mu.Unlock()
	return len(w.responses.all)
}

// TestResponsesEndWithSession: a master that is gone cleans up no steps. The end of its
// session ends their answers.
func TestResponsesEndWithSession(t *testing.T) {
	w, _, _ := received(t)
	if n := w.kept(); n != 1 {
		t.Fatalf("%d answers are kept", n)
	}
	if _, err := w.DeleteWorkerSession(t.Context(), &pb.DeleteWorkerSessionRequest{SessionHandle: "s"}); err != nil {
		t.Fatal(err)
	}
	if n := w.kept(); n != 0 {
		t.Errorf("%d answers are kept after the end of their session", n)
	}
}

// TestAbandonedStepEnds: of a step on which its master has given up no answers are kept,
// and who waits for a value of it hears that it is over.
func TestAbandonedStepEnds(t *testing.T) {
	w, s, r := received(t)
	heard := make(chan error, 1)
	w.env.Rendezvous.RecvLocal(t.Context(), 1, w.key("never"), func(_ *core.Tensor, _ bool, err error) { heard <- err })
	w.abandon(s, 1, r)
	select {
	case err := <-heard:
		if core.CodeOf(err) != core.Aborted {
			t.Errorf("who waits hears %v, want Aborted", err)
		}
	default:
		t.Error("who waits for a value of the step hears nothing")
	}
	if n := w.kept(); n != 0 {
		t.Errorf("%d answers are kept", n)
	}
}

// TestAbandonedStepEndsCollectives: what has failed in a step on which its master has given
// up, after it was cleaned up, is not kept.
func TestAbandonedStepEndsCollectives(t *testing.T) {
	c := collective.New(collective.Env{})
	w := New(Env{Task: task, Devices: device.CPUs("worker", 0, 1), Rendezvous: rendezvous.NewManager(0), Collectives: c})
	t.Cleanup(w.Close)
	openSession(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "s"})
	s, err := w.find(true, "s")
	if err != nil {
		t.Fatal(err)
	}
	r := w.claim(1, s)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	member := &core.OpContext{Step: &core.Step{ID: 1, Context: over, Device: w.env.Devices.Client()}, Node: &core.Node{Name: "y"}}
	if err := c.Join(member, core.CollectiveGroup{Key: 1, Size: 2, Rank: -1}, 0); err == nil || c.Steps() != 1 {
		t.Fatalf("a member that gives up: %v, %d steps", err, c.Steps())
	}
	w.abandon(s, 1, r)
	if n := c.Steps(); n != 0 {
		t.Errorf("%d steps are kept", n)
	}
}

// TestErrorsOfOtherStepsAreNotKept: a request may come after its step has been cleaned up,
// or be for one that never runs here. Nothing would end its answer.
func TestErrorsOfOtherStepsAreNotKept(t *testing.T) {
	w, _, _ := received(t)
	kept := w.kept()
	key := rendezvous.Key{Src: cpu, SrcIncarnation: w.client().Incarnation + 1, Dst: cpu, Edge: "x"}.String()
	for id := range int64(3) {
		if _, err := w.RecvTensor(t.Context(), &pb.RecvTensorRequest{StepId: 7, RendezvousKey: key, RequestId: 20 + id}); core.CodeOf(err) != core.Aborted {
			t.Errorf("a request to another life of the device: %v, want Aborted", err)
		}
	}
	if n := w.kept(); n != kept {
		t.Errorf("%d answers are kept, before there were %d", n, kept)
	}
}
