package rpc

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A moody worker panics, fails, or does not answer until late is closed.
type moody struct {
	UnimplementedWorker
	calls atomic.Int32
	fails int32 // how many calls of each kind fail
	late  chan struct{}
}

func (*moody) Tracing(context.Context, *pb.TracingRequest) (*pb.TracingResponse, error) {
	panic("a bug")
}

func (m *moody) fail() error {
	if n := m.calls.Add(1); n <= m.fails {
		return core.Errorf(core.Unavailable, "call %d fails", n)
	}
	return nil
}

func (m *moody) CleanupGraph(context.Context, *pb.CleanupGraphRequest) (*pb.CleanupGraphResponse, error) {
	return &pb.CleanupGraphResponse{}, m.fail()
}

func (m *moody) RunGraph(context.Context, *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	return &pb.RunGraphResponse{}, m.fail()
}

func (m *moody) RecvTensor(context.Context, *pb.RecvTensorRequest) (*TensorResponse, error) {
	return &TensorResponse{Dead: true}, m.fail()
}

// GetStepSequence does not look at its context: that one ends before the call's
// deadline does (answerInTime), and an answer may then come in time.
func (m *moody) GetStepSequence(context.Context, *pb.GetStepSequenceRequest) (*pb.GetStepSequenceResponse, error) {
	<-m.late
	return &pb.GetStepSequenceResponse{}, nil
}

func TestPanicBecomesError(t *testing.T) {
	var log bytes.Buffer
	for _, l := range []*slog.Logger{nil, slog.New(slog.NewTextHandler(&log, nil))} {
		w := NewWorkerClient(dial(t, serve(t, ServerConfig{Logger: l}, withWorker(&moody{})), DialConfig{}))
		_, err := w.Tracing(context.Background(), &pb.TracingRequest{})
		if core.CodeOf(err) != core.Internal || !strings.Contains(err.Error(), "panic in Tracing: a bug") {
			t.Errorf("call of a method that panics: %v", err)
		}
	}
	if s := log.String(); !strings.Contains(s, "intercept_test.go") || !strings.Contains(s, `panic="a bug"`) {
		t.Errorf("log does not say where the panic was: %s", s)
	}
}

// TestCallsAreLogged: failures as such, successes at the level of details, and
// transfers not at all.
func TestCallsAreLogged(t *testing.T) {
	var log bytes.Buffer
	l := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	addr := serve(t, ServerConfig{Logger: l}, withWorker(&moody{fails: 1}))
	w := NewWorkerClient(dial(t, addr, DialConfig{}))
	ctx := context.Background()
	if _, err := w.CleanupGraph(ctx, &pb.CleanupGraphRequest{}); core.CodeOf(err) != core.Unavailable {
		t.Error(err)
	}
	if _, err := w.RunGraph(ctx, &pb.RunGraphRequest{}); err != nil {
		t.Error(err)
	}
	if _, err := w.RecvTensor(ctx, &pb.RecvTensorRequest{}, nil); err != nil {
		t.Error(err)
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "level=WARN") || !strings.Contains(lines[0], "CleanupGraph") ||
		!strings.Contains(lines[0], "call 1 fails") || !strings.Contains(lines[1], "level=DEBUG") || !strings.Contains(lines[1], "RunGraph") {
		t.Errorf("log:\n%s", log.String())
	}
}

// TestStepsAreLogged: those that fail, and nothing of the others where nobody
// wants details.
func TestStepsAreLogged(t *testing.T) {
	var log bytes.Buffer
	addr := serve(t, ServerConfig{Logger: slog.New(slog.NewTextHandler(&log, nil))}, withWorker(&moody{fails: 1}))
	w := NewWorkerClient(dial(t, addr, DialConfig{}))
	for _, want := range []core.Code{core.Unavailable, core.OK} {
		if _, err := w.RunGraph(context.Background(), &pb.RunGraphRequest{}); core.CodeOf(err) != want {
			t.Errorf("%v, want %v", err, want)
		}
	}
	line := strings.TrimSpace(log.String())
	for _, part := range []string{"level=WARN", "grpc.service=tensorflow.WorkerService", "grpc.method=RunGraph", "grpc.code=Unavailable", "call 1 fails", "grpc.time_ms="} {
		if !strings.Contains(line, part) || strings.Contains(line, "\n") {
			t.Errorf("log does not have %q in its one line:\n%s", part, line)
		}
	}
}

