package rpc

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/gorge-tf/gorge/internal/method"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// What follows are the calls of workers that are not generated: their answers have a
// form of their own, or they do not wait.

// VersionHeader is where Gorge's servers say in their answer to GetStatus which
// version they are.
const VersionHeader = "gorge-version"

// Probe is GetStatus that does not wait for a worker that cannot be reached. It
// returns the worker's version, too, which is empty for other servers.
func (c *WorkerClient) Probe(ctx context.Context) (resp *pb.GetStatusResponse, version string, err error) {
	var header metadata.MD
	resp, err = call[pb.GetStatusResponse](ctx, c.cc, method.WorkerGetStatus, &pb.GetStatusRequest{}, grpc.Header(&header))
	if v := header.Get(VersionHeader); len(v) > 0 {
		version = v[0]
	}
	return resp, version, err
}

// Unreached returns why the worker cannot be reached now, in one line; "" if it can, or if
// that is not known before ctx ends.
func (c *WorkerClient) Unreached(ctx context.Context) string {
	_, _, err := c.Probe(ctx)
	if core.CodeOf(err) != core.Unavailable {
		return ""
	}
	why, _, _ := strings.Cut(core.AsError(err).Message(), "\n") // the rest names the task
	return why
}

// StartRunGraph is RunGraph that does not wait, if the worker can be reached by
// a link: else it reports false. done must not wait either.
func (c *WorkerClient) StartRunGraph(ctx context.Context, req *pb.RunGraphRequest, done func(*pb.RunGraphResponse, error)) bool {
	resp := &pb.RunGraphResponse{}
	return c.start(ctx, method.WorkerRunGraph, req, resp, func(err error) {
		if err != nil {
			resp = nil
		}
		done(resp, err)
	})
}

// StartRecvTensor is to RecvTensor what StartRunGraph is to RunGraph.
func (c *WorkerClient) StartRecvTensor(ctx context.Context, req *pb.RecvTensorRequest, alloc rendezvous.Alloc, done func(*TensorResponse, error)) bool {
	resp := &TensorResponse{alloc: alloc}
	return c.start(ctx, method.WorkerRecvTensor, req, resp, func(err error) {
		if err == nil {
			err = resp.err
		}
		if err != nil {
			resp = nil
		}
		done(resp, err)
	})
}

// ForgetStep is CleanupGraph without an answer, if the worker can be reached by
// a link: else it reports false.
func (c *WorkerClient) ForgetStep(step int64) bool {
	ch, ok := c.cc.(*Channel)
	return ok && ch.links.notify(method.WorkerCleanupGraph, &pb.CleanupGraphRequest{StepId: step})
}

func (c *WorkerClient) start(ctx context.Context, path string, req, resp any, done func(error)) bool {
	ch, ok := c.cc.(*Channel)
	return ok && ch.links.start(ctx, path, req, resp, func(err error) { done(withTask(ch, path, err)) })
}

// RecvTensor waits for a value that the worker sends. Plain elements go to
// memory that alloc returns; nil stands for ordinary memory.
func (c *WorkerClient) RecvTensor(ctx context.Context, req *pb.RecvTensorRequest, alloc rendezvous.Alloc) (*TensorResponse, error) {
	resp := &TensorResponse{alloc: alloc}
	if err := invoke(ctx, c.cc, method.WorkerRecvTensor, req, resp); err != nil {
		return nil, err
	}
	if resp.err != nil {
		return nil, resp.err
	}
	return resp, nil
}

// RecvBuf waits for a buffer of a collective operation, whose bytes must fill
// into.
func (c *WorkerClient) RecvBuf(ctx context.Context, req *pb.RecvBufRequest, into []byte) error {
	resp := &BufferResponse{into: into}
	if err := invoke(ctx, c.cc, method.WorkerRecvBuf, req, resp); err != nil {
		return err
	}
	if resp.RequireAck {
		c.acknowledge(ctx, req.GetRequestId())
	}
	return resp.err
}
