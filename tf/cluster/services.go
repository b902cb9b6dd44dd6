package cluster

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/gorge-tf/gorge/internal/master"
	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/internal/worker"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// masterService puts a master behind gRPC. Errors of steps travel in the
// response when the client wants that: a status has less room.
type masterService struct {
	*master.Master
	unimplementedMaster
}

// unimplementedMaster is one level deeper than Master, whose methods win.
type unimplementedMaster struct{ rpc.UnimplementedMaster }

// RunStep runs one step.
func (s *masterService) RunStep(ctx context.Context, req *pb.RunStepRequest) (*pb.RunStepResponse, error) {
	resp, err := s.Master.RunStep(ctx, req)
	if err != nil && req.GetStoreErrorsInResponseBody() {
		e := tf.AsError(err)
		return &pb.RunStepResponse{StatusCode: pb.Code(e.Code), StatusErrorMessage: e.WireMessage()}, nil
	}
	return resp, err
}

// workerService puts a worker behind gRPC.
type workerService struct {
	*worker.Worker
	unimplementedWorker
}

type unimplementedWorker struct{ rpc.UnimplementedWorker }

// GetStatus lists the devices of the task, and says in a header which version
// of Gorge it is.
func (s *workerService) GetStatus(ctx context.Context, req *pb.GetStatusRequest) (*pb.GetStatusResponse, error) {
	if err := grpc.SetHeader(ctx, metadata.Pairs(rpc.VersionHeader, version())); err != nil {
		return nil, err
	}
	return s.Worker.GetStatus(ctx, req)
}

// RunGraph runs a step's part.
func (s *workerService) RunGraph(ctx context.Context, req *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	resp, err := s.Worker.RunGraph(ctx, req)
	if err != nil && req.GetStoreErrorsInResponseBody() {
		e := tf.AsError(err)
		return &pb.RunGraphResponse{StatusCode: pb.Code(e.Code), StatusErrorMessage: e.WireMessage()}, nil
	}
	return resp, err
}

// RecvTensor waits for a value that another task wants.
func (s *workerService) RecvTensor(ctx context.Context, req *pb.RecvTensorRequest) (*rpc.TensorResponse, error) {
	v, err := s.Worker.RecvTensor(ctx, req)
	if err != nil {
		return nil, err
	}
	return tensorResponse(v), nil
}

// StartRecvTensor is RecvTensor that does not wait.
func (s *workerService) StartRecvTensor(ctx context.Context, req *pb.RecvTensorRequest, done func(*rpc.TensorResponse, error)) {
	s.Worker.StartRecvTensor(ctx, req, func(v worker.Received, err error) {
		if err != nil {
			done(nil, err)
			return
		}
		done(tensorResponse(v), nil)
	})
}

func tensorResponse(v worker.Received) *rpc.TensorResponse {
	return &rpc.TensorResponse{Tensor: v.Tensor, Dead: v.Dead, SendStart: v.Start.UnixMicro(), RequireAck: v.RequireAck}
}

// workers is the cluster as a server's master sees it.
type workers struct {
	own    string
	worker *worker.Worker // of the task itself, called without a network
	cache  rpc.WorkerCache
	tasks  []string
}

// Tasks returns the names of all tasks.
func (w *workers) Tasks() []string { return w.tasks }

// Worker returns the worker of a task.
func (w *workers) Worker(task string) (master.Worker, error) {
	if task == w.own {
		return w.worker, nil
	}
	c, err := w.cache.Worker(task)
	if err != nil {
		return nil, err
	}
	return remoteWorker{c}, nil
}

// remoteWorker is a worker in another process.
type remoteWorker struct{ *rpc.WorkerClient }

// RunGraph runs a step's part; an error in the response is returned as one.
func (w remoteWorker) RunGraph(ctx context.Context, req *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	return ran(w.WorkerClient.RunGraph(ctx, req))
}

// StartRunGraph is RunGraph that does not wait, if that is possible.
func (w remoteWorker) StartRunGraph(ctx context.Context, req *pb.RunGraphRequest, done func(*pb.RunGraphResponse, error)) bool {
	return w.WorkerClient.StartRunGraph(ctx, req, func(resp *pb.RunGraphResponse, err error) { done(ran(resp, err)) })
}

func ran(resp *pb.RunGraphResponse, err error) (*pb.RunGraphResponse, error) {
	if err != nil {
		return nil, err
	}
	if c := tf.Code(resp.GetStatusCode()); c != tf.OK {
		return nil, &tf.Error{Code: c, Msg: resp.GetStatusErrorMessage()}
	}
	return resp, nil
}
