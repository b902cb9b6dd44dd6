package eagerservice

import (
	"context"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/internal/step"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// callSpread calls a function that runs in several tasks.
func (c *Context) callSpread(ctx context.Context, op *operation, f core.Func) ([]value, error) {
	s, err := c.spreads.made.Get(ctx, spreadKey(op, f), step.Maker[*spread]{Within: c.session.Context(), Make: func(ctx context.Context) (*spread, error) {
		return c.makeSpread(ctx, op, f, c.functions()) // as it is by now, see spreads.forget
	}})
	if err != nil {
		return nil, err
	}
	return c.runSpread(ctx, op, s)
}

// makeSpread plans a function and gives the other tasks their parts. The call that began
// it may have left: the session's end waits for it all the same.
func (c *Context) makeSpread(ctx context.Context, op *operation, f core.Func, library *core.Library) (*spread, error) {
	end, err := c.session.Begin()
	if err != nil {
		return nil, err
	}
	defer end()
	s := &spread{}
	if err := c.plan(ctx, s, op, f, library); err != nil {
		return nil, err
	}
	return s, c.distribute(ctx, s)
}

// distribute gives the other tasks their parts.
func (c *Context) distribute(ctx context.Context, s *spread) error {
	for _, p := range s.parts {
		var err error
		if p.peer, err = c.peer(p.task); err != nil {
			return err
		}
		req := &pb.EnqueueRequest{ContextId: c.id, Queue: []*pb.QueueItem{{Item: &pb.QueueItem_RegisterFunction{RegisterFunction: &pb.RegisterFunctionOp{
			FunctionDef: p.function, Library: p.library, IsComponentFunction: true,
		}}}}}
		if _, err := p.peer.Enqueue(ctx, req); err != nil {
			return err
		}
		p.function, p.library = &pb.FunctionDef{Signature: &pb.OpDef{Name: p.function.GetSignature().GetName()}}, nil
	}
	return nil
}

// A spreadStep is one call under way.
type spreadStep struct {
	id     int64
	rdv    *rendezvous.Remote
	cancel context.CancelCauseFunc
	op     *operation
	s      *spread

	mu  sync.Mutex
	err error
	out []value
}

// runSpread runs all parts at once, in a step of its own that all tasks know by r.id:
// the parts wait for each other's tensors. The first error ends them all. It returns
// when none runs any more.
func (c *Context) runSpread(ctx context.Context, op *operation, s *spread) ([]value, error) {
	r := &spreadStep{id: requestid.New() &^ (-1 << 63), op: op, s: s, out: make([]value, len(s.rets))}
	var err error
	if r.rdv, err = c.session.Step(r.id); err != nil {
		return nil, err
	}
	defer c.endSpread(r)
	ctx, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(nil)
	var parts sync.WaitGroup
	for _, p := range s.parts {
		parts.Go(func() {
			r.fail(core.Guard("a part of a function", func() error { return c.runPart(ctx, r, p) }))
		})
	}
	if s.own != nil {
		r.fail(c.runOwn(ctx, r))
	}
	parts.Wait()
	if r.err == nil {
		r.err = r.checkResults()
	}
	return r.out, r.err
}

// checkResults finds results that are missing: of branches that were not taken, or kept in
// another task where the caller wants them at once.
func (r *spreadStep) checkResults() error {
	for i, v := range r.out {
		switch {
		case v.away == "" && v.tensor == nil:
			return core.Errorf(core.Internal, "Retval[%d] does not have value", i)
		case v.away != "" && r.op.def.GetId() == notKept:
			return core.Errorf(core.Internal, "a part of a function must answer with its results when they have no number, %s has kept result %d", v.away, i)
		}
	}
	return nil
}

// fail ends all parts. An error that follows from another does not hide the one
// that explains it.
func (r *spreadStep) fail(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	first := r.err == nil
	if first || follows(r.err) && !follows(err) {
		r.err = err
	}
	r.mu.Unlock()
	if first {
		r.cancel(err)
		r.rdv.Abort(err)
	}
}

func follows(err error) bool {
	e := core.AsError(err)
	return e.Derived || e.Code == core.Canceled
}

// endSpread ends the step, here and, without waiting for it, in the other tasks.
func (c *Context) endSpread(r *spreadStep) {
	c.session.EndStep(r.id)
	for _, p := range r.s.parts {
		end, err := c.session.Begin()
		if err != nil {
			return
		}
		go func() {
			defer end()
			ctx, cancel := context.WithTimeout(c.session.Context(), endTimeout)
			defer cancel()
			// If the task cannot be reached any more, nothing is left there.
			_, _ = p.peer.Enqueue(ctx, &pb.EnqueueRequest{ContextId: c.id, Queue: []*pb.QueueItem{{Item: &pb.QueueItem_CleanupFunction{CleanupFunction: &pb.CleanupFunctionOp{StepId: r.id}}}}})
		}()
	}
}

// endTimeout bounds a call that only frees memory early.
const endTimeout = 10 * time.Second

// given returns what a call gives for an argument.
func (s *spread) given(op *operation, index int) input {
	a := s.args[index]
	in := op.in[a.arg]
	if a.packed >= 0 {
		return in.packed[a.packed]
	}
	return in
}

// runOwn runs this task's part.
func (c *Context) runOwn(ctx context.Context, r *spreadStep) error {
	args := make([]*core.Tensor, len(r.s.args))
	for i := range args {
		args[i] = r.s.given(r.op, i).tensor // nil in other tasks' arguments
	}
	frame := step.NewFrame(args, len(r.s.rets))
	if err := r.s.own.Run(ctx, step.Args{ID: r.id, Rendezvous: r.rdv, Frame: frame}); err != nil {
		frame.Drop()
		return err
	}
	for i, t := range frame.Own() {
		if t == nil {
			continue
		}
		d, err := c.device(r.s.rets[i])
		if err != nil {
			return err
		}
		r.set(i, value{tensor: t, device: d})
	}
	return nil
}

func (r *spreadStep) set(i int, v value) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out[i] = v
}

