package eagerservice

import (
	"context"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Enqueue serves entries of a client's queue in turn. The first error ends it;
// what came before has been done.
func (s *Service) Enqueue(ctx context.Context, req *pb.EnqueueRequest) (*pb.EnqueueResponse, error) {
	return s.enqueue(ctx, req, nil)
}

// A Stream is a sequence of requests of one client, for one goroutine at a time.
type Stream struct {
	s *Service
	// failed is the error of an operation without outputs: what comes next ends
	// with it, as it does where such operations are only begun.
	failed error
}

// NewStream returns a stream that nothing has come over yet.
func (s *Service) NewStream() *Stream { return &Stream{s: s} }

// Enqueue serves the entries of the stream's next request. An error ends the
// stream.
func (st *Stream) Enqueue(ctx context.Context, req *pb.EnqueueRequest) (*pb.EnqueueResponse, error) {
	return st.s.enqueue(ctx, req, st)
}

func (s *Service) enqueue(ctx context.Context, req *pb.EnqueueRequest, st *Stream) (*pb.EnqueueResponse, error) {
	c, err := s.find(req.GetContextId())
	if err != nil {
		return nil, err
	}
	end, err := c.session.Begin()
	if err != nil {
		return nil, err
	}
	defer end()
	ctx, cancel := c.during(ctx)
	defer cancel()
	resp := &pb.EnqueueResponse{QueueResponse: make([]*pb.QueueResponse, len(req.GetQueue()))}
	for i, item := range req.GetQueue() {
		resp.QueueResponse[i] = &pb.QueueResponse{}
		if err := st.serve(ctx, c, item, resp.QueueResponse[i]); err != nil {
			return nil, err
		}
	}
	return resp, nil
}

// cancelled is what TensorFlow adds to the error of an operation that fails because an
// earlier one has failed.
const cancelled = "\n\tEncountered when executing an operation using EagerExecutor. This error cancels all future operations and poisons their output tensors."

// serve serves an entry that came over a stream; nil stands for none.
func (st *Stream) serve(ctx context.Context, c *Context, item *pb.QueueItem, resp *pb.QueueResponse) error {
	op := item.GetOperation()
	if st != nil && st.failed != nil && (op != nil || item.GetSyncRemoteExecutorForStream() != nil) {
		return st.failed
	}
	err := c.serve(ctx, item, resp)
	if st == nil || err == nil || op == nil || !givesNothing(op) {
		return err
	}
	e := *core.AsError(err)
	e.Msg += cancelled
	st.failed = &e
	return nil
}

// givesNothing reports whether an operation has no outputs.
func givesNothing(op *pb.Operation) bool {
	d := core.Lookup(op.GetName())
	return d != nil && len(d.Outputs) == 0
}

// during returns a context that ends with the caller's and with c.
func (c *Context) during(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.session.Context(), func() { cancel(context.Cause(c.session.Context())) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

func (c *Context) serve(ctx context.Context, item *pb.QueueItem, resp *pb.QueueResponse) error {
	switch i := item.GetItem().(type) {
	case *pb.QueueItem_Operation:
		return c.execute(ctx, i.Operation, resp)
	case *pb.QueueItem_HandleToDecref:
		// That a handle is not there is no failure of the queue: it may have
		// been the result of an operation that failed.
		_ = c.handles.drop(name{i.HandleToDecref.GetOpId(), i.HandleToDecref.GetOutputNum()})
		return nil
	case *pb.QueueItem_SendTensor:
		return c.sendTensor(i.SendTensor)
	case *pb.QueueItem_SendPackedHandle:
		return c.sendPackedHandle(i.SendPackedHandle)
	case *pb.QueueItem_RegisterFunction:
		return c.register(i.RegisterFunction)
	case *pb.QueueItem_RemoveFunction:
		return c.remove(i.RemoveFunction.GetFunctionName())
	case *pb.QueueItem_CleanupFunction:
		c.session.EndStep(i.CleanupFunction.GetStepId())
		return nil
	case *pb.QueueItem_SyncRemoteExecutorForStream:
		return nil // all that came before is done
	}
	return core.Errorf(core.InvalidArgument, "an entry of the queue must say what to do, this one is empty")
}

// sendTensor keeps tensors that the client sends along.
func (c *Context) sendTensor(op *pb.SendTensorOp) error {
	d, err := c.device(op.GetDeviceName())
	if err != nil {
		return err
	}
	all := make([]*core.Tensor, len(op.GetTensors()))
	for i, p := range op.GetTensors() {
		t, err := core.TensorFromProto(p)
		if err != nil {
			return unparsed("Unable to parse tensor proto", core.AsError(err))
		}
		if all[i], err = d.FromHost(t); err != nil {
			return err
		}
	}
	for i, t := range all {
		c.handles.add(name{op.GetOpId(), int32(i)}, value{tensor: t, device: d})
	}
	return nil
}

// unparsed is the error of a tensor that cannot be had from a message. The code is
// TensorFlow's, unless the message is fine and memory is short: that is worth another try.
func unparsed(what string, err *core.Error) error {
	code := core.InvalidArgument
	if err.Code == core.ResourceExhausted {
		code = core.ResourceExhausted
	}
	return core.Errorf(code, "%s: %s", what, err.Message())
}

// sendPackedHandle makes one value of several, of which each device sees its own.
func (c *Context) sendPackedHandle(op *pb.SendPackedHandleOp) error {
	if len(op.GetHandles()) == 0 {
		return core.Errorf(core.InvalidArgument, "Handles should not be empty.")
	}
	v := value{packed: make([]input, len(op.GetHandles()))}
	for i, h := range op.GetHandles() {
		var err error
		if l := h.GetLocalHandle(); l != nil {
			v.packed[i].value, err = c.local(l.GetTensor(), l.GetDevice())
		} else {
			v.packed[i], err = c.resolve(h.GetRemoteHandle())
		}
		if err != nil {
			return err
		}
		if i > 0 && v.packed[i].dtype() != v.packed[0].dtype() {
			return core.Errorf(core.InvalidArgument, "CreatePackedHandle: Inconsistent dtypes")
		}
		if len(v.packed[i].packed) > 0 {
			return core.Errorf(core.InvalidArgument, "Nested packed handles are not supported")
		}
	}
	c.handles.add(name{op.GetOpId(), 0}, v)
	return nil
}

// local returns a tensor that came along for a device.
func (c *Context) local(p *pb.TensorProto, device string) (value, error) {
	d, err := c.device(device)
	if err != nil {
		return value{}, err
	}
	t, err := core.TensorFromProto(p)
	if err != nil {
		return value{}, unparsed("Invalid TensorProto", core.AsError(err))
	}
	if t, err = d.FromHost(t); err != nil {
		return value{}, err
	}
	return value{tensor: t, device: d}, nil
}
