package rpc

import (
	"context"
	"log/slog"
	"path"
	"runtime/debug"
	"time"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/retry"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/timeout"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gorge-tf/gorge/internal/method"
	"github.com/gorge-tf/gorge/tf/core"
)

// A property is something that method.Info says.
type property = func(method.Info) bool

func isIdempotent(m method.Info) bool { return m.Idempotent }
func isPrompt(m method.Info) bool     { return m.Prompt }

// callsThat makes an interceptor see only the calls of methods with a property.
func callsThat(have property, f grpc.UnaryClientInterceptor) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, full string, req, resp any, cc *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		if have(method.Of(full)) {
			return f(ctx, full, req, resp, cc, call, opts...)
		}
		return call(ctx, full, req, resp, cc, opts...)
	}
}

// exceptTransfers keeps an interceptor from what a step makes thousands of calls of:
// those only see least.
func exceptTransfers(f, least grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		if method.Of(info.FullMethod).Transfer {
			return least(ctx, req, info, handle)
		}
		return f(ctx, req, info, handle)
	}
}

// graceBefore is how long before a call's deadline its handler is told of it, at
// most, and it is a third of short times: to stop a step and to answer takes a
// while. At the deadline itself gRPC's server forgets the call, see deadlineConn.
const graceBefore = 5 * time.Millisecond

// answerInTime ends the context of a call a little before its deadline.
func answerInTime(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return handle(ctx, req)
	}
	ctx, cancel := context.WithDeadline(ctx, deadline.Add(-min(graceBefore, time.Until(deadline)/3)))
	defer cancel()
	return handle(ctx, req)
}

// serverInterceptor turns panics into errors, logs calls and answers in time.
func serverInterceptor(l *slog.Logger, o Observer) grpc.UnaryServerInterceptor {
	var chain []grpc.UnaryServerInterceptor
	if l != nil {
		chain = append(chain, logged(l, o))
	}
	recovers := recovery.UnaryServerInterceptor(recovery.WithRecoveryHandlerContext(recovered(l)))
	return exceptTransfers(inOne(append(chain, recovers, answerInTime)), recovers)
}

// inOne makes one interceptor of many; the first is the outermost.
func inOne(all []grpc.UnaryServerInterceptor) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		for i := len(all) - 1; i >= 0; i-- {
			next, f := handle, all[i]
			handle = func(ctx context.Context, req any) (any, error) { return f(ctx, req, info, next) }
		}
		return handle(ctx, req)
	}
}

// logged logs calls. For steps, of which there are thousands a second, nothing
// is made ready before it is known that there will be a line.
func logged(l *slog.Logger, o Observer) grpc.UnaryServerInterceptor {
	all := logging.UnaryServerInterceptor(logTo(l, o), logging.WithLogOnEvents(logging.FinishCall), logging.WithLevels(levelOf))
	return func(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		if !method.Of(info.FullMethod).Routine || l.Enabled(ctx, slog.LevelDebug) {
			return all(ctx, req, info, handle)
		}
		began := time.Now()
		resp, err := handle(ctx, req)
		if code := status.Code(err); code != codes.OK {
			l.Log(ctx, slog.Level(levelOf(code)), "finished call", "grpc.service", path.Dir(info.FullMethod)[1:], "grpc.method", path.Base(info.FullMethod),
				"grpc.code", code, "grpc.error", err, "grpc.time_ms", float64(time.Since(began).Microseconds())/1e3, requestID(ctx, o))
		}
		return resp, err
	}
}

// requestID is the attribute by which all lines about a call are found, on all tasks.
func requestID(ctx context.Context, o Observer) slog.Attr {
	if o == nil {
		return slog.Attr{} // which is not written
	}
	return slog.String("request_id", o.RequestID(ctx))
}

func logTo(l *slog.Logger, o Observer) logging.Logger {
	return logging.LoggerFunc(func(ctx context.Context, level logging.Level, msg string, fields ...any) {
		if o != nil {
			fields = append(fields, requestID(ctx, o))
		}
		l.Log(ctx, slog.Level(level), msg, fields...)
	})
}

// levelOf keeps the routine of a training job out of the log: calls that
// succeed, and those that end because their step did.
func levelOf(c codes.Code) logging.Level {
	switch c {
	case codes.OK, codes.Canceled, codes.Aborted, codes.OutOfRange:
		return logging.LevelDebug
	case codes.Internal, codes.DataLoss, codes.Unknown:
		return logging.LevelError
	}
	return logging.LevelWarn
}

// recovered reports a handler's panic: the caller gets what it said, the log
// where it was.
func recovered(l *slog.Logger) recovery.RecoveryHandlerFuncContext {
	return func(ctx context.Context, p any) error { return panicked(ctx, l, p) }
}

func panicked(ctx context.Context, l *slog.Logger, p any) error {
	full, _ := grpc.Method(ctx)
	if l != nil {
		l.ErrorContext(ctx, "panic in a call", "method", full, "panic", p, "stack", string(debug.Stack()))
	}
	if err, ok := p.(error); ok && core.Exhausted(err) {
		return toStatus(ctx, err)
	}
	return status.Errorf(codes.Internal, "panic in %s: %v", path.Base(full), p)
}

// clientInterceptors bounds and repeats the calls that allow it.
func clientInterceptors(c ControlConfig) []grpc.UnaryClientInterceptor {
	var chain []grpc.UnaryClientInterceptor
	if c.Retries > 0 {
		again := retry.UnaryClientInterceptor(
			retry.WithMax(uint(c.Retries)+1), retry.WithCodes(codes.Unavailable),
			retry.WithBackoff(retry.BackoffExponentialWithJitterBounded(maxReconnectDelay/10, 0.2, maxReconnectDelay)))
		chain = append(chain, callsThat(isIdempotent, again))
	}
	if c.Timeout > 0 {
		chain = append(chain, callsThat(isPrompt, timeout.UnaryClientInterceptor(c.Timeout)))
	}
	return chain
}
