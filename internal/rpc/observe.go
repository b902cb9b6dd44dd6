package rpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// An Observer is told of calls, those of gRPC and links alike. Its methods are
// called from many goroutines, some of which read from connections: they do not
// wait.
type Observer interface {
	// Serve is told of a call that has come, by "grpc" or "link". The function that
	// it returns is told how the call ended; the context is the call's.
	Serve(ctx context.Context, method, by string) (context.Context, func(error))
	// Call is Serve for a call that is about to be made.
	Call(ctx context.Context, method string) (context.Context, func(error))
	// Outgoing returns names and values by turns that go with a call whose context
	// Call has returned.
	Outgoing(ctx context.Context) []string
	// RequestID returns what the lines of logs about a call that Serve was told of
	// are to be found by; "": there is nothing.
	RequestID(ctx context.Context) string
}

// observeUnary and observeStream tell of calls that come by gRPC.
func observeUnary(o Observer) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		ctx, end := o.Serve(ctx, info.FullMethod, "grpc")
		resp, err := handle(ctx, req)
		end(err)
		return resp, err
	}
}

func observeStream(o Observer) grpc.StreamServerInterceptor {
	return func(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		ctx, end := o.Serve(s.Context(), info.FullMethod, "grpc")
		err := handle(srv, &observedStream{s, ctx})
		end(err)
		return err
	}
}

type observedStream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context returns the call's.
func (s *observedStream) Context() context.Context { return s.ctx }

// observeCalls tells of calls that are made, whatever carries them, and gives those
// of gRPC what goes with them.
func observeCalls(o Observer) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, resp any, cc *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if isProbe(ctx) {
			return call(ctx, method, req, resp, cc, opts...)
		}
		ctx, end := o.Call(ctx, method)
		err := call(metadata.AppendToOutgoingContext(ctx, o.Outgoing(ctx)...), method, req, resp, cc, opts...)
		end(err)
		return err
	}
}
