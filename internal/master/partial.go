package master

import (
	"context"

	"github.com/gorge-tf/gorge/internal/wire/pb"
)

// PartialRunSetup prepares a step that is run bit by bit.
func (m *Master) PartialRunSetup(ctx context.Context, req *pb.PartialRunSetupRequest) (*pb.PartialRunSetupResponse, error) {
	if err := m.recent.Track(req.GetRequestId(), "PartialRunSetup (Master)"); err != nil {
		return nil, err
	}
	s, err := m.find(req.GetSessionHandle())
	if err != nil {
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
	parts, err := s.prepare(ctx, c.signature())
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	p := &partialRun{id: newStep(), graph: s.placed, parts: parts, fed: map[string]bool{}, fetched: map[string]bool{}}
	s.mu.Unlock()
	for name := range c.feeds {
		p.fed[name] = false
	}
	for name := range c.fetches {
		p.fetched[name] = false
	}
	return s.partials.add(p), nil
}

// continuePartial runs the next part of a step. The step is over when all is
// fed and fetched, or a part of it fails.
func (s *session) continuePartial(ctx context.Context, handle string, c *call) (*pb.RunStepResponse, error) {
	p, err := s.partials.find(handle)
	if err != nil {
		return nil, err
	}
	last, err := p.advance(c)
	if err != nil {
		return nil, err
	}
	r := &stepRun{s: s, id: p.id, call: c, parts: p.parts, partial: true, last: last}
	answers, err := r.run(ctx)
	if err != nil || last {
		s.partials.remove(handle)
		s.cleanup(p.id, p.parts)
	}
	if err != nil {
		return nil, err
	}
	return r.response(answers)
}
