package master

import (
	"context"
	"sync"

	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A stepRun is a step in progress at the workers, or a part of one.
type stepRun struct {
	s             *session
	id            int64
	call          *call
	parts         []registered
	partial, last bool  // more calls belong to the step; none follows this one
	costs         bool  // nodes are to be measured for the cost model
	graphKey      int64 // of what is done together with other masters; 0: nothing is

	transfers []*pb.DeviceStepStats // that workers have recorded

	mu     sync.Mutex
	errs   []error
	cancel context.CancelCauseFunc
}

// A starter is a worker that can run a part without a goroutine that waits for
// it; StartRunGraph reports whether it does, and done is called once then.
type starter interface {
	StartRunGraph(ctx context.Context, req *pb.RunGraphRequest, done func(*pb.RunGraphResponse, error)) bool
}

// runParts runs all parts at once and waits for the end of all of them. The first
// error that does not follow from another one ends the others.
func (r *stepRun) runParts(ctx context.Context) ([]*pb.RunGraphResponse, error) {
	ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(nil)
	out := make([]*pb.RunGraphResponse, len(r.parts))
	var wg sync.WaitGroup
	own := r.own()
	for i := range r.parts {
		if i != own {
			r.start(ctx, &wg, &r.parts[i], &out[i])
		}
	}
	out[own] = r.runPart(ctx, &r.parts[own])
	wg.Wait()
	return out, root(r.errs)
}

// own returns the part that is run on the step's own goroutine: one of this
// process, if there is any.
func (r *stepRun) own() int {
	for i := range r.parts {
		if _, remote := r.parts[i].worker.(starter); !remote {
			return i
		}
	}
	return len(r.parts) - 1
}

func (r *stepRun) start(ctx context.Context, wg *sync.WaitGroup, p *registered, out **pb.RunGraphResponse) {
	wg.Add(1)
	if s, ok := p.worker.(starter); ok && s.StartRunGraph(ctx, r.request(p), func(resp *pb.RunGraphResponse, err error) {
		defer wg.Done()
		*out = r.ran(p, resp, err)
	}) {
		return
	}
	go func() {
		defer wg.Done()
		*out = r.runPart(ctx, p)
	}()
}

func (r *stepRun) runPart(ctx context.Context, p *registered) *pb.RunGraphResponse {
	resp, err := p.worker.RunGraph(ctx, r.request(p))
	return r.ran(p, resp, err)
}

// ran takes what a part ended with.
func (r *stepRun) ran(p *registered, resp *pb.RunGraphResponse, err error) *pb.RunGraphResponse {
	if err == nil {
		return resp
	}
	e := core.AsError(err)
	r.fail(&core.Error{Code: e.Code, Msg: "From " + p.task + ":\n" + e.WireMessage(), Derived: e.Derived})
	return nil
}

// request asks for one part of the step. Errors are to come as the status of
// the call: a response has no room for whether they follow from others.
func (r *stepRun) request(p *registered) *pb.RunGraphRequest {
	o := r.call.options
	req := &pb.RunGraphRequest{
		SessionHandle: r.s.handle, CreateWorkerSessionCalled: true, GraphHandle: p.handle, StepId: r.id,
		RequestId: requestid.New(), IsPartial: r.partial, IsLastPartialRun: r.last,
		ExecOpts: &pb.ExecutorOpts{
			RecordTimeline:                 r.traced(),
			RecordCosts:                    r.costs,
			RecordPartitionGraphs:          o.GetOutputPartitionGraphs(),
			ReportTensorAllocationsUponOom: o.GetReportTensorAllocationsUponOom(),
		},
	}
	for _, f := range p.feeds {
		if t, now := r.call.feeds[f.tensor]; now {
			req.Send = append(req.Send, &pb.NamedTensorProto{Name: f.key, Tensor: t})
		}
	}
	for _, f := range p.fetches {
		if _, now := r.call.fetches[f.tensor]; now {
			req.RecvKey = append(req.RecvKey, f.key)
		}
	}
	return req
}

func (r *stepRun) fail(e *core.Error) {
	r.mu.Lock()
	r.errs = append(r.errs, e)
	r.mu.Unlock()
	if !e.Derived {
		r.cancel(e)
	}
}

// root picks from the errors of a step the one that explains the others: the
// first that does not follow from another one, or from the step's end.
func root(errs []error) error {
	for _, err := range errs {
		if e := core.AsError(err); !e.Derived && e.Code != core.Canceled {
			return err
		}
	}
	for _, err := range errs {
		if !core.AsError(err).Derived {
			return err
		}
	}
	if len(errs) > 0 {
		return errs[0]
	}
	return nil
}

// fetched collects the fetches of this call, by tensor, from the workers'
// answers.
func (r *stepRun) fetched(answers []*pb.RunGraphResponse) (map[string]*pb.TensorProto, error) {
	out := make(map[string]*pb.TensorProto, len(r.call.fetches))
	for i := range r.parts {
		if err := r.collect(out, &r.parts[i], answers[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r *stepRun) collect(out map[string]*pb.TensorProto, p *registered, answer *pb.RunGraphResponse) error {
	got := make(map[string]*pb.TensorProto, len(answer.GetRecv()))
	for _, t := range answer.GetRecv() {
		got[t.GetName()] = t.GetTensor()
	}
	for _, f := range p.fetches {
		if _, now := r.call.fetches[f.tensor]; !now {
			continue
		}
		t := got[f.key]
		if t == nil {
			return core.Errorf(core.Internal, "the worker %s must return what is fetched from it, it did not return %s", p.task, f.tensor)
		}
		out[f.tensor] = t
	}
	return nil
}
