package rpc

import (
	"context"

	"google.golang.org/grpc"

	"github.com/gorge-tf/gorge/tf/pb"
)

// A WorkerServer answers masters, whose partitions it runs, and other workers,
// which fetch what it sends.
//
// The codec takes over the tensor of a TensorResponse, and calls Sent of a
// BufferResponse.
type WorkerServer interface {
	// GetStatus lists the worker's devices.
	GetStatus(context.Context, *pb.GetStatusRequest) (*pb.GetStatusResponse, error)
	// CreateWorkerSession opens a master's session on the worker.
	CreateWorkerSession(context.Context, *pb.CreateWorkerSessionRequest) (*pb.CreateWorkerSessionResponse, error)
	// DeleteWorkerSession ends a master's session.
	DeleteWorkerSession(context.Context, *pb.DeleteWorkerSessionRequest) (*pb.DeleteWorkerSessionResponse, error)
	// RegisterGraph prepares a partition of a graph and answers with its handle.
	RegisterGraph(context.Context, *pb.RegisterGraphRequest) (*pb.RegisterGraphResponse, error)
	// DeregisterGraph gives up a partition; only masters without worker sessions call it.
	DeregisterGraph(context.Context, *pb.DeregisterGraphRequest) (*pb.DeregisterGraphResponse, error)
	// RunGraph runs a partition for one step.
	RunGraph(context.Context, *pb.RunGraphRequest) (*pb.RunGraphResponse, error)
	// CleanupGraph drops what is left of a step.
	CleanupGraph(context.Context, *pb.CleanupGraphRequest) (*pb.CleanupGraphResponse, error)
	// CleanupAll clears resource containers.
	CleanupAll(context.Context, *pb.CleanupAllRequest) (*pb.CleanupAllResponse, error)
	// RecvTensor waits for a value that the worker sends and answers with it.
	RecvTensor(context.Context, *pb.RecvTensorRequest) (*TensorResponse, error)
	// MarkRecvFinished tells that an answer to RecvTensor has arrived.
	MarkRecvFinished(context.Context, *pb.MarkRecvFinishedRequest) (*pb.MarkRecvFinishedResponse, error)
	// Logging switches records of transfers on or off, or fetches them.
	Logging(context.Context, *pb.LoggingRequest) (*pb.LoggingResponse, error)
	// Tracing profiles the worker.
	Tracing(context.Context, *pb.TracingRequest) (*pb.TracingResponse, error)
	// RecvBuf waits for a buffer of a collective operation and answers with it.
	RecvBuf(context.Context, *pb.RecvBufRequest) (*BufferResponse, error)
	// GetStepSequence answers with the next step numbers of graphs with collectives.
	GetStepSequence(context.Context, *pb.GetStepSequenceRequest) (*pb.GetStepSequenceResponse, error)
	// CompleteGroup waits until all members of a group have called.
	CompleteGroup(context.Context, *pb.CompleteGroupRequest) (*pb.CompleteGroupResponse, error)
	// CompleteInstance waits until all members of a group agree on a collective operation.
	CompleteInstance(context.Context, *pb.CompleteInstanceRequest) (*pb.CompleteInstanceResponse, error)
}

// RegisterWorker makes a gRPC server answer worker calls by srv.
func RegisterWorker(s grpc.ServiceRegistrar, srv WorkerServer) { s.RegisterService(&workerDesc, srv) }

var workerDesc = grpc.ServiceDesc{
	ServiceName: workerService,
	HandlerType: (*WorkerServer)(nil),
	Methods: []grpc.MethodDesc{
		method(workerService, "GetStatus", WorkerServer.GetStatus),
		method(workerService, "CreateWorkerSession", WorkerServer.CreateWorkerSession),
		method(workerService, "DeleteWorkerSession", WorkerServer.DeleteWorkerSession),
		method(workerService, "RegisterGraph", WorkerServer.RegisterGraph),
		method(workerService, "DeregisterGraph", WorkerServer.DeregisterGraph),
		method(workerService, "RunGraph", WorkerServer.RunGraph),
		method(workerService, "CleanupGraph", WorkerServer.CleanupGraph),
		method(workerService, "CleanupAll", WorkerServer.CleanupAll),
		method(workerService, "RecvTensor", WorkerServer.RecvTensor),
		method(workerService, "MarkRecvFinished", WorkerServer.MarkRecvFinished),
		method(workerService, "Logging", WorkerServer.Logging),
		method(workerService, "Tracing", WorkerServer.Tracing),
		method(workerService, "RecvBuf", WorkerServer.RecvBuf),
		method(workerService, "GetStepSequence", WorkerServer.GetStepSequence),
		method(workerService, "CompleteGroup", WorkerServer.CompleteGroup),
		method(workerService, "CompleteInstance", WorkerServer.CompleteInstance),
	},
}
