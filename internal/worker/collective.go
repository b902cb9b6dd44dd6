package worker

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/collective"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// What belongs to collective operations is answered by the task's runtime of
// them. A worker that has none says so as TensorFlow's do, so that masters and
// peers see why.

// collectives returns the runtime that a request is for.
func (w *Worker) collectives(req proto.Message) (*collective.Runtime, error) {
	if handle := pb.SessionOf(req); handle != "" {
		s, err := w.find(true, handle)
		if err != nil {
			return nil, err
		}
		if s.collectives != nil {
			return s.collectives, nil
		}
	}
	if w.env.Collectives == nil {
		return nil, core.Errorf(core.Internal, "Runtime not initialized with CollectiveExecutorMgr")
	}
	return w.env.Collectives, nil
}

// CompleteGroup makes a device a member of a group, and answers when that is
// complete.
func (w *Worker) CompleteGroup(ctx context.Context, req *pb.CompleteGroupRequest) (*pb.CompleteGroupResponse, error) {
	r, err := w.collectives(req)
	if err != nil {
		return nil, err
	}
	ctx, cancel := w.within(ctx)
	defer cancel()
	return r.CompleteGroup(ctx, req)
}

// CompleteInstance notes what a device says of something that its group does, and
// answers when the source of a broadcast is known.
func (w *Worker) CompleteInstance(ctx context.Context, req *pb.CompleteInstanceRequest) (*pb.CompleteInstanceResponse, error) {
	r, err := w.collectives(req)
	if err != nil {
		return nil, err
	}
	ctx, cancel := w.within(ctx)
	defer cancel()
	return r.CompleteInstance(ctx, req)
}

// GetStepSequence tells the next steps of graphs that several masters run.
func (w *Worker) GetStepSequence(ctx context.Context, req *pb.GetStepSequenceRequest) (*pb.GetStepSequenceResponse, error) {
	r, err := w.collectives(req)
	if err != nil {
		return nil, err
	}
	return r.GetStepSequence(ctx, req)
}

// A Buffer is what a task gives to another one that asked for part of a
// collective operation.
type Buffer struct {
	Content []byte
	Sent    func() // to be called when Content is not needed any more
	// RequireAck asks for a MarkRecvFinished: the content is kept until then.
	RequireAck bool
}

// RecvBuf waits for a value that a device here leaves for one of another task.
func (w *Worker) RecvBuf(ctx context.Context, req *pb.RecvBufRequest) (Buffer, error) {
	if w.keeps(req) {
		v, err := w.keptAnswer(ctx, req, recvBuf, func() (Received, error) { return w.copyOf(req) })
		if err != nil {
			return Buffer{}, err
		}
		return Buffer{Content: core.Data[uint8](v.Tensor), Sent: v.Tensor.Release, RequireAck: v.RequireAck}, nil
	}
	if err := w.recent.Track(req.GetRequestId(), recvBuf); err != nil {
		return Buffer{}, err
	}
	l, err := w.borrow(ctx, req)
	if err != nil {
		return Buffer{}, err
	}
	return Buffer{Content: l.Bytes(), Sent: l.Return}, nil
}

// borrow waits for a value, which can be taken once.
func (w *Worker) borrow(ctx context.Context, req *pb.RecvBufRequest) (*collective.Loan, error) {
	r, err := w.collectives(req)
	if err != nil {
		return nil, err
	}
	ctx, cancel := w.within(ctx)
	defer cancel()
	return r.RecvBuf(ctx, req)
}

// copyOf waits for a value and returns a copy: its owner may write to it as soon
// as it has been taken. TensorFlow keeps the value itself, and what it answers
// later is what the owner has written.
func (w *Worker) copyOf(req *pb.RecvBufRequest) (Received, error) {
	l, err := w.borrow(w.ctx, req)
	if err != nil {
		return Received{}, err
	}
	defer l.Return()
	b := slices.Clone(l.Bytes())
	t, err := core.FromSlice(b, len(b))
	return Received{Tensor: t}, err
}

// within returns a context that ends with ctx and with the worker.
func (w *Worker) within(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(w.ctx, func() { cancel(context.Cause(w.ctx)) })
	return ctx, func() { stop(); cancel(nil) }
}

// Tracing is not implemented, as in TensorFlow: steps are traced by RunOptions.
func (w *Worker) Tracing(context.Context, *pb.TracingRequest) (*pb.TracingResponse, error) {
	return nil, core.Errorf(core.Unimplemented, "Tracing")
}
