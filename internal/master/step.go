package master

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
)

// RunStep runs one step.
func (m *Master) RunStep(ctx context.Context, req *pb.RunStepRequest) (*pb.RunStepResponse, error) {
	if req.GetPartialRunHandle() != "" {
		return nil, tf.Errorf(tf.Unimplemented, "partial runs are not supported by this master")
	}
	if err := m.recent.Track(req.GetRequestId(), "RunStep (Master)"); err != nil {
		return nil, err
	}
	s, err := m.find(req.GetSessionHandle())
	if err != nil {
		return nil, err
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.running.Done()
	ctx, cancel := bound(ctx, s.ctx)
	defer cancel()
	if ms := req.GetOptions().GetTimeoutInMs(); ms > 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
		defer cancel()
	}
	resp, err := s.runStep(ctx, req)
	if err != nil && s.ctx.Err() != nil { // that is why, whatever the workers say
		return nil, context.Cause(s.ctx)
	}
	return resp, err
}

// stepBits is the number of low bits that the number of a step may have.
const stepBits = 57

func (s *session) runStep(ctx context.Context, req *pb.RunStepRequest) (*pb.RunStepResponse, error) {
	c, err := newCall(req)
	if err != nil {
		return nil, err
	}
	parts, err := s.prepare(ctx, c.signature())
	if err != nil {
		return nil, err
	}
	r := &stepRun{s: s, id: rand.Int64N(1 << stepBits), call: c, parts: parts}
	answers, err := r.run(ctx)
	s.cleanup(r.id, parts)
	if err != nil {
		return nil, err
	}
	return r.response(answers)
}

// A stepRun is a step in progress at the workers.
type stepRun struct {
	s     *session
	id    int64
	call  *call
	parts []registered

	mu     sync.Mutex
	errs   []error
	cancel context.CancelCauseFunc
}

// run runs all parts at once and waits for the end of all of them. The first
// error that does not follow from another one ends the others.
func (r *stepRun) run(ctx context.Context) ([]*pb.RunGraphResponse, error) {
	ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(nil)
	out := make([]*pb.RunGraphResponse, len(r.parts))
	var wg sync.WaitGroup
	last := len(r.parts) - 1
	for i := range last {
		wg.Go(func() { out[i] = r.runPart(ctx, &r.parts[i]) })
	}
	out[last] = r.runPart(ctx, &r.parts[last])
	wg.Wait()
	return out, root(r.errs)
}

func (r *stepRun) runPart(ctx context.Context, p *registered) *pb.RunGraphResponse {
	resp, err := p.worker.RunGraph(ctx, r.request(p))
	if err == nil {
		return resp
	}
	e := tf.AsError(err)
	r.fail(&tf.Error{Code: e.Code, Msg: "From " + p.task + ":\n" + e.WireMessage(), Derived: e.Derived})
	return nil
}

// request asks for one part of the step. Errors are to come as the status of
// the call: a response has no room for whether they follow from others.
func (r *stepRun) request(p *registered) *pb.RunGraphRequest {
	o := r.call.req.GetOptions()
	req := &pb.RunGraphRequest{
		SessionHandle: r.s.handle, CreateWorkerSessionCalled: true, GraphHandle: p.handle, StepId: r.id,
		RequestId: requestid.New(),
		ExecOpts: &pb.ExecutorOpts{
			RecordTimeline:                 o.GetTraceLevel() == pb.RunOptions_FULL_TRACE,
			RecordPartitionGraphs:          o.GetOutputPartitionGraphs(),
			ReportTensorAllocationsUponOom: o.GetReportTensorAllocationsUponOom(),
		},
	}
	for _, f := range p.feeds {
		req.Send = append(req.Send, &pb.NamedTensorProto{Name: f.key, Tensor: r.call.feeds[f.tensor]})
	}
	for _, f := range p.fetches {
		req.RecvKey = append(req.RecvKey, f.key)
	}
	return req
}

func (r *stepRun) fail(e *tf.Error) {
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
		if e := tf.AsError(err); !e.Derived && e.Code != tf.Canceled {
			return err
		}
	}
	for _, err := range errs {
		if !tf.AsError(err).Derived {
			return err
		}
	}
	if len(errs) > 0 {
		return errs[0]
	}
	return nil
}

// response collects the fetches from the workers' answers.
func (r *stepRun) response(answers []*pb.RunGraphResponse) (*pb.RunStepResponse, error) {
	resp := &pb.RunStepResponse{}
	for i := range r.parts {
		if err := r.collect(resp, &r.parts[i], answers[i]); err != nil {
			return nil, err
		}
	}
	if r.call.req.GetOptions().GetOutputPartitionGraphs() {
		resp.Metadata = &pb.RunMetadata{}
		for _, a := range answers {
			resp.Metadata.PartitionGraphs = append(resp.Metadata.PartitionGraphs, a.GetPartitionGraph()...)
		}
	}
	return resp, nil
}

func (r *stepRun) collect(resp *pb.RunStepResponse, p *registered, answer *pb.RunGraphResponse) error {
	got := make(map[string]*pb.TensorProto, len(answer.GetRecv()))
	for _, t := range answer.GetRecv() {
		got[t.GetName()] = t.GetTensor()
	}
	for _, f := range p.fetches {
		t := got[f.key]
		if t == nil {
			return tf.Errorf(tf.Internal, "the worker %s must return what is fetched from it, it did not return %s", p.task, f.tensor)
		}
		for _, name := range r.call.fetches[f.tensor] {
			resp.Tensor = append(resp.Tensor, &pb.NamedTensorProto{Name: name, Tensor: t})
		}
	}
	return nil
}

// cleanup tells the workers that a step is over. The client has its answer by
// then; what goes wrong is only logged.
func (s *session) cleanup(step int64, parts []registered) {
	if s.m.start() != nil {
		return // the workers notice when the master's connections close
	}
	go func() {
		defer s.m.background.Done()
		ctx, cancel := context.WithTimeout(s.m.ctx, farewell)
		defer cancel()
		var wg sync.WaitGroup
		for _, p := range parts {
			wg.Go(func() { s.cleanupAt(ctx, p, step) })
		}
		wg.Wait()
	}()
}

func (s *session) cleanupAt(ctx context.Context, p registered, step int64) {
	if _, err := p.worker.CleanupGraph(ctx, &pb.CleanupGraphRequest{StepId: step}); err != nil {
		s.log.Info("a worker could not clean up a step", "worker", p.task, "step", step, "error", err)
	}
}