// runPart has another task run its part.
func (c *Context) runPart(ctx context.Context, r *spreadStep, p *part) error {
	op := &pb.Operation{
		Id: r.op.def.GetId(), Name: p.function.GetSignature().GetName(), Device: p.device, FuncStepId: r.id, IsFunction: true, IsComponentFunction: true,
	}
	for _, i := range p.args {
		in, err := r.s.given(r.op, i).proto()
		if err != nil {
			return err
		}
		op.OpInputs = append(op.OpInputs, in)
	}
	if c.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	resp, err := p.peer.RunComponentFunction(ctx, &pb.RunComponentFunctionRequest{ContextId: c.id, Operation: op, OutputNum: p.rets})
	if err != nil {
		return err
	}
	return r.results(p, resp)
}

// proto returns what is given as it is sent to another task.
func (in input) proto() (*pb.Operation_Input, error) {
	if in.remote != nil {
		return &pb.Operation_Input{Item: &pb.Operation_Input_RemoteHandle{RemoteHandle: in.remote}}, nil
	}
	all, err := encode([]value{in.value})
	if err != nil {
		return nil, err
	}
	return &pb.Operation_Input{Item: &pb.Operation_Input_Tensor{Tensor: all[0]}}, nil
}

// results notes what a part has given: tensors, or the shapes of those that stay
// where they are.
func (r *spreadStep) results(p *part, resp *pb.RunComponentFunctionResponse) error {
	if max(len(resp.GetTensor()), len(resp.GetShape())) != len(p.rets) {
		return core.Errorf(core.Internal, "a part of a function has %d results, its task answers with %d tensors and %d shapes", len(p.rets), len(resp.GetTensor()), len(resp.GetShape()))
	}
	for k, i := range p.rets {
		if len(resp.GetTensor()) == 0 {
			r.set(int(i), value{away: p.device, shape: resp.GetShape()[k]})
			continue
		}
		t, err := core.TensorFromProto(resp.GetTensor()[k])
		if err != nil {
			return err
		}
		if t, err = r.op.device.FromHost(t); err != nil {
			return err
		}
		r.set(int(i), value{tensor: t, device: r.op.device})
	}
	return nil
}
