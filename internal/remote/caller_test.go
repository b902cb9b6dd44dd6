package remote

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// waiting is a master whose steps, or whose sessions, come to no end of their own. It ends
// calls a moment earlier than their caller does, as a server may.
type waiting struct {
	Master
	creates bool // sessions at once
}

func (m waiting) CreateSession(ctx context.Context, _ *pb.CreateSessionRequest) (*pb.CreateSessionResponse, error) {
	if m.creates {
		return &pb.CreateSessionResponse{SessionHandle: "s"}, nil
	}
	return nil, m.wait(ctx)
}

func (m waiting) RunStep(ctx context.Context, _ *pb.RunStepRequest) (*pb.RunStepResponse, error) {
	e := tf.AsError(m.wait(ctx))
	return &pb.RunStepResponse{StatusCode: pb.Code(e.Code), StatusErrorMessage: e.Message()}, nil
}

func (waiting) CloseSession(context.Context, *pb.CloseSessionRequest) (*pb.CloseSessionResponse, error) {
	return nil, nil
}

func (waiting) wait(ctx context.Context) error {
	early := make(<-chan time.Time)
	if end, ok := ctx.Deadline(); ok {
		early = time.After(time.Until(end) - time.Millisecond)
	}
	select {
	case <-early:
		return tf.Errorf(tf.DeadlineExceeded, "Timed out waiting for notification")
	case <-ctx.Done():
		return tf.Errorf(tf.CodeOf(ctx.Err()), "the call is over")
	}
}

// TestEndOfCallersContext: of a step that the caller's context has ended a cluster's session
// says what one in this process does, also while the session begins.
func TestEndOfCallersContext(t *testing.T) {
	why := errors.New("why")
	for name, end := range map[string]struct {
		begin func(context.Context) (context.Context, context.CancelFunc)
		code  tf.Code
		is    error
	}{
		"deadline": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, tf.DeadlineExceeded, context.DeadlineExceeded},
		"cancel": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, tf.Canceled, context.Canceled},
		"cause": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { cancel(why) })
			return ctx, func() { cancel(nil) }
		}, tf.Canceled, why},
	} {
		for _, m := range []waiting{{creates: true}, {}} {
			synctest.Test(t, func(t *testing.T) {
				g := tf.NewGraph()
				x := ops.Scalar[float32](g, 1)
				over, stop := context.WithCancelCause(context.Background())
				r := &remote{g: g, master: m, turn: make(chan struct{}, 1), ctx: over, cancel: stop}
				ctx, cancel := end.begin(t.Context())
				defer cancel()
				_, err := r.Run(ctx, &session.Call{Fetches: []string{x.Name()}})
				var e *core.Error
				if !errors.As(err, &e) || tf.CodeOf(err) != end.code || !errors.Is(err, end.is) {
					t.Errorf("%s, %+v: %T %v", name, m, err, err)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
