package session

import (
	"context"

	"github.com/gorge-tf/gorge/tf"
)

// A PartialRun is a step that is run in pieces, each with some of the feeds and
// fetches that were announced: what is fed later may depend on what was
// fetched before, and nothing is computed twice. It may be used from any
// goroutine.
type PartialRun struct {
	s *Session
	p Pieces
}

// PartialRun begins a step that will feed and fetch the given outputs, piece by
// piece. Operations among the fetches are run as soon as they can be.
func (s *Session) PartialRun(ctx context.Context, feeds []tf.Output, fetches ...tf.Fetchable) (*PartialRun, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	b, ok := s.b.(Partialer)
	if !ok {
		return nil, tf.Errorf(tf.Unimplemented, "partial runs are not supported by sessions on %q", s.cfg.Target)
	}
	var p plan
	if err := p.addFetches(s.g, fetches); err != nil {
		return nil, err
	}
	for _, x := range feeds {
		if err := feedable(s.g, x); err != nil {
			return nil, err
		}
		p.call.FeedNames = append(p.call.FeedNames, x.Name())
	}
	pieces, err := b.PartialRun(ctx, &p.call)
	if err != nil {
		return nil, s.locate(err)
	}
	return &PartialRun{s, pieces}, nil
}

// ready reports as an error that no piece can run.
func (p *PartialRun) ready(ctx context.Context) error {
	if p == nil {
		return tf.Errorf(tf.FailedPrecondition, "there is no partial run: see the error that Session.PartialRun returned")
	}
	return p.s.ready(ctx)
}

// Run runs a piece: it feeds values, each output once in the whole step, and
// returns the fetches, which must not need what has not been fed yet. A piece
// that is refused leaves the step as it was; any other error ends it.
func (p *PartialRun) Run(ctx context.Context, feeds Feeds, fetches ...tf.Output) ([]*tf.Tensor, error) {
	if err := p.ready(ctx); err != nil {
		return nil, err
	}
	var piece plan
	if err := piece.call.addFeeds(p.s.g, feeds); err != nil {
		return nil, err
	}
	for _, x := range fetches {
		s, err := piece.addFetch(p.s.g, x)
		if err != nil {
			return nil, err
		}
		piece.slots = append(piece.slots, s)
	}
	ctx, cancel := p.s.cfg.bounded(ctx)
	defer cancel()
	got, err := p.p.Run(ctx, &piece.call)
	if err != nil {
		return nil, p.s.locate(err)
	}
	return piece.spread(got)
}

// Close gives up the pieces that have not been run. A step whose pieces have
// all been run needs no Close.
func (p *PartialRun) Close() {
	if p != nil {
		p.p.Close()
	}
}
