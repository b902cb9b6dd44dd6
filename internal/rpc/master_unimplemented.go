package rpc

import (
	"context"

	"github.com/gorge-tf/gorge/tf/pb"
)

// UnimplementedMaster answers every call with UNIMPLEMENTED. A server that embeds
// it need only have the methods it wants.
type UnimplementedMaster struct{}

var _ MasterServer = UnimplementedMaster{}

// CreateSession answers that it is not implemented.
func (UnimplementedMaster) CreateSession(context.Context, *pb.CreateSessionRequest) (*pb.CreateSessionResponse, error) {
	return nil, unimplemented("CreateSession")
}

// ExtendSession answers that it is not implemented.
func (UnimplementedMaster) ExtendSession(context.Context, *pb.ExtendSessionRequest) (*pb.ExtendSessionResponse, error) {
	return nil, unimplemented("ExtendSession")
}

// PartialRunSetup answers that it is not implemented.
func (UnimplementedMaster) PartialRunSetup(context.Context, *pb.PartialRunSetupRequest) (*pb.PartialRunSetupResponse, error) {
	return nil, unimplemented("PartialRunSetup")
}

// RunStep answers that it is not implemented.
func (UnimplementedMaster) RunStep(context.Context, *pb.RunStepRequest) (*pb.RunStepResponse, error) {
	return nil, unimplemented("RunStep")
}

// CloseSession answers that it is not implemented.
func (UnimplementedMaster) CloseSession(context.Context, *pb.CloseSessionRequest) (*pb.CloseSessionResponse, error) {
	return nil, unimplemented("CloseSession")
}

// ListDevices answers that it is not implemented.
func (UnimplementedMaster) ListDevices(context.Context, *pb.ListDevicesRequest) (*pb.ListDevicesResponse, error) {
	return nil, unimplemented("ListDevices")
}

// Reset answers that it is not implemented.
func (UnimplementedMaster) Reset(context.Context, *pb.ResetRequest) (*pb.ResetResponse, error) {
	return nil, unimplemented("Reset")
}

// MakeCallable answers that it is not implemented.
func (UnimplementedMaster) MakeCallable(context.Context, *pb.MakeCallableRequest) (*pb.MakeCallableResponse, error) {
	return nil, unimplemented("MakeCallable")
}

// RunCallable answers that it is not implemented.
func (UnimplementedMaster) RunCallable(context.Context, *pb.RunCallableRequest) (*pb.RunCallableResponse, error) {
	return nil, unimplemented("RunCallable")
}

// ReleaseCallable answers that it is not implemented.
func (UnimplementedMaster) ReleaseCallable(context.Context, *pb.ReleaseCallableRequest) (*pb.ReleaseCallableResponse, error) {
	return nil, unimplemented("ReleaseCallable")
}
