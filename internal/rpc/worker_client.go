package rpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A WorkerClient calls a worker. Calls fail at once when it cannot be reached,
// except GetStatus, which waits: masters begin with it.
type WorkerClient struct{ cc grpc.ClientConnInterface }

// NewWorkerClient returns the client of the worker behind a connection that has
// this package's codec.
func NewWorkerClient(cc grpc.ClientConnInterface) *WorkerClient { return &WorkerClient{cc} }

// GetStatus lists the worker's devices.
func (c *WorkerClient) GetStatus(ctx context.Context, req *pb.GetStatusRequest) (*pb.GetStatusResponse, error) {
	return call[pb.GetStatusResponse](ctx, c.cc, "/"+workerService+"/GetStatus", req, grpc.WaitForReady(true))
}

// VersionHeader is where Gorge's servers say in their answer to GetStatus which
// version they are.
const VersionHeader = "gorge-version"

// Probe is GetStatus that does not wait for a worker that cannot be reached. It
// returns the worker's version, too, which is empty for other servers.
func (c *WorkerClient) Probe(ctx context.Context) (resp *pb.GetStatusResponse, version string, err error) {
	var header metadata.MD
	resp, err = call[pb.GetStatusResponse](ctx, c.cc, "/"+workerService+"/GetStatus", &pb.GetStatusRequest{}, grpc.Header(&header))
	if v := header.Get(VersionHeader); len(v) > 0 {
		version = v[0]
	}
	return resp, version, err
}

// CreateWorkerSession opens a master's session on the worker.
func (c *WorkerClient) CreateWorkerSession(ctx context.Context, req *pb.CreateWorkerSessionRequest) (*pb.CreateWorkerSessionResponse, error) {
	return call[pb.CreateWorkerSessionResponse](ctx, c.cc, "/"+workerService+"/CreateWorkerSession", req)
}

// DeleteWorkerSession ends a master's session.
func (c *WorkerClient) DeleteWorkerSession(ctx context.Context, req *pb.DeleteWorkerSessionRequest) (*pb.DeleteWorkerSessionResponse, error) {
	return call[pb.DeleteWorkerSessionResponse](ctx, c.cc, "/"+workerService+"/DeleteWorkerSession", req)
}

// RegisterGraph prepares a partition of a graph and answers with its handle.
func (c *WorkerClient) RegisterGraph(ctx context.Context, req *pb.RegisterGraphRequest) (*pb.RegisterGraphResponse, error) {
	return call[pb.RegisterGraphResponse](ctx, c.cc, "/"+workerService+"/RegisterGraph", req)
}

// DeregisterGraph gives up a partition; only masters without worker sessions call it.
func (c *WorkerClient) DeregisterGraph(ctx context.Context, req *pb.DeregisterGraphRequest) (*pb.DeregisterGraphResponse, error) {
	return call[pb.DeregisterGraphResponse](ctx, c.cc, "/"+workerService+"/DeregisterGraph", req)
}

// RunGraph runs a partition for one step.
func (c *WorkerClient) RunGraph(ctx context.Context, req *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	return call[pb.RunGraphResponse](ctx, c.cc, "/"+workerService+"/RunGraph", req)
}

const (
	recvTensor   = "/" + workerService + "/RecvTensor"
	runGraph     = "/" + workerService + "/RunGraph"
	cleanupGraph = "/" + workerService + "/CleanupGraph"
)

// StartRunGraph is RunGraph that does not wait, if the worker can be reached by
// a link: else it reports false. done must not wait either.
func (c *WorkerClient) StartRunGraph(ctx context.Context, req *pb.RunGraphRequest, done func(*pb.RunGraphResponse, error)) bool {
	resp := &pb.RunGraphResponse{}
	return c.start(ctx, runGraph, req, resp, func(err error) {
		if err != nil {
			resp = nil
		}
		done(resp, err)
	})
}

