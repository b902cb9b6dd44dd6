package master

import (
	"context"

	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// PartialRunSetup prepares a step that is run in pieces.
func (m *Master) PartialRunSetup(ctx context.Context, req *pb.PartialRunSetupRequest) (*pb.PartialRunSetupResponse, error) {
	if err := m.recent.Track(req.GetRequestId(), "PartialRunSetup (Master)"); err != nil {
		return nil, err
	}
	s, err := m.find(req.GetSessionHandle())
	if err != nil {
		return nil, err
	}
	if err := m.admit(); err != nil {
		return nil, err
	}
	return during(ctx, s, nil, func(ctx context.Context) (*pb.PartialRunSetupResponse, error) {
		handle, err := s.setUpPartial(ctx, req)
		return &pb.PartialRunSetupResponse{PartialRunHandle: handle}, err
	})
}

func (s *session) setUpPartial(ctx context.Context, req *pb.PartialRunSetupRequest) (handle string, err error) {
	c := &call{feeds: map[string]*pb.TensorProto{}, fetches: map[string][]string{}, targets: req.GetTarget()}
	for _, f := range req.GetFeed() {
		if err := c.feed(f, nil); err != nil {
			return "", err
		}
	}
	for _, f := range req.GetFetch() {
		if err := c.fetch(f); err != nil {
			return "", err
		}
	}
	sig := c.signature()
	ready, err := s.prepare(ctx, sig, 0)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	g := s.placed
	s.mu.Unlock()
	books, err := step.NewPartial(g, sig)
	if err != nil {
		return "", err
	}
	p := &partialRun{id: newStep(), parts: ready.parts, books: books}
	p.ctx, p.end = context.WithCancelCause(context.Background())
	return s.partials.add(p), nil
}

// continuePartial runs the next piece of a step. The step is over when all is
// fed and fetched, or a piece of it fails.
func (s *session) continuePartial(ctx context.Context, handle string, c *call) (*pb.RunStepResponse, error) {
	p, err := s.partials.begin(handle)
	if err != nil {
		return nil, err
	}
	over := false
	defer func() {
		if s.partials.end(handle, p, over) {
			s.cleanup(p.id, p.parts)
		}
	}()
	last, err := p.take(c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := bound(ctx, p.ctx)
	defer cancel()
	r := &stepRun{s: s, id: p.id, call: c, parts: p.parts, partial: true, last: last}
	answers, err := r.runParts(ctx)
	over = last || err != nil
	if err != nil {
		p.end(err) // pieces under way would wait for what does not come any more
		return nil, context.Cause(p.ctx)
	}
	return r.response(answers)
}

// take checks a piece, and notes what it feeds and fetches.
func (p *partialRun) take(c *call) (last bool, err error) {
	if c.options.GetExperimental().GetCollectiveGraphKey() != 0 {
		return false, core.Errorf(core.InvalidArgument, "PartialRun does not support Collective ops.  collective_graph_key must be kNoCollectiveGraphKey.")
	}
	if len(c.twice) > 0 {
		return false, core.Errorf(core.InvalidArgument, "Duplicated feeds: %s", c.twice[0])
	}
	sig := c.signature()
	return p.books.Take(sig.Feeds, sig.Fetches)
}
