package rpc

import (
	"context"

	"google.golang.org/grpc"

	"github.com/gorge-tf/gorge/tf/pb"
)

// A MasterClient calls a master. Calls wait until the master can be reached;
// their context bounds that.
type MasterClient struct{ cc grpc.ClientConnInterface }

// NewMasterClient returns the client of the master behind a connection that has
// this package's codec.
func NewMasterClient(cc grpc.ClientConnInterface) *MasterClient { return &MasterClient{cc} }

// CreateSession opens a session with the graph so far and answers with its handle.
func (c *MasterClient) CreateSession(ctx context.Context, req *pb.CreateSessionRequest) (*pb.CreateSessionResponse, error) {
	return call[pb.CreateSessionResponse](ctx, c.cc, "/"+masterService+"/CreateSession", req, grpc.WaitForReady(true))
}

// ExtendSession adds nodes to a session's graph.
func (c *MasterClient) ExtendSession(ctx context.Context, req *pb.ExtendSessionRequest) (*pb.ExtendSessionResponse, error) {
	return call[pb.ExtendSessionResponse](ctx, c.cc, "/"+masterService+"/ExtendSession", req, grpc.WaitForReady(true))
}

// PartialRunSetup prepares a step that is run in parts.
func (c *MasterClient) PartialRunSetup(ctx context.Context, req *pb.PartialRunSetupRequest) (*pb.PartialRunSetupResponse, error) {
	return call[pb.PartialRunSetupResponse](ctx, c.cc, "/"+masterService+"/PartialRunSetup", req, grpc.WaitForReady(true))
}

// RunStep runs one step, or the next part of one.
func (c *MasterClient) RunStep(ctx context.Context, req *pb.RunStepRequest) (*pb.RunStepResponse, error) {
	return call[pb.RunStepResponse](ctx, c.cc, "/"+masterService+"/RunStep", req, grpc.WaitForReady(true))
}

// CloseSession ends a session.
func (c *MasterClient) CloseSession(ctx context.Context, req *pb.CloseSessionRequest) (*pb.CloseSessionResponse, error) {
	return call[pb.CloseSessionResponse](ctx, c.cc, "/"+masterService+"/CloseSession", req, grpc.WaitForReady(true))
}

// ListDevices lists the devices of a session, or of the cluster.
func (c *MasterClient) ListDevices(ctx context.Context, req *pb.ListDevicesRequest) (*pb.ListDevicesResponse, error) {
	return call[pb.ListDevicesResponse](ctx, c.cc, "/"+masterService+"/ListDevices", req, grpc.WaitForReady(true))
}

// Reset ends all sessions and clears resource containers.
func (c *MasterClient) Reset(ctx context.Context, req *pb.ResetRequest) (*pb.ResetResponse, error) {
	return call[pb.ResetResponse](ctx, c.cc, "/"+masterService+"/Reset", req, grpc.WaitForReady(true))
}

// MakeCallable prepares a step with fixed feeds and fetches.
func (c *MasterClient) MakeCallable(ctx context.Context, req *pb.MakeCallableRequest) (*pb.MakeCallableResponse, error) {
	return call[pb.MakeCallableResponse](ctx, c.cc, "/"+masterService+"/MakeCallable", req, grpc.WaitForReady(true))
}

// RunCallable runs what MakeCallable prepared.
func (c *MasterClient) RunCallable(ctx context.Context, req *pb.RunCallableRequest) (*pb.RunCallableResponse, error) {
	return call[pb.RunCallableResponse](ctx, c.cc, "/"+masterService+"/RunCallable", req, grpc.WaitForReady(true))
}

// ReleaseCallable gives up what MakeCallable prepared.
func (c *MasterClient) ReleaseCallable(ctx context.Context, req *pb.ReleaseCallableRequest) (*pb.ReleaseCallableResponse, error) {
	return call[pb.ReleaseCallableResponse](ctx, c.cc, "/"+masterService+"/ReleaseCallable", req, grpc.WaitForReady(true))
}
