package worker

import (
	"context"
	"time"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Received is what a task gives to another one that asked for a tensor.
type Received struct {
	Tensor *core.Tensor // owned by the caller, nil if Dead
	Dead   bool
	Start  time.Time // when the value was there
	// RequireAck asks for a MarkRecvFinished: the value is kept until then.
	RequireAck bool
}

// RecvTensor waits for a value that a step here sends to another task.
func (w *Worker) RecvTensor(ctx context.Context, req *pb.RecvTensorRequest) (Received, error) {
	if w.keeps(req) {
		return w.keptAnswer(ctx, req, recvTensor, func() (Received, error) { return w.recv(w.ctx, req) })
	}
	if err := w.recent.Track(req.GetRequestId(), recvTensor); err != nil {
		return Received{}, err
	}
	return w.recv(ctx, req)
}

// What requests are called when they come twice.
const (
	recvTensor = "RecvTensor (GrpcWorker)"
	recvBuf    = "RecvBuf (GrpcWorker)"
)

// asked is a request that other tasks may send again.
type asked interface {
	GetRequestId() int64
	GetStepId() int64
}

// keptAnswer answers a request as often as it comes, until one of the answers has
// arrived. The value is fetched for all of them, so it is not the end of the first
// one that gives it up, but that of the step. An error of a step that does not run here
// is not kept longer than for those who wait.
func (w *Worker) keptAnswer(ctx context.Context, req asked, method string, fetch func() (Received, error)) (Received, error) {
	begin := func() error { return w.recent.Track(req.GetRequestId(), method) }
	answer := func() (Received, error) {
		v, err := fetch()
		if err != nil && !w.runs(req.GetStepId()) {
			w.responses.acknowledged(req.GetRequestId()) // no cleaning up of a step ends it
		}
		return v, err
	}
	r, err := w.responses.find(req.GetRequestId(), req.GetStepId(), begin, answer)
	if err != nil {
		return Received{}, err
	}
	if r == nil {
		return Received{}, context.Cause(w.ctx)
	}
	return w.responses.wait(ctx, r)
}

// keeps reports whether the answer to a request is kept until it is acknowledged.
// A request without an id cannot be known again.
func (w *Worker) keeps(req asked) bool { return w.env.CacheResponses && req.GetRequestId() != 0 }

// recv waits for a value, which can be taken once.
func (w *Worker) recv(ctx context.Context, req *pb.RecvTensorRequest) (v Received, err error) {
	got := make(chan struct{})
	w.take(ctx, req, func(r Received, e error) {
		v, err = r, e
		close(got)
	})
	<-got
	return v, err
}

// StartRecvTensor is RecvTensor that does not wait: done is called when the value
// is there, on the sender's goroutine, or when ctx ends. It must not wait.
func (w *Worker) StartRecvTensor(ctx context.Context, req *pb.RecvTensorRequest, done func(Received, error)) {
	if w.keeps(req) {
		go func() { done(w.recvApart(ctx, req)) }()
		return
	}
	if err := w.recent.Track(req.GetRequestId(), recvTensor); err != nil {
		done(Received{}, err)
		return
	}
	w.take(ctx, req, done)
}

// recvApart is RecvTensor on a goroutine of its own, which a panic must not end.
func (w *Worker) recvApart(ctx context.Context, req *pb.RecvTensorRequest) (v Received, err error) {
	defer core.Recover(&err, recvTensor)
	return w.RecvTensor(ctx, req)
}

// take gives a value to done, when it is there.
func (w *Worker) take(ctx context.Context, req *pb.RecvTensorRequest, done func(Received, error)) {
	if err := w.checkSource(req.GetRendezvousKey()); err != nil {
		done(Received{}, err)
		return
	}
	w.env.Rendezvous.RecvLocal(ctx, req.GetStepId(), req.GetRendezvousKey(), func(t *core.Tensor, dead bool, err error) {
		if err != nil {
			done(Received{}, err)
			return
		}
		done(Received{Tensor: t, Dead: dead, Start: time.Now()}, nil)
	})
}

// MarkRecvFinished tells that an answer to RecvTensor or RecvBuf has arrived.
func (w *Worker) MarkRecvFinished(_ context.Context, req *pb.MarkRecvFinishedRequest) (*pb.MarkRecvFinishedResponse, error) {
	w.responses.acknowledged(req.GetRequestId())
	return &pb.MarkRecvFinishedResponse{}, nil
}

// checkSource finds out whether the device that a key names is here, and still
// the one that is meant.
func (w *Worker) checkSource(key string) error {
	k, err := rendezvous.ParseKey(key)
	if err != nil {
		return err
	}
	return rendezvous.CheckSource(k, w.env.Devices, w.env.Task)
}
