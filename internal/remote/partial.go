package remote

import (
	"context"

	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// pieces is a step that the master runs in pieces.
type pieces struct {
	r      *remote
	handle string
}

// PartialRun begins a step that is run in pieces.
func (r *remote) PartialRun(ctx context.Context, c *session.Call) (session.Pieces, error) {
	return during(ctx, r, func(ctx context.Context, handle string) (session.Pieces, error) {
		req := &pb.PartialRunSetupRequest{SessionHandle: handle, Feed: c.FeedNames, Fetch: c.Fetches, Target: c.Targets, RequestId: requestid.New()}
		resp, err := retry(ctx, req, r.master.PartialRunSetup)
		if err != nil {
			return nil, err
		}
		return &pieces{r: r, handle: resp.GetPartialRunHandle()}, nil
	})
}

// Run runs a piece.
func (p *pieces) Run(ctx context.Context, c *session.Call) ([]*core.Tensor, error) {
	return during(ctx, p.r, func(ctx context.Context, handle string) ([]*core.Tensor, error) {
		return p.r.runStep(ctx, handle, p.handle, c)
	})
}

// Close has nothing to tell: TensorFlow's masters keep the rest of a step until
// the session ends, there is no call to give it up.
func (p *pieces) Close() {}
