package rpc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A failing worker answers GetStatus with an error.
type failing struct {
	UnimplementedWorker
	err     error
	trailer metadata.MD
}

func (f failing) GetStatus(ctx context.Context, _ *pb.GetStatusRequest) (*pb.GetStatusResponse, error) {
	if f.trailer != nil {
		if err := grpc.SetTrailer(ctx, f.trailer); err != nil {
			return nil, err
		}
	}
	return nil, f.err
}

// across returns what a client sees of an error that a handler returns.
func across(t *testing.T, f failing) *core.Error {
	t.Helper()
	w := NewWorkerClient(dial(t, serve(t, ServerConfig{}, withWorker(f)), DialConfig{}))
	_, err := w.GetStatus(context.Background(), &pb.GetStatusRequest{})
	var e *core.Error
	if !errors.As(err, &e) {
		t.Fatalf("client sees %v, want a tf.Error", err)
	}
	return e
}

// TestErrorsCross: code, text, node and derivation arrive.
func TestErrorsCross(t *testing.T) {
	for c := core.Canceled; c <= core.Unauthenticated; c++ {
		for _, derived := range []bool{false, true} {
			text := fmt.Sprintf("%v \"quoted\" – 100%% Grüße,\n\tgrpc-message=\\x", c)
			e := across(t, failing{err: &core.Error{Code: c, Msg: text, Node: "layer/MatMul", Derived: derived}})
			if e.Code != c || e.Derived != derived || e.Msg != text+"\n\t [[{{node layer/MatMul}}]]" {
				t.Errorf("%v, derived %v, arrives as %v %q, derived %v", c, derived, e.Code, e.Msg, e.Derived)
			}
		}
	}
}

func TestOtherErrorsCross(t *testing.T) {
	for _, c := range []struct {
		err  error
		code core.Code
		text string
	}{
		{errors.New("plain"), core.Unknown, "plain"},
		{fmt.Errorf("outer: %w", core.Errorf(core.NotFound, "inner")), core.NotFound, "inner"},
		{status.Error(codes.DataLoss, "a status"), core.DataLoss, "a status"},
		{context.DeadlineExceeded, core.DeadlineExceeded, "context deadline exceeded"},
	} {
		if e := across(t, failing{err: c.err}); e.Code != c.code || e.Msg != c.text {
			t.Errorf("%v arrives as %v %q, want %v %q", c.err, e.Code, e.Msg, c.code, c.text)
		}
	}
}

func TestLongTextIsCut(t *testing.T) {
	for n, want := range map[int]int{3071: 3071, 3072: 3072, 3073: 3072 + len(" ... [truncated]"), 100000: 3072 + len(" ... [truncated]")} {
		e := across(t, failing{err: core.Errorf(core.Internal, "%s", strings.Repeat("x", n))})
		if len(e.Msg) != want || want > 3072 && !strings.HasSuffix(e.Msg, "x ... [truncated]") {
			t.Errorf("text of %d bytes arrives as %d bytes, want %d", n, len(e.Msg), want)
		}
	}
}

// TestForeignPayloads: payloads of TensorFlow's that mean nothing here, or
// that are none, leave code and text alone.
func TestForeignPayloads(t *testing.T) {
	restarted, err := proto.Marshal(&pb.GrpcPayloadContainer{Payloads: map[string][]byte{
		"type.googleapis.com/tensorflow.distributed_runtime.WorkerPossiblyRestarted": {}, "other": {1, 2, 3}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, payload := range map[string]string{
		"restarted": string(restarted), "empty": "", "garbage": "\xff\xff\xff",
		"a google.rpc.Status": "\x08\x0a\x12\x04lost",
	} {
		e := across(t, failing{err: core.Errorf(core.Aborted, "lost"), trailer: metadata.Pairs("grpc-status-details-bin", payload)})
		if e.Code != core.Aborted || e.Msg != "lost" || e.Derived {
			t.Errorf("%s: arrives as %v %q, derived %v", name, e.Code, e.Msg, e.Derived)
		}
	}
}

// TestRestoreLeavesTheRest: only the complaint that gRPC makes is undone.
func TestRestoreLeavesTheRest(t *testing.T) {
	const head = "grpc-status-details-bin mismatch: grpc-status="
	for _, c := range []struct {
		code codes.Code
		msg  string
		want codes.Code
		text string
	}{
		{codes.Internal, head + `Aborted, grpc-message="a \"b\"", grpc-status-details-bin=x`, codes.Aborted, `a "b"`},
		{codes.Internal, head + `Aborted, grpc-message="open`, codes.Internal, ""},
		{codes.Internal, head + `Aborted`, codes.Internal, ""},
		{codes.Internal, head + `Lost, grpc-message="a", `, codes.Internal, ""},
		{codes.Aborted, head + `Aborted, grpc-message="a", `, codes.Aborted, ""},
		{codes.Internal, "an error of its own", codes.Internal, ""},
	} {
		want := c.text
		if want == "" {
			want = c.msg
		}
		if code, msg := restore(c.code, c.msg); code != c.want || msg != want {
			t.Errorf("restore(%v, %q) = %v, %q, want %v, %q", c.code, c.msg, code, msg, c.want, want)
		}
	}
}

func TestFromStatus(t *testing.T) {
	if err := fromStatus(nil, nil); err != nil {
		t.Errorf("no error becomes %v", err)
	}
	if err := fromStatus(context.Canceled, nil); core.CodeOf(err) != core.Canceled {
		t.Errorf("an error that is no status becomes %v", err)
	}
}

// TestLateCancellation: what was cancelled because its time was over says so,
// even if the caller has not noticed yet.
func TestLateCancellation(t *testing.T) {
	over, cancel := context.WithDeadline(context.Background(), time.Unix(1, 0))
	defer cancel()
	canceled := core.Errorf(core.Canceled, "Step was cancelled")
	if c := status.Code(toStatus(over, canceled)); c != codes.DeadlineExceeded {
		t.Errorf("got %v, want DeadlineExceeded", c)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if c := status.Code(toStatus(gone, canceled)); c != codes.Canceled {
		t.Errorf("got %v, want Canceled", c)
	}
	if c := status.Code(toStatus(over, core.Errorf(core.NotFound, "no"))); c != codes.NotFound {
		t.Errorf("got %v, want NotFound", c)
	}
}
