package rpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/gorge-tf/gorge/tf/core"
)

// The services by the names in their paths, which are not those of the
// packages that TensorFlow's .proto files declare them in.
const (
	masterService = "tensorflow.MasterService"
	workerService = "tensorflow.WorkerService"
)

// Services returns the names of the services that all of Gorge's servers have.
func Services() []string { return []string{masterService, workerService, eagerService} }

// method describes one method of a service that S declares in Go.
func method[S, Req, Resp any](service, name string, call func(S, context.Context, *Req) (*Resp, error)) grpc.MethodDesc {
	full := "/" + service + "/" + name
	handle := func(srv any, ctx context.Context, dec func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		req := new(Req)
		if err := dec(req); err != nil {
			return nil, err
		}
		run := func(ctx context.Context, req any) (any, error) {
			resp, err := call(srv.(S), ctx, req.(*Req))
			if err != nil {
				return nil, toStatus(ctx, err)
			}
			return resp, nil
		}
		if intercept == nil {
			return run(ctx, req)
		}
		return intercept(ctx, req, &grpc.UnaryServerInfo{Server: srv, FullMethod: full}, run)
	}
	return grpc.MethodDesc{MethodName: name, Handler: handle}
}

// invoke calls a method and returns its error as one of TensorFlow's kind.
func invoke(ctx context.Context, cc grpc.ClientConnInterface, path string, req, resp any, opts ...grpc.CallOption) error {
	var trailer metadata.MD
	err := cc.Invoke(ctx, path, req, resp, append(opts, grpc.Trailer(&trailer))...)
	return withTask(cc, path, fromStatus(err, trailer))
}

// call is invoke for a method whose response is a message.
func call[Resp any](ctx context.Context, cc grpc.ClientConnInterface, path string, req any, opts ...grpc.CallOption) (*Resp, error) {
	resp := new(Resp)
	if err := invoke(ctx, cc, path, req, resp, opts...); err != nil {
		return nil, err
	}
	return resp, nil
}

// unimplemented is the answer of a method that a server does not have.
func unimplemented(name string) error {
	return core.Errorf(core.Unimplemented, "%s is not implemented by this server", name)
}
