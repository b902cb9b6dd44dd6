package rpc

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"google.golang.org/grpc"

	"github.com/gorge-tf/gorge/tf/pb"
)

const eagerService = "tensorflow.eager.EagerService"

// An EagerServer runs operations one by one for clients in other processes.
type EagerServer interface {
	// CreateContext opens a context for a client.
	CreateContext(context.Context, *pb.CreateContextRequest) (*pb.CreateContextResponse, error)
	// UpdateContext changes the cluster of a context.
	UpdateContext(context.Context, *pb.UpdateContextRequest) (*pb.UpdateContextResponse, error)
	// Enqueue serves entries of a client's queue.
	Enqueue(context.Context, *pb.EnqueueRequest) (*pb.EnqueueResponse, error)
	// StreamingEnqueue returns what does so for the requests of one stream.
	StreamingEnqueue() func(context.Context, *pb.EnqueueRequest) (*pb.EnqueueResponse, error)
	// WaitQueueDone waits until entries are done.
	WaitQueueDone(context.Context, *pb.WaitQueueDoneRequest) (*pb.WaitQueueDoneResponse, error)
	// RunComponentFunction runs the part of a function that is the task's.
	RunComponentFunction(context.Context, *pb.RunComponentFunctionRequest) (*pb.RunComponentFunctionResponse, error)
	// KeepAlive keeps a context from being closed.
	KeepAlive(context.Context, *pb.KeepAliveRequest) (*pb.KeepAliveResponse, error)
	// CloseContext closes a context.
	CloseContext(context.Context, *pb.CloseContextRequest) (*pb.CloseContextResponse, error)
}

// RegisterEager makes a gRPC server answer eager clients by srv.
func RegisterEager(s grpc.ServiceRegistrar, srv EagerServer, log *slog.Logger) {
	desc := grpc.ServiceDesc{
		ServiceName: eagerService,
		HandlerType: (*EagerServer)(nil),
		Methods: []grpc.MethodDesc{
			method(eagerService, "CreateContext", EagerServer.CreateContext),
			method(eagerService, "UpdateContext", EagerServer.UpdateContext),
			method(eagerService, "Enqueue", EagerServer.Enqueue),
			method(eagerService, "WaitQueueDone", EagerServer.WaitQueueDone),
			method(eagerService, "RunComponentFunction", EagerServer.RunComponentFunction),
			method(eagerService, "KeepAlive", EagerServer.KeepAlive),
			method(eagerService, "CloseContext", EagerServer.CloseContext),
		},
		Streams: []grpc.StreamDesc{{StreamName: "StreamingEnqueue", Handler: streamingEnqueue(log), ServerStreams: true, ClientStreams: true}},
	}
	s.RegisterService(&desc, srv)
}

// streamingEnqueue serves the requests of a stream in turn and answers each. The
// first error ends the stream: a client begins another one.
func streamingEnqueue(log *slog.Logger) grpc.StreamHandler {
	return func(srv any, stream grpc.ServerStream) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = recovered(log)(stream.Context(), p)
			}
		}()
		enqueue := srv.(EagerServer).StreamingEnqueue()
		for {
			req := new(pb.EnqueueRequest)
			if err := stream.RecvMsg(req); err != nil {
				if errors.Is(err, io.EOF) {
					return nil
				}
				return err
			}
			resp, err := enqueue(stream.Context(), req)
			if err != nil {
				return toStatus(stream.Context(), err)
			}
			if err := stream.SendMsg(resp); err != nil {
				return err
			}
		}
	}
}

// An EagerClient calls the eager service of another task.
type EagerClient struct{ cc grpc.ClientConnInterface }

// Eager returns the client of a task's eager service.
func (c *Channels) Eager(task string) (*EagerClient, error) {
	cc, err := c.Get(task)
	if err != nil {
		return nil, err
	}
	return &EagerClient{cc}, nil
}

// Enqueue has entries of a queue served.
func (c *EagerClient) Enqueue(ctx context.Context, req *pb.EnqueueRequest) (*pb.EnqueueResponse, error) {
	return call[pb.EnqueueResponse](ctx, c.cc, "/"+eagerService+"/Enqueue", req)
}

// RunComponentFunction runs the part of a function that is the task's.
func (c *EagerClient) RunComponentFunction(ctx context.Context, req *pb.RunComponentFunctionRequest) (*pb.RunComponentFunctionResponse, error) {
	return call[pb.RunComponentFunctionResponse](ctx, c.cc, "/"+eagerService+"/RunComponentFunction", req)
}
