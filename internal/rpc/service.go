package rpc

import (
	"context"
	"errors"
	"io"
	"path"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/gorge-tf/gorge/internal/method"
	"github.com/gorge-tf/gorge/tf/core"
)

// Services returns the names of the services that all of Gorge's servers have.
func Services() []string {
	return []string{method.MasterService, method.WorkerService, method.EagerService}
}

// unary describes the method of a path that S declares in Go.
func unary[S, Req, Resp any](full string, call func(S, context.Context, *Req) (*Resp, error)) grpc.MethodDesc {
	handle := func(srv any, ctx context.Context, dec func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		req := new(Req)
		if err := accept(dec, req); err != nil {
			return nil, toStatus(ctx, err)
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
	return grpc.MethodDesc{MethodName: path.Base(full), Handler: handle}
}

// stream describes a method whose requests come as a stream: they are served in
// turn, each by what open returns, and each is answered. The first error ends the
// stream: a client begins another one.
func stream[S, Req, Resp any](full string, open func(S) func(context.Context, *Req) (*Resp, error)) grpc.StreamDesc {
	handle := func(srv any, s grpc.ServerStream) error {
		serve := open(srv.(S))
		for {
			req := new(Req)
			if err := accept(s.RecvMsg, req); err != nil {
				if errors.Is(err, io.EOF) {
					return nil
				}
				return toStatus(s.Context(), err)
			}
			resp, err := serve(s.Context(), req)
			if err != nil {
				return toStatus(s.Context(), err)
			}
			if err := s.SendMsg(resp); err != nil {
				return err
			}
		}
	}
	return grpc.StreamDesc{StreamName: path.Base(full), Handler: handle, ServerStreams: true, ClientStreams: true}
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
