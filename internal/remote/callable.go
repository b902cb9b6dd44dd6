package remote

import (
	"context"

	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// callable is a step that the master has prepared, which the first call of it
// asks for: a session may be made before its cluster is up.
type callable struct {
	r    *remote
	call session.Call

	turn   chan struct{} // held while the master is asked
	made   bool
	handle int64
}

// Prepare returns what runs a step by its number at the master: neither names
// nor options travel with it.
func (r *remote) Prepare(c *session.Call) (func(ctx context.Context, feeds []*core.Tensor) ([]*core.Tensor, error), error) {
	p := &callable{r: r, call: *c, turn: make(chan struct{}, 1)}
	return p.run, nil
}

func (p *callable) run(ctx context.Context, feeds []*core.Tensor) ([]*core.Tensor, error) {
	return during(ctx, p.r, func(ctx context.Context, session string) ([]*core.Tensor, error) {
		handle, err := p.make(ctx, session)
		if err != nil {
			return nil, err
		}
		return p.runAt(ctx, session, handle, feeds)
	})
}

// make returns the callable's number at the master.
func (p *callable) make(ctx context.Context, session string) (int64, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	if p.made {
		return p.handle, nil
	}
	req := &pb.MakeCallableRequest{SessionHandle: session, RequestId: requestid.New(), Options: &pb.CallableOptions{
		Feed: p.call.FeedNames, Fetch: p.call.Fetches, Target: p.call.Targets, RunOptions: p.r.options(nil),
	}}
	resp, err := retry(ctx, req, p.r.master.MakeCallable)
	if err != nil {
		return 0, err
	}
	p.handle, p.made = resp.GetHandle(), true
	return p.handle, nil
}

func (p *callable) runAt(ctx context.Context, session string, handle int64, feeds []*core.Tensor) ([]*core.Tensor, error) {
	req := &pb.RunCallableRequest{SessionHandle: session, Handle: handle, RequestId: requestid.New(), Feed: make([]*pb.TensorProto, len(feeds))}
	for i, t := range feeds {
		var err error
		if req.Feed[i], err = core.EncodeTensor(t); err != nil {
			return nil, err
		}
	}
	resp, err := retry(ctx, req, p.r.master.RunCallable)
	if err != nil {
		return nil, err
	}
	if len(resp.GetFetch()) != len(p.call.Fetches) {
		return nil, tf.Errorf(tf.Internal, "the master must return what was fetched, %d tensors, it returned %d", len(p.call.Fetches), len(resp.GetFetch()))
	}
	out := make([]*core.Tensor, len(resp.GetFetch()))
	for i, t := range resp.GetFetch() {
		if out[i], err = core.TensorFromProto(t); err != nil {
			return nil, err
		}
	}
	return out, nil
}