// StartRecvTensor is to RecvTensor what StartRunGraph is to RunGraph.
func (c *WorkerClient) StartRecvTensor(ctx context.Context, req *pb.RecvTensorRequest, alloc rendezvous.Alloc, done func(*TensorResponse, error)) bool {
	resp := &TensorResponse{alloc: alloc}
	return c.start(ctx, recvTensor, req, resp, func(err error) {
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
	return ok && ch.links.notify(cleanupGraph, &pb.CleanupGraphRequest{StepId: step})
}

func (c *WorkerClient) start(ctx context.Context, method string, req, resp any, done func(error)) bool {
	ch, ok := c.cc.(*Channel)
	return ok && ch.links.start(ctx, method, req, resp, func(err error) { done(withTask(ch, method, err)) })
}

// CleanupGraph drops what is left of a step.
func (c *WorkerClient) CleanupGraph(ctx context.Context, req *pb.CleanupGraphRequest) (*pb.CleanupGraphResponse, error) {
	return call[pb.CleanupGraphResponse](ctx, c.cc, "/"+workerService+"/CleanupGraph", req)
}

// CleanupAll clears resource containers.
func (c *WorkerClient) CleanupAll(ctx context.Context, req *pb.CleanupAllRequest) (*pb.CleanupAllResponse, error) {
	return call[pb.CleanupAllResponse](ctx, c.cc, "/"+workerService+"/CleanupAll", req)
}

// RecvTensor waits for a value that the worker sends. Plain elements go to
// memory that alloc returns; nil stands for ordinary memory.
func (c *WorkerClient) RecvTensor(ctx context.Context, req *pb.RecvTensorRequest, alloc rendezvous.Alloc) (*TensorResponse, error) {
	resp := &TensorResponse{alloc: alloc}
	if err := invoke(ctx, c.cc, "/"+workerService+"/RecvTensor", req, resp); err != nil {
		return nil, err
	}
	if resp.err != nil {
		return nil, resp.err
	}
	return resp, nil
}

// MarkRecvFinished tells that an answer to RecvTensor has arrived.
func (c *WorkerClient) MarkRecvFinished(ctx context.Context, req *pb.MarkRecvFinishedRequest) (*pb.MarkRecvFinishedResponse, error) {
	return call[pb.MarkRecvFinishedResponse](ctx, c.cc, "/"+workerService+"/MarkRecvFinished", req)
}

// Logging switches records of transfers on or off, or fetches them.
func (c *WorkerClient) Logging(ctx context.Context, req *pb.LoggingRequest) (*pb.LoggingResponse, error) {
	return call[pb.LoggingResponse](ctx, c.cc, "/"+workerService+"/Logging", req)
}

// Tracing profiles the worker.
func (c *WorkerClient) Tracing(ctx context.Context, req *pb.TracingRequest) (*pb.TracingResponse, error) {
	return call[pb.TracingResponse](ctx, c.cc, "/"+workerService+"/Tracing", req)
}

// RecvBuf waits for a buffer of a collective operation, whose bytes must fill
// into.
func (c *WorkerClient) RecvBuf(ctx context.Context, req *pb.RecvBufRequest, into []byte) error {
	resp := &BufferResponse{into: into}
	if err := invoke(ctx, c.cc, "/"+workerService+"/RecvBuf", req, resp); err != nil {
		return err
	}
	if resp.RequireAck {
		go acknowledge(ctx, c, req.GetRequestId())
	}
	return resp.err
}

// GetStepSequence answers with the next step numbers of graphs with collectives.
func (c *WorkerClient) GetStepSequence(ctx context.Context, req *pb.GetStepSequenceRequest) (*pb.GetStepSequenceResponse, error) {
	return call[pb.GetStepSequenceResponse](ctx, c.cc, "/"+workerService+"/GetStepSequence", req)
}

// CompleteGroup waits until all members of a group have called, and for the worker
// to be there: tasks start in any order.
func (c *WorkerClient) CompleteGroup(ctx context.Context, req *pb.CompleteGroupRequest) (*pb.CompleteGroupResponse, error) {
	return call[pb.CompleteGroupResponse](ctx, c.cc, "/"+workerService+"/CompleteGroup", req, grpc.WaitForReady(true))
}

// CompleteInstance waits until all members of a group agree on a collective
// operation.
func (c *WorkerClient) CompleteInstance(ctx context.Context, req *pb.CompleteInstanceRequest) (*pb.CompleteInstanceResponse, error) {
	return call[pb.CompleteInstanceResponse](ctx, c.cc, "/"+workerService+"/CompleteInstance", req)
}