// TestControlCallsAreRepeated: those that run a step are not.
func TestControlCallsAreRepeated(t *testing.T) {
	c := DialConfig{Control: ControlConfig{Retries: 2}}
	run := func(fails int32, call func(*WorkerClient) error) (int32, error) {
		m := &moody{fails: fails}
		err := call(NewWorkerClient(dial(t, serve(t, ServerConfig{}, withWorker(m)), c)))
		return m.calls.Load(), err
	}
	ctx := context.Background()
	cleanup := func(w *WorkerClient) error { _, err := w.CleanupGraph(ctx, &pb.CleanupGraphRequest{}); return err }
	if n, err := run(2, cleanup); n != 3 || err != nil {
		t.Errorf("CleanupGraph that fails twice: %d calls, %v, want 3", n, err)
	}
	if n, err := run(9, cleanup); n != 3 || core.CodeOf(err) != core.Unavailable {
		t.Errorf("CleanupGraph that always fails: %d calls, %v, want 3", n, err)
	}
	if n, err := run(1, func(w *WorkerClient) error { _, err := w.RunGraph(ctx, &pb.RunGraphRequest{}); return err }); n != 1 || err == nil {
		t.Errorf("RunGraph that fails: %d calls, %v, want 1", n, err)
	}
	if n, err := run(1, func(w *WorkerClient) error { _, err := w.RecvTensor(ctx, &pb.RecvTensorRequest{}, nil); return err }); n != 1 || err == nil {
		t.Errorf("RecvTensor that fails: %d calls, %v, want 1", n, err)
	}
}

func TestControlCallsAreBounded(t *testing.T) {
	m := &moody{late: make(chan struct{})}
	defer close(m.late)
	addr := serve(t, ServerConfig{}, withWorker(m))
	w := NewWorkerClient(dial(t, addr, DialConfig{Control: ControlConfig{Timeout: time.Millisecond}}))
	if _, err := w.GetStepSequence(context.Background(), &pb.GetStepSequenceRequest{}); core.CodeOf(err) != core.DeadlineExceeded {
		t.Errorf("call that is not answered: %v, want DEADLINE_EXCEEDED", err)
	}
}

// TestGetStatusWaits: a master may start before its workers do.
func TestGetStatusWaits(t *testing.T) {
	addr := serve(t, ServerConfig{}, withWorker(echo{}))
	down := dial(t, "127.0.0.1:1", DialConfig{})
	ctx, cancel := context.WithCancel(context.Background())
	c := make(chan error, 1)
	go func() {
		_, err := NewWorkerClient(down).GetStatus(ctx, &pb.GetStatusRequest{})
		c <- err
	}()
	if _, err := NewWorkerClient(down).RunGraph(ctx, &pb.RunGraphRequest{}); core.CodeOf(err) != core.Unavailable {
		t.Errorf("RunGraph of a worker that is down: %v, want UNAVAILABLE", err)
	}
	select {
	case err := <-c:
		t.Errorf("GetStatus does not wait: %v", err)
	default:
	}
	cancel()
	if err := <-c; core.CodeOf(err) != core.Canceled {
		t.Errorf("GetStatus that is cancelled: %v", err)
	}
	var cc grpc.ClientConnInterface = dial(t, addr, DialConfig{})
	if _, err := NewWorkerClient(cc).RunGraph(context.Background(), &pb.RunGraphRequest{}); err != nil {
		t.Error(err)
	}
}

// TestAnswerInTime: a handler hears of the end of its time before gRPC does; a
// call without a deadline has none.
func TestAnswerInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, limit := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond, time.Hour} {
			ctx, cancel := context.Background(), context.CancelFunc(func() {})
			if limit > 0 {
				ctx, cancel = context.WithTimeout(context.Background(), limit)
			}
			begin := time.Now()
			_, _ = answerInTime(ctx, nil, nil, func(inner context.Context, _ any) (any, error) {
				if _, ok := inner.Deadline(); ok != (limit > 0) {
					t.Errorf("limit %v: has a deadline: %v", limit, ok)
				}
				if limit == 0 {
					return nil, nil
				}
				<-inner.Done()
				if early := limit - time.Since(begin); early <= 0 || early > min(limit/3, 5*time.Millisecond) || ctx.Err() != nil {
					t.Errorf("limit %v: ended %v before it", limit, early)
				}
				return nil, nil
			})
			cancel()
		}
	})
}
