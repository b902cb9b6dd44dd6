package chaos

import (
	"context"
	"time"

	"github.com/gorge-tf/gorge/internal/worker"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A remote is a worker behind the network, as clients of gRPC make one: GetStatus
// waits for it, other calls fail when it cannot be reached.
type remote struct {
	n *Network
	way
}

func ask[Req, Resp any](ctx context.Context, r *remote, what string, req *Req, f func(*worker.Worker, context.Context, *Req) (*Resp, error)) (*Resp, error) {
	return call(ctx, r.n, r.way, what, func(ctx context.Context, l *life) (*Resp, error) { return f(l.worker, ctx, req) })
}

// again is how long GetStatus waits before it tries to connect again.
const again = time.Second

// GetStatus lists the worker's devices.
func (r *remote) GetStatus(ctx context.Context, req *pb.GetStatusRequest) (*pb.GetStatusResponse, error) {
	for {
		resp, err := ask(ctx, r, "GetStatus", req, (*worker.Worker).GetStatus)
		if core.CodeOf(err) != core.Unavailable {
			return resp, err
		}
		t := time.NewTimer(again)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, err
		case <-t.C:
		}
	}
}

// CreateWorkerSession opens a master's session.
func (r *remote) CreateWorkerSession(ctx context.Context, req *pb.CreateWorkerSessionRequest) (*pb.CreateWorkerSessionResponse, error) {
	return ask(ctx, r, "CreateWorkerSession", req, (*worker.Worker).CreateWorkerSession)
}

// DeleteWorkerSession ends one.
func (r *remote) DeleteWorkerSession(ctx context.Context, req *pb.DeleteWorkerSessionRequest) (*pb.DeleteWorkerSessionResponse, error) {
	return ask(ctx, r, "DeleteWorkerSession", req, (*worker.Worker).DeleteWorkerSession)
}

// RegisterGraph prepares a part of a graph.
func (r *remote) RegisterGraph(ctx context.Context, req *pb.RegisterGraphRequest) (*pb.RegisterGraphResponse, error) {
	return ask(ctx, r, "RegisterGraph", req, (*worker.Worker).RegisterGraph)
}

// DeregisterGraph gives one up.
func (r *remote) DeregisterGraph(ctx context.Context, req *pb.DeregisterGraphRequest) (*pb.DeregisterGraphResponse, error) {
	return ask(ctx, r, "DeregisterGraph", req, (*worker.Worker).DeregisterGraph)
}

// RunGraph runs a part of a step.
func (r *remote) RunGraph(ctx context.Context, req *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	return ask(ctx, r, "RunGraph", req, (*worker.Worker).RunGraph)
}

// CleanupGraph drops what is left of a step.
func (r *remote) CleanupGraph(ctx context.Context, req *pb.CleanupGraphRequest) (*pb.CleanupGraphResponse, error) {
	return ask(ctx, r, "CleanupGraph", req, (*worker.Worker).CleanupGraph)
}

// CleanupAll clears containers.
func (r *remote) CleanupAll(ctx context.Context, req *pb.CleanupAllRequest) (*pb.CleanupAllResponse, error) {
	return ask(ctx, r, "CleanupAll", req, (*worker.Worker).CleanupAll)
}

// Logging records transfers.
func (r *remote) Logging(ctx context.Context, req *pb.LoggingRequest) (*pb.LoggingResponse, error) {
	return ask(ctx, r, "Logging", req, (*worker.Worker).Logging)
}
