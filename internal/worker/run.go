package worker

import (
	"context"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// RunGraph runs one step of a registered graph: it sends the feeds to the
// step's rendezvous, runs all nodes, and answers with the fetches. When ctx
// ends, so does the step.
func (w *Worker) RunGraph(ctx context.Context, req *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	if err := w.recent.Track(req.GetRequestId(), methodOf(req)); err != nil {
		return nil, err
	}
	s, err := w.find(req.GetCreateWorkerSessionCalled(), req.GetSessionHandle())
	if err != nil {
		return nil, err
	}
	g, err := s.graph(req.GetGraphHandle())
	if err != nil {
		return nil, err
	}
	if err := w.admit(s, req.GetStepId()); err != nil {
		return nil, err
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.steps.Done()
	if req.GetIsPartial() {
		return w.runPartial(ctx, s, g, req)
	}
	return w.runStep(ctx, s, g, req)
}

// methodOf names a request as TensorFlow does in errors.
func methodOf(req *pb.RunGraphRequest) string {
	if req.GetIsPartial() {
		return "PartialRunGraph (Worker)"
	}
	return "RunGraph (Worker)"
}

// runStep runs g in the rendezvous of its step. The rendezvous outlives the
// step until CleanupGraph: other tasks may still fetch from it.
func (w *Worker) runStep(ctx context.Context, s *session, g *step.Graph, req *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	asked := ctx
	ctx, cancel := s.within(ctx)
	defer cancel(nil)
	r := w.claim(req.GetStepId(), s)
	resp, err := s.exchange(ctx, r, g, req)
	if err != nil {
		if s.ctx.Err() != nil { // the step was cancelled from here, which says more
			err = context.Cause(s.ctx)
		}
		derivedAbort{r}.Abort(err)
	}
	if asked.Err() != nil {
		w.abandon(s, req.GetStepId(), r)
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// claim returns the rendezvous of a step that runs here, and remembers whose it is,
// so that it goes with its session if no master comes to clean it up.
func (w *Worker) claim(id int64, s *session) *rendezvous.Remote {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.steps[id] = s
	return w.env.Rendezvous.Find(id)
}

// runs reports whether a step has run here and is not cleaned up.
func (w *Worker) runs(step int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.steps[step] != nil
}

// abandon drops a step on which its master has given up: what was to clean it up
// may have come before it had begun.
func (w *Worker) abandon(s *session, id int64, r *rendezvous.Remote) {
	if !w.env.Rendezvous.Release(id, r) {
		return
	}
	w.mu.Lock()
	delete(w.steps, id)
	w.mu.Unlock()
	w.dropPartial(id)
	w.dropResponses(id)
	w.endCollectives(s, id)
}

// exchange feeds, runs and fetches.
func (s *session) exchange(ctx context.Context, r *rendezvous.Remote, g *step.Graph, req *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	if err := r.Initialize(&s.rdv); err != nil {
		return nil, err
	}
	if err := s.feed(r, req.GetSend()); err != nil {
		return nil, err
	}
	c := collectorFor(req.GetExecOpts())
	err := g.Run(ctx, step.Args{ID: req.GetStepId(), Rendezvous: derivedAbort{r}, Tracer: tracer(c)})
	s.endKept(g, req, err == nil)
	if err != nil {
		return nil, err
	}
	resp, err := fetch(now, r, req)
	if err != nil { // which no graph of a sound master brings about
		return nil, core.Errorf(core.Internal, "Failed to fetch outputs for step %d. (Original error message: %s)", req.GetStepId(), core.AsError(err).Message())
	}
	return resp, report(resp, g, req.GetExecOpts(), c)
}

// derivedAbort is the rendezvous of a step in which Abort marks errors as derived:
// for other tasks the failure follows from this task's, which itself reaches the
// master by the answer to RunGraph.
type derivedAbort struct{ *rendezvous.Remote }

// Abort ends the rendezvous.
func (b derivedAbort) Abort(err error) {
	e := *core.AsError(err)
	e.Derived = true
	b.Remote.Abort(&e)
}

// feed sends the client's tensors, and those that the session keeps where the
// client feeds their handles.
func (s *session) feed(r *rendezvous.Remote, feeds []*pb.NamedTensorProto) error {
	for i, f := range feeds {
		t, err := core.TensorFromProto(f.GetTensor())
		if err != nil {
			return core.Errorf(core.InvalidArgument, "Invalid TensorProto for feed value %d: %s: %s", i, f.GetName(), core.AsError(err).Message())
		}
		if t, err = s.rt.Kept.Fed(t); err != nil {
			return core.Errorf(core.InvalidArgument, "feed %s: %s", f.GetName(), core.AsError(err).Message())
		}
		err = r.Send(f.GetName(), t, false)
		t.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// fetch takes the client's results out of the rendezvous. It waits for them
// until ctx ends.
func fetch(ctx context.Context, r *rendezvous.Remote, req *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	resp := &pb.RunGraphResponse{}
	for _, key := range req.GetRecvKey() {
		t, err := receive(ctx, r, key)
		if err != nil {
			return nil, err
		}
		p, err := core.EncodeTensor(t)
		t.Release()
		if err != nil {
			return nil, err
		}
		resp.Recv = append(resp.Recv, &pb.NamedTensorProto{Name: key, Tensor: p})
	}
	return resp, nil
}

// now is a context that has ended: a receive with it takes what is there and
// does not wait.
var now = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// receive takes one value, which must not be dead. It is there, or somebody
// will send it before ctx ends.
func receive(ctx context.Context, r core.Rendezvous, key string) (*core.Tensor, error) {
	type value struct {
		t    *core.Tensor
		dead bool
		err  error
	}
	got := make(chan value, 1)
	r.Recv(ctx, key, func(t *core.Tensor, dead bool, err error) { got <- value{t, dead, err} })
	v := <-got
	switch {
	case core.CodeOf(v.err) == core.Canceled && ctx.Err() != nil:
		return nil, core.Errorf(core.InvalidArgument, "the graph must send what is fetched from it, it does not send %s", key)
	case v.err != nil:
		return nil, v.err
	case v.dead || v.t == nil:
		return nil, core.Errorf(core.InvalidArgument, "The tensor returned for %s was not valid.", key)
	}
	return v.t, nil
}

// CleanupGraph drops what is left of a step.
func (w *Worker) CleanupGraph(_ context.Context, req *pb.CleanupGraphRequest) (*pb.CleanupGraphResponse, error) {
	w.ForgetStep(req.GetStepId())
	return &pb.CleanupGraphResponse{}, nil
}

// ForgetStep drops what is left of a step. It always can, and says so.
func (w *Worker) ForgetStep(step int64) bool {
	w.mu.Lock()
	s := w.steps[step]
	delete(w.steps, step)
	w.mu.Unlock()
	w.dropPartial(step)
	w.cleanup(s, step)
	return true
}

// cleanup drops what a step has left for other tasks, in the session in which it
// has run if there is one.
func (w *Worker) cleanup(s *session, step int64) {
	w.dropResponses(step)
	w.env.Rendezvous.Cleanup(step)
	w.endCollectives(s, step)
}

// endCollectives ends what devices do together in a step, and forgets it. What fails in a
// step is kept until then, for members that come later.
func (w *Worker) endCollectives(s *session, step int64) {
	if s != nil && s.collectives != nil {
		s.collectives.Cleanup(step)
	}
	if w.env.Collectives != nil {
		w.env.Collectives.Cleanup(step)
	}
}

// dropResponses forgets the answers that are kept of a step.
func (w *Worker) dropResponses(step int64) {
	if w.env.CacheResponses {
		w.responses.drop(func(_ int64, r *response) bool { return r.step == step })
	}
}
