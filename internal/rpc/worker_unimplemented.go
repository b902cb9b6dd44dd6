package rpc

import (
	"context"

	"github.com/gorge-tf/gorge/tf/pb"
)

// UnimplementedWorker answers every call with UNIMPLEMENTED. A server that embeds
// it need only have the methods it wants.
type UnimplementedWorker struct{}

var _ WorkerServer = UnimplementedWorker{}

// GetStatus answers that it is not implemented.
func (UnimplementedWorker) GetStatus(context.Context, *pb.GetStatusRequest) (*pb.GetStatusResponse, error) {
	return nil, unimplemented("GetStatus")
}

// CreateWorkerSession answers that it is not implemented.
func (UnimplementedWorker) CreateWorkerSession(context.Context, *pb.CreateWorkerSessionRequest) (*pb.CreateWorkerSessionResponse, error) {
	return nil, unimplemented("CreateWorkerSession")
}

// DeleteWorkerSession answers that it is not implemented.
func (UnimplementedWorker) DeleteWorkerSession(context.Context, *pb.DeleteWorkerSessionRequest) (*pb.DeleteWorkerSessionResponse, error) {
	return nil, unimplemented("DeleteWorkerSession")
}

// RegisterGraph answers that it is not implemented.
func (UnimplementedWorker) RegisterGraph(context.Context, *pb.RegisterGraphRequest) (*pb.RegisterGraphResponse, error) {
	return nil, unimplemented("RegisterGraph")
}

// DeregisterGraph answers that it is not implemented.
func (UnimplementedWorker) DeregisterGraph(context.Context, *pb.DeregisterGraphRequest) (*pb.DeregisterGraphResponse, error) {
	return nil, unimplemented("DeregisterGraph")
}

// RunGraph answers that it is not implemented.
func (UnimplementedWorker) RunGraph(context.Context, *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	return nil, unimplemented("RunGraph")
}

// CleanupGraph answers that it is not implemented.
func (UnimplementedWorker) CleanupGraph(context.Context, *pb.CleanupGraphRequest) (*pb.CleanupGraphResponse, error) {
	return nil, unimplemented("CleanupGraph")
}

// CleanupAll answers that it is not implemented.
func (UnimplementedWorker) CleanupAll(context.Context, *pb.CleanupAllRequest) (*pb.CleanupAllResponse, error) {
	return nil, unimplemented("CleanupAll")
}

// RecvTensor answers that it is not implemented.
func (UnimplementedWorker) RecvTensor(context.Context, *pb.RecvTensorRequest) (*TensorResponse, error) {
	return nil, unimplemented("RecvTensor")
}

// MarkRecvFinished answers that it is not implemented.
func (UnimplementedWorker) MarkRecvFinished(context.Context, *pb.MarkRecvFinishedRequest) (*pb.MarkRecvFinishedResponse, error) {
	return nil, unimplemented("MarkRecvFinished")
}

// Logging answers that it is not implemented.
func (UnimplementedWorker) Logging(context.Context, *pb.LoggingRequest) (*pb.LoggingResponse, error) {
	return nil, unimplemented("Logging")
}

// Tracing answers that it is not implemented.
func (UnimplementedWorker) Tracing(context.Context, *pb.TracingRequest) (*pb.TracingResponse, error) {
	return nil, unimplemented("Tracing")
}

// RecvBuf answers that it is not implemented.
func (UnimplementedWorker) RecvBuf(context.Context, *pb.RecvBufRequest) (*BufferResponse, error) {
	return nil, unimplemented("RecvBuf")
}

// GetStepSequence answers that it is not implemented.
func (UnimplementedWorker) GetStepSequence(context.Context, *pb.GetStepSequenceRequest) (*pb.GetStepSequenceResponse, error) {
	return nil, unimplemented("GetStepSequence")
}

// CompleteGroup answers that it is not implemented.
func (UnimplementedWorker) CompleteGroup(context.Context, *pb.CompleteGroupRequest) (*pb.CompleteGroupResponse, error) {
	return nil, unimplemented("CompleteGroup")
}

// CompleteInstance answers that it is not implemented.
func (UnimplementedWorker) CompleteInstance(context.Context, *pb.CompleteInstanceRequest) (*pb.CompleteInstanceResponse, error) {
	return nil, unimplemented("CompleteInstance")
}
