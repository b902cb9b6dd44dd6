package rpc

import (
	"context"

	"google.golang.org/grpc"

	"github.com/gorge-tf/gorge/tf/pb"
)

// A MasterServer answers clients: it plans their steps and has workers run them.
type MasterServer interface {
	// CreateSession opens a session with the graph so far and answers with its handle.
	CreateSession(context.Context, *pb.CreateSessionRequest) (*pb.CreateSessionResponse, error)
	// ExtendSession adds nodes to a session's graph.
	ExtendSession(context.Context, *pb.ExtendSessionRequest) (*pb.ExtendSessionResponse, error)
	// PartialRunSetup prepares a step that is run in parts.
	PartialRunSetup(context.Context, *pb.PartialRunSetupRequest) (*pb.PartialRunSetupResponse, error)
	// RunStep runs one step, or the next part of one.
	RunStep(context.Context, *pb.RunStepRequest) (*pb.RunStepResponse, error)
	// CloseSession ends a session.
	CloseSession(context.Context, *pb.CloseSessionRequest) (*pb.CloseSessionResponse, error)
	// ListDevices lists the devices of a session, or of the cluster.
	ListDevices(context.Context, *pb.ListDevicesRequest) (*pb.ListDevicesResponse, error)
	// Reset ends all sessions and clears resource containers.
	Reset(context.Context, *pb.ResetRequest) (*pb.ResetResponse, error)
	// MakeCallable prepares a step with fixed feeds and fetches.
	MakeCallable(context.Context, *pb.MakeCallableRequest) (*pb.MakeCallableResponse, error)
	// RunCallable runs what MakeCallable prepared.
	RunCallable(context.Context, *pb.RunCallableRequest) (*pb.RunCallableResponse, error)
	// ReleaseCallable gives up what MakeCallable prepared.
	ReleaseCallable(context.Context, *pb.ReleaseCallableRequest) (*pb.ReleaseCallableResponse, error)
}

// RegisterMaster makes a gRPC server answer master calls by srv.
func RegisterMaster(s grpc.ServiceRegistrar, srv MasterServer) { s.RegisterService(&masterDesc, srv) }

var masterDesc = grpc.ServiceDesc{
	ServiceName: masterService,
	HandlerType: (*MasterServer)(nil),
	Methods: []grpc.MethodDesc{
		method(masterService, "CreateSession", MasterServer.CreateSession),
		method(masterService, "ExtendSession", MasterServer.ExtendSession),
		method(masterService, "PartialRunSetup", MasterServer.PartialRunSetup),
		method(masterService, "RunStep", MasterServer.RunStep),
		method(masterService, "CloseSession", MasterServer.CloseSession),
		method(masterService, "ListDevices", MasterServer.ListDevices),
		method(masterService, "Reset", MasterServer.Reset),
		method(masterService, "MakeCallable", MasterServer.MakeCallable),
		method(masterService, "RunCallable", MasterServer.RunCallable),
		method(masterService, "ReleaseCallable", MasterServer.ReleaseCallable),
	},
}
