package master

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// RunStep runs one step, or the next part of one.
func (m *Master) RunStep(ctx context.Context, req *pb.RunStepRequest) (*pb.RunStepResponse, error) {
	if err := m.recent.Track(req.GetRequestId(), "RunStep (Master)"); err != nil {
		return nil, err
	}
	s, err := m.find(req.GetSessionHandle())
	if err != nil {
		return nil, err
	}
	if req.GetPartialRunHandle() == "" { // pieces go on
		err = m.admit()
	}
	if err != nil {
		return nil, err
	}
	return during(ctx, s, req.GetOptions(), func(ctx context.Context) (*pb.RunStepResponse, error) {
		c, err := newCall(req)
		if err != nil {
			return nil, err
		}
		if req.GetPartialRunHandle() != "" {
			return s.continuePartial(ctx, req.GetPartialRunHandle(), c)
		}
		if err := s.checkOptions(c.options); err != nil {
			return nil, err
		}
		return s.runStep(ctx, c)
	})
}

// maxTimeout is the longest limit, in milliseconds, that a Duration can hold;
// a longer one is none.
const maxTimeout = math.MaxInt64 / int64(time.Millisecond)

// during runs f as a call of a session: the session's end, and the time that
// the client allows, by the call's options or else by the session's, end it.
func during[T any](ctx context.Context, s *session, o *pb.RunOptions, f func(context.Context) (T, error)) (out T, err error) {
	if err := s.begin(); err != nil {
		return out, err
	}
	defer s.done()
	if err := s.m.count(); err != nil {
		return out, err
	}
	defer s.m.steps.Add(-1)
	if o != nil {
		s.m.options.Tell(s.m.env.Log, o)
	}
	ctx, cancel := bound(ctx, s.ctx)
	defer cancel()
	if ms := cmp.Or(o.GetTimeoutInMs(), s.cfg.GetOperationTimeoutInMs()); ms > 0 && ms <= maxTimeout {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
		defer cancel()
	}
	out, err = f(ctx)
	if err != nil && s.ctx.Err() != nil { // that is why, whatever the workers say
		err = context.Cause(s.ctx)
	}
	return out, err
}

// checkOptions refuses what the session's configuration rules out.
func (s *session) checkOptions(o *pb.RunOptions) error {
	if o.GetOutputPartitionGraphs() && s.cfg.GetExperimental().GetDisableOutputPartitionGraphs() {
		return core.Errorf(core.InvalidArgument, "RunOptions.output_partition_graphs() is not supported when disable_output_partition_graphs is true.")
	}
	return nil
}

func (s *session) runStep(ctx context.Context, c *call) (*pb.RunStepResponse, error) {
	p, err := s.prepare(ctx, c.signature(), c.options.GetExperimental().GetCollectiveGraphKey())
	if err != nil {
		return nil, err
	}
	r := s.newRun(p, c)
	answers, err := r.whole(ctx)
	if err != nil {
		return nil, err
	}
	return r.response(answers)
}

// whole runs a step from its beginning to its end.
func (r *stepRun) whole(ctx context.Context) ([]*pb.RunGraphResponse, error) {
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	answers, err := r.trace(ctx)
	r.end(err)
	return answers, err
}

// stepBits is the number of low bits that the number of a step may have.
const stepBits = 57

func newStep() int64 { return rand.Int64N(1 << stepBits) }

// newRun returns a step that has not begun.
func (s *session) newRun(p *prepared, c *call) *stepRun {
	return &stepRun{s: s, call: c, parts: p.parts, graphKey: p.graphKey, costs: costsDue(s.cfg.GetGraphOptions(), p.runs.Add(1)-1)}
}

// response gives the fetches the names that the client knows them by.
func (r *stepRun) response(answers []*pb.RunGraphResponse) (*pb.RunStepResponse, error) {
	got, err := r.fetched(answers)
	if err != nil {
		return nil, err
	}
	resp := &pb.RunStepResponse{Metadata: r.metadata(answers)}
	for tensor, names := range r.call.fetches {
		for _, name := range names {
			resp.Tensor = append(resp.Tensor, &pb.NamedTensorProto{Name: name, Tensor: got[tensor]})
		}
	}
	return resp, nil
}
