package rpc

import (
	"context"

	"google.golang.org/grpc/tap"
)

// taps returns what looks at calls before their messages are read: the bound on
// connections, then the guard.
func (c *ServerConfig) taps() (out []tap.ServerInHandle) {
	if c.Limits.Connections > 0 {
		out = append(out, refuseCalls)
	}
	if c.Guard != nil {
		out = append(out, c.guard)
	}
	return out
}

// inTurn asks one after the other. The first refusal counts.
func inTurn(taps []tap.ServerInHandle) tap.ServerInHandle {
	return func(ctx context.Context, call *tap.Info) (_ context.Context, err error) {
		for _, t := range taps {
			if ctx, err = t(ctx, call); err != nil {
				return nil, err
			}
		}
		return ctx, nil
	}
}

// guard refuses calls of those that may not make them. The observer, which interceptors
// tell of calls that are let in, is told of the others here.
func (c *ServerConfig) guard(ctx context.Context, call *tap.Info) (context.Context, error) {
	out, err := c.Guard.Tap(ctx, call)
	if err != nil && c.Observer != nil {
		_, end := c.Observer.Serve(ctx, call.FullMethodName, "grpc")
		end(err)
	}
	return out, err
}
