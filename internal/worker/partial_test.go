package worker

import (
	"context"
	"errors"
	"testing"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sessionstate"
	"github.com/gorge-tf/gorge/tf/pb"
)

// part is one call of a partial run, of step number 1.
func (s *testSession) part(ctx context.Context, graph string, last bool, feeds map[string]*core.Tensor, fetches ...string) (*pb.RunGraphResponse, error) {
	req := s.request(graph, feeds, fetches...)
	req.StepId, req.IsPartial, req.IsLastPartialRun = 1, true, last
	return s.w.RunGraph(ctx, req)
}

func (s *testSession) cleanup() {
	s.t.Helper()
	if _, err := s.w.CleanupGraph(s.t.Context(), &pb.CleanupGraphRequest{StepId: 1}); err != nil {
		s.t.Fatal(err)
	}
}

func TestPartialRun(t *testing.T) {
	w := newWorker(t)
	s := openSession(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "s"})
	h := s.register(adder(), pass.Signature{Feeds: []string{"x:0", "y:0"}, Fetches: []string{"sum:0"}})
	one := core.Scalar[float32](1)
	for range 2 {
		if resp, err := s.part(t.Context(), h, false, map[string]*core.Tensor{"y:0": one}); err != nil || len(resp.GetRecv()) != 0 {
			t.Fatalf("feeding y = %v, %v", resp, err)
		}
		resp, err := s.part(t.Context(), h, true, map[string]*core.Tensor{"x:0": one}, "sum:0")
		if err != nil {
			t.Fatal(err)
		}
		sum, err := core.TensorFromProto(resp.GetRecv()[0].GetTensor())
		if err != nil || core.Data[float32](sum)[0] != 2 {
			t.Errorf("1 + 1 = %v, %v", sum, err)
		}
		s.cleanup()
	}
	if len(w.partial) != 0 || len(w.steps) != 0 || w.env.Rendezvous.Len() != 0 {
		t.Errorf("%d partial runs, %d steps, %d rendezvous are left", len(w.partial), len(w.steps), w.env.Rendezvous.Len())
	}
}

// Every way in which a partial run can end before its time ends its nodes, and
// the calls that wait for them.
func TestPartialRunEnds(t *testing.T) {
	gone := errors.New("the client is gone")
	for name, c := range map[string]struct {
		end  func(*testSession, context.CancelCauseFunc)
		code core.Code
	}{
		"cleanup":           {func(s *testSession, _ context.CancelCauseFunc) { s.cleanup() }, core.Aborted},
		"the call given up": {func(_ *testSession, cancel context.CancelCauseFunc) { cancel(gone) }, core.Canceled},
		"the session deleted": {func(s *testSession, _ context.CancelCauseFunc) {
			s.w.DeleteWorkerSession(context.Background(), &pb.DeleteWorkerSessionRequest{SessionHandle: "s"})
		}, core.Aborted},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t)
			s := openSession(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "s"})
			h := s.register(adder(), pass.Signature{Feeds: []string{"x:0", "y:0"}, Fetches: []string{"sum:0"}, Targets: []string{"wait"}})
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			failed := make(chan error)
			go func() {
				_, err := s.part(ctx, h, false, map[string]*core.Tensor{"x:0": core.Scalar[float32](1)}, "sum:0")
				failed <- err
			}()
			<-started
			c.end(s, cancel)
			if err := <-failed; core.CodeOf(err) != c.code {
				t.Errorf("the call that waits = %v, want %v", err, c.code)
			}
		})
	}
}

// A step that is cleaned up while its first call begins does not begin any more.
func TestPartialOfACleanedUpStep(t *testing.T) {
	w := newWorker(t)
	openSession(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "s"})
	s, err := w.find(true, "s")
	if err != nil {
		t.Fatal(err)
	}
	r := w.claim(7, s)
	w.ForgetStep(7)
	if _, err := w.partialOf(s, nil, r, 7); core.CodeOf(err) != core.Aborted || len(w.partial) != 0 {
		t.Errorf("partialOf = %v with %d steps of pieces, want an Aborted error and none", err, len(w.partial))
	}
}

// What a step keeps in the session stays beyond it if its handle is fetched, in pieces as
// at once.
func TestPartialRunKeepsTensors(t *testing.T) {
	w := newWorker(t)
	s := openSession(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "s"})
	g := tf.NewGraph(tf.Strict())
	x := ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name("x"))
	sessionstate.GetSessionHandle(x, tf.Name("kept"))
	h := s.register(g, pass.Signature{Feeds: []string{"x:0"}, Fetches: []string{"kept:0"}})
	resp, err := s.part(t.Context(), h, true, map[string]*core.Tensor{"x:0": core.Scalar[float32](2)}, "kept:0")
	if err != nil {
		t.Fatal(err)
	}
	s.cleanup()
	handle, err := core.TensorFromProto(resp.GetRecv()[0].GetTensor())
	if err != nil {
		t.Fatal(err)
	}
	in, err := w.find(true, "s")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := in.rt.Kept.Get(core.Data[string](handle)[0])
	if err != nil || core.Data[float32](kept)[0] != 2 || in.rt.Kept.Pending() {
		t.Fatalf("the session keeps %v, %v; pending: %v", kept, err, in.rt.Kept.Pending())
	}
	kept.Release()
}
