package worker

import (
	"context"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A partial is a step whose feeds come, and whose fetches go, in several calls.
// Its nodes run from the first call on and wait for what they need; no call
// owns them.
type partial struct {
	ctx  context.Context // of the nodes: ends with the session, or when a call is given up
	end  context.CancelCauseFunc
	over context.Context // ends when the nodes have
	err  error           // why they did not succeed; set before that
}

// runPartial serves one call of a step: it feeds and fetches what the call
// brings. The last one waits for all nodes.
func (w *Worker) runPartial(ctx context.Context, s *session, g *step.Graph, req *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	r := w.claim(req.GetStepId(), s)
	if err := r.Initialize(&s.rdv); err != nil {
		return nil, err
	}
	p, err := w.partialOf(s, g, r, req.GetStepId())
	if err != nil {
		return nil, err
	}
	// A client that gives up on a call gives up on the step.
	defer context.AfterFunc(ctx, func() { p.end(context.Cause(ctx)) })()
	resp, err := p.exchange(s, r, req)
	if err != nil {
		err = p.explain(err)
	}
	if ctx.Err() != nil { // whether or not the end of the step was in time to fail it
		w.abandon(s, req.GetStepId(), r)
	}
	if err != nil {
		return nil, err
	}
	return resp, report(resp, g, req.GetExecOpts(), nil)
}

func (p *partial) exchange(s *session, r *rendezvous.Remote, req *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	if err := s.feed(r, req.GetSend()); err != nil {
		return nil, err
	}
	resp, err := fetch(p.over, r, req)
	if err != nil {
		return nil, err
	}
	if req.GetIsLastPartialRun() {
		<-p.over.Done()
		err = p.err
	}
	return resp, err
}

// partialOf returns the step, which the first call of it starts, unless it has been
// cleaned up since that call came.
func (w *Worker) partialOf(s *session, g *step.Graph, r *rendezvous.Remote, id int64) (*partial, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.partial[id]; p != nil {
		return p, nil
	}
	if w.steps[id] == nil {
		return nil, core.Errorf(core.Aborted, "Cleanup %d", id)
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	p := &partial{}
	p.ctx, p.end = context.WithCancelCause(s.ctx)
	var over context.CancelFunc
	p.over, over = context.WithCancel(context.Background())
	w.partial[id] = p
	go func() {
		defer s.steps.Done()
		defer over()
		p.run(s, g, r, id)
	}()
	return p, nil
}

func (p *partial) run(s *session, g *step.Graph, r *rendezvous.Remote, id int64) {
	if p.err = g.Run(p.ctx, step.Args{ID: id, Rendezvous: derivedAbort{r}, Pieces: true}); p.err != nil {
		derivedAbort{r}.Abort(p.err)
	}
	s.endKeptOfPieces(g, id, p.err == nil)
	p.end(nil)
}

// explain replaces an error that may only follow from the end of the step by
// the one that ended it.
func (p *partial) explain(err error) error {
	if p.over.Err() == nil && !core.AsError(err).Derived {
		return err
	}
	p.end(err)
	<-p.over.Done()
	if p.err != nil {
		return p.err
	}
	return err
}

// dropPartial ends a step that is not to go on.
func (w *Worker) dropPartial(id int64) {
	w.mu.Lock()
	p := w.partial[id]
	delete(w.partial, id)
	w.mu.Unlock()
	if p != nil {
		p.end(core.Errorf(core.Aborted, "Cleanup %d", id))
	}
}
