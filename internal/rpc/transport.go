package rpc

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A Transport is the rendezvous transport made of RecvTensor calls.
type Transport struct {
	channels WorkerCache
	retries  int
}

var _ rendezvous.Transport = (*Transport)(nil)

// NewTransport returns a transport over channels. A receive that fails because
// its peer could not be reached is tried again up to retries times, which is
// safe if the peer keeps its answers until they are acknowledged.
func NewTransport(channels WorkerCache, retries int) *Transport {
	return &Transport{channels: channels, retries: retries}
}

// Recv asks a task for a value, see [rendezvous.Transport]. The goroutine that
// waits for the answer ends with ctx; the channel owns the acknowledgement.
func (t *Transport) Recv(ctx context.Context, task string, step int64, key string, alloc rendezvous.Alloc, done func(rendezvous.Result)) {
	w, err := t.channels.Worker(task)
	if err != nil {
		done(rendezvous.Result{Err: err})
		return
	}
	req := &pb.RecvTensorRequest{StepId: step, RendezvousKey: key, RequestId: requestid.New()}
	if !w.StartRecvTensor(ctx, req, alloc, func(resp *TensorResponse, err error) { t.received(ctx, w, req, alloc, resp, err, done) }) {
		go t.recv(ctx, w, req, alloc, done)
	}
}

// received takes what came by a link.
func (t *Transport) received(ctx context.Context, w *WorkerClient, req *pb.RecvTensorRequest, alloc rendezvous.Alloc, resp *TensorResponse, err error, done func(rendezvous.Result)) {
	switch {
	case err == nil:
		t.deliver(ctx, w, req, resp, done)
	case t.retries > 0 && unreachable(err):
		go t.recv(ctx, w, req, alloc, done)
	default:
		done(rendezvous.Result{Err: err})
	}
}

func (t *Transport) deliver(ctx context.Context, w *WorkerClient, req *pb.RecvTensorRequest, resp *TensorResponse, done func(rendezvous.Result)) {
	if resp.RequireAck {
		defer w.acknowledge(ctx, req.GetRequestId())
	}
	done(rendezvous.Result{Tensor: resp.Tensor, Dead: resp.Dead})
}

func (t *Transport) recv(ctx context.Context, w *WorkerClient, req *pb.RecvTensorRequest, alloc rendezvous.Alloc, done func(rendezvous.Result)) {
	resp, err := t.attempt(ctx, w, req, alloc)
	if err != nil {
		done(rendezvous.Result{Err: err})
		return
	}
	t.deliver(ctx, w, req, resp, done)
}

// attempt makes the call, again if it may.
func (t *Transport) attempt(ctx context.Context, w *WorkerClient, req *pb.RecvTensorRequest, alloc rendezvous.Alloc) (resp *TensorResponse, err error) {
	err = again(ctx, t.retries, func() error {
		return core.Guard("a receive", func() error {
			resp, err = w.RecvTensor(ctx, req, alloc)
			return err
		})
	})
	return resp, err
}

// again makes a call, and up to retries times more if it failed on its way.
func again(ctx context.Context, retries int, call func() error) error {
	for n := 0; ; n++ {
		err := call()
		if err == nil || n >= retries || !unreachable(err) || !sleep(ctx, retryDelay(n)) {
			return err
		}
	}
}

// A PatientWorker asks for buffers again that could not be had because its peer
// could not be reached, as a [Transport] does for tensors.
type PatientWorker struct {
	*WorkerClient
	Retries int
}

// RecvBuf waits for a buffer of a collective operation, whose bytes must fill into.
func (w PatientWorker) RecvBuf(ctx context.Context, req *pb.RecvBufRequest, into []byte) error {
	return again(ctx, w.Retries, func() error { return w.WorkerClient.RecvBuf(ctx, req, into) })
}

// unreachable reports whether a call failed on its way.
func unreachable(err error) bool {
	c := core.CodeOf(err)
	return c == core.Unavailable || c == core.Unknown
}

// retryDelay grows from 10 ms by a third each time up to ten seconds, and
// differs between callers, so that they do not come back all at once.
func retryDelay(n int) time.Duration {
	d := 10 * time.Millisecond
	for range min(n, 30) {
		d += d / 3
	}
	d = min(d, 10*time.Second)
	return d*3/4 + rand.N(d/4)
}

// sleep reports whether ctx went on for d.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
