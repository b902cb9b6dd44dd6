package rpc

import (
	"context"

	"google.golang.org/grpc"

	"github.com/gorge-tf/gorge/tf/pb"
)

// verbsService is how tasks that exchange tensors by RDMA find each other.
const verbsService = "tensorflow.VerbsService"

// A VerbsServer tells other tasks where they can write to this one.
type VerbsServer interface {
	// GetRemoteAddress connects the caller's queue pair, and answers with the
	// one that it is connected to.
	GetRemoteAddress(context.Context, *pb.GetRemoteAddressRequest) (*pb.GetRemoteAddressResponse, error)
}

// RegisterVerbs makes a gRPC server answer calls of RDMA peers by srv.
func RegisterVerbs(s grpc.ServiceRegistrar, srv VerbsServer) { s.RegisterService(&verbsDesc, srv) }

var verbsDesc = grpc.ServiceDesc{
	ServiceName: verbsService,
	HandlerType: (*VerbsServer)(nil),
	Methods:     []grpc.MethodDesc{method(verbsService, "GetRemoteAddress", VerbsServer.GetRemoteAddress)},
	Metadata:    "verbs_service.proto",
}

// GetRemoteAddress asks a task where it can be written to. It waits for the
// task to be there.
func (c *Channels) GetRemoteAddress(ctx context.Context, task string, req *pb.GetRemoteAddressRequest) (*pb.GetRemoteAddressResponse, error) {
	cc, err := c.Get(task)
	if err != nil {
		return nil, err
	}
	return call[pb.GetRemoteAddressResponse](ctx, cc, "/"+verbsService+"/GetRemoteAddress", req, grpc.WaitForReady(true))
}
