package worker

import (
	"runtime"
	"testing"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
)

// sending returns a worker that keeps its answers, in which step 1 sends 3
// under the key that the request asks for.
func sending(t *testing.T) (*Worker, *pb.RecvTensorRequest) {
	t.Helper()
	w := New(Env{Task: task, Devices: device.CPUs("worker", 0, 1), Rendezvous: rendezvous.NewManager(0), CacheResponses: true})
	t.Cleanup(w.Close)
	r := w.env.Rendezvous.Find(1)
	if err := r.Initialize(&w.legacy.rdv); err != nil {
		t.Fatal(err)
	}
	x := tf.Scalar[float32](3)
	defer x.Release()
	if err := r.Send(w.key("x"), x, false); err != nil {
		t.Fatal(err)
	}
	return w, &pb.RecvTensorRequest{StepId: 1, RendezvousKey: w.key("x"), RequestId: 9}
}

// An answer can be had again until it is acknowledged.
func TestResponsesAreKept(t *testing.T) {
	w, req := sending(t)
	for range 3 {
		v, err := w.RecvTensor(t.Context(), req)
		if err != nil || !v.RequireAck || tf.Data[float32](v.Tensor)[0] != 3 {
			t.Fatalf("RecvTensor = %v, %v", v, err)
		}
		v.Tensor.Release()
	}
	for range 2 {
		if _, err := w.MarkRecvFinished(t.Context(), &pb.MarkRecvFinishedRequest{RequestId: req.GetRequestId()}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(w.responses.all); n != 0 {
		t.Errorf("%d answers are kept after they were acknowledged", n)
	}
}

// The end of a step ends its answers: those that were given, and those that
// somebody waits for.
func TestResponsesEndWithStep(t *testing.T) {
	w, req := sending(t)
	v, err := w.RecvTensor(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	v.Tensor.Release()
	waiting := make(chan error)
	go func() {
		_, err := w.RecvTensor(t.Context(), &pb.RecvTensorRequest{StepId: 1, RendezvousKey: w.key("never"), RequestId: 10})
		waiting <- err
	}()
	if _, err := w.CleanupGraph(t.Context(), &pb.CleanupGraphRequest{StepId: 1}); err != nil {
		t.Fatal(err)
	}
	for over := false; !over; {
		select {
		case err := <-waiting:
			over = true
			if tf.CodeOf(err) != tf.Aborted {
				t.Errorf("who waits hears %v, want Aborted", err)
			}
		default:
			w.env.Rendezvous.CleanupAll() // the request may have come after the cleanup
			runtime.Gosched()
		}
	}
	w.responses.mu.Lock()
	defer w.responses.mu.Unlock()
	if _, kept := w.responses.all[req.GetRequestId()]; kept {
		t.Error("an answer is kept after the end of its step")
	}
}
