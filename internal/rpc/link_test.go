package rpc

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gorge-tf/gorge/internal/method"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// both serves a worker by gRPC and by links of one port.
func both(t *testing.T, w WorkerServer, c ServerConfig) (addr string, links LinkServer) {
	t.Helper()
	links = NewLinkServer(c)
	RegisterWorker(links, w)
	t.Cleanup(func() { links.Stop(time.Second) })
	c.Links = &links
	return serve(t, c, withWorker(w)), links
}

func (c *Channel) hasLinks() bool { return c.links.links.Load() != nil }

// TestLinksFollowGRPC: the first call goes by gRPC, later ones by links, and by
// gRPC again when the links have ended. Callers see no difference.
func TestLinksFollowGRPC(t *testing.T) {
	addr, links := both(t, echo{}, ServerConfig{})
	ch := dial(t, addr, DialConfig{})
	w := NewWorkerClient(ch)
	run := func(when string) {
		resp, err := w.RunGraph(t.Context(), &pb.RunGraphRequest{StepId: 5, GraphHandle: "x"})
		if err != nil || resp == nil {
			t.Errorf("%s: %v, %v", when, resp, err)
		}
		if _, err := w.RegisterGraph(t.Context(), &pb.RegisterGraphRequest{}); core.CodeOf(err) != core.Unimplemented {
			t.Errorf("%s: what the server does not have: %v", when, err)
		}
	}
	run("before")
	linked(t, ch)
	run("by links")
	links.Stop(time.Second)
	for ch.hasLinks() {
		time.Sleep(time.Millisecond)
	}
	run("after")
}

// TestNoLinks: a process that wants no links opens none and offers none.
func TestNoLinks(t *testing.T) {
	addr, _ := both(t, echo{}, ServerConfig{})
	for name, ch := range map[string]*Channel{
		"not wanted":  dial(t, addr, DialConfig{NoLinks: true}),
		"not offered": dial(t, serve(t, ServerConfig{}, withWorker(echo{})), DialConfig{}),
	} {
		var header metadata.MD
		for range 3 {
			_, _ = call[pb.GetStatusResponse](t.Context(), ch, method.WorkerGetStatus, &pb.GetStatusRequest{}, grpc.Header(&header))
		}
		ch.links.work.Wait()
		if ch.hasLinks() {
			t.Errorf("%s: there are links", name)
		}
	}
}

// TestLinksAreSecret: links are as secure as gRPC is.
func TestLinksAreSecret(t *testing.T) {
	cert, pool := certificate(t)
	addr, _ := both(t, echo{}, ServerConfig{Credentials: credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{cert}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert})})
	ch := dial(t, addr, DialConfig{Credentials: credentials.NewTLS(&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{cert}})})
	linked(t, ch)
	if _, err := NewWorkerClient(ch).RunGraph(t.Context(), &pb.RunGraphRequest{}); err != nil {
		t.Error(err)
	}
	plain := newLinker(addr, DialConfig{}, Keepalive{})
	defer plain.close()
	if b, err := plain.connect(); err == nil {
		b.close()
		t.Error("a link without the certificate")
	}
}

// TestPanicByLink: interceptors stand before handlers here, too.
func TestPanicByLink(t *testing.T) {
	addr, _ := both(t, &moody{}, ServerConfig{})
	ch := dial(t, addr, DialConfig{})
	linked(t, ch)
	if _, err := NewWorkerClient(ch).Tracing(t.Context(), &pb.TracingRequest{}); core.CodeOf(err) != core.Internal {
		t.Errorf("got %v", err)
	}
}

// A clumsy worker panics where it transfers values.
type clumsy struct{ UnimplementedWorker }

func (clumsy) RecvTensor(context.Context, *pb.RecvTensorRequest) (*TensorResponse, error) {
	panic("a bug")
}

func (clumsy) RecvBuf(context.Context, *pb.RecvBufRequest) (*BufferResponse, error) {
	panic("a bug")
}

// A clumsyStarter panics on the goroutine that reads the link; if late, after its answer.
type clumsyStarter struct {
	clumsy
	late bool
}

func (c clumsyStarter) StartRecvTensor(_ context.Context, _ *pb.RecvTensorRequest, done func(*TensorResponse, error)) {
	if c.late {
		done(&TensorResponse{Dead: true}, nil)
	}
	panic("a bug")
}

// A safeBuffer is a buffer that may be read while others write.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// TestTransfersPanic: a panic while a value is transferred is the caller's error,
// by gRPC and links alike, and the connection goes on.
func TestTransfersPanic(t *testing.T) {
	for name, srv := range map[string]WorkerServer{"handler": clumsy{}, "starter": clumsyStarter{}} {
		var log safeBuffer
		addr, _ := both(t, srv, ServerConfig{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		ch := dial(t, addr, DialConfig{})
		for _, way := range []string{"gRPC", "link"} {
			w := NewWorkerClient(ch)
			_, err := w.RecvTensor(t.Context(), &pb.RecvTensorRequest{}, nil)
			if core.CodeOf(err) != core.Internal || !strings.Contains(err.Error(), "panic in RecvTensor: a bug") {
				t.Errorf("%s, %s: RecvTensor: %v", name, way, err)
			}
			err = w.RecvBuf(t.Context(), &pb.RecvBufRequest{}, nil)
			if core.CodeOf(err) != core.Internal || !strings.Contains(err.Error(), "panic in RecvBuf: a bug") {
				t.Errorf("%s, %s: RecvBuf: %v", name, way, err)
			}
			linked(t, ch)
		}
		if n := strings.Count(log.String(), "panic in a call"); n != 4 || !strings.Contains(log.String(), "link_test.go") {
			t.Errorf("%s: the log has %d panics, want 4 and where they were:\n%s", name, n, log.String())
		}
	}
}

// TestPanicAfterAnswer: a call is answered once.
func TestPanicAfterAnswer(t *testing.T) {
	addr, _ := both(t, clumsyStarter{late: true}, ServerConfig{})
	ch := dial(t, addr, DialConfig{})
	linked(t, ch)
	for range 3 {
		if r, err := NewWorkerClient(ch).RecvTensor(t.Context(), &pb.RecvTensorRequest{}, nil); err != nil || !r.Dead {
			t.Errorf("got %v, %v", r, err)
		}
	}
}

// TestCodecPanics: no interceptor stands before what encodes and decodes.
func TestCodecPanics(t *testing.T) {
	if _, err := Codec().Marshal((*TensorResponse)(nil)); core.CodeOf(err) != core.Internal {
		t.Errorf("encoding nothing: %v", err)
	}
	if err := Codec().Unmarshal(nil, (*request)(nil)); core.CodeOf(err) != core.Internal {
		t.Errorf("decoding to nothing: %v", err)
	}
}

// A witness remembers which calls have begun and ended.
type witness struct {
	mu   sync.Mutex
	seen []string
}

func (w *witness) note(text string) func(error) {
	add := func(s string) { w.mu.Lock(); defer w.mu.Unlock(); w.seen = append(w.seen, s) }
	add(text)
	return func(err error) { add(fmt.Sprint("end of ", text, " ", status.Code(err))) }
}

func (w *witness) has(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.seen, text)
}

func (w *witness) Serve(ctx context.Context, method, by string) (context.Context, func(error)) {
	return ctx, w.note(by + " " + path.Base(method))
}

func (w *witness) Call(ctx context.Context, method string) (context.Context, func(error)) {
	return ctx, w.note("call " + path.Base(method))
}

func (*witness) Outgoing(context.Context) []string { return nil }
func (*witness) RequestID(context.Context) string  { return "" }

// TestNotificationsAreSeen: the observers of both ends are told of calls without answers.
func TestNotificationsAreSeen(t *testing.T) {
	here, there := &witness{}, &witness{}
	addr, _ := both(t, &moody{fails: 1}, ServerConfig{Observer: there})
	ch := dial(t, addr, DialConfig{Observer: here})
	linked(t, ch)
	if !NewWorkerClient(ch).ForgetStep(1) {
		t.Fatal("the step's end could not be told")
	}
	for _, text := range []string{"call CleanupGraph", "end of call CleanupGraph OK"} {
		if !here.has(text) {
			t.Errorf("the caller's observer was not told %q: %q", text, here.seen)
		}
	}
	for _, text := range []string{"link CleanupGraph", "end of link CleanupGraph Unavailable"} {
		for range 1000 {
			if there.has(text) {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if !there.has(text) {
			t.Errorf("the server's observer was not told %q: %q", text, there.seen)
		}
	}
}

// TestStartWithoutLinks: what does not wait is only possible by links.
func TestStartWithoutLinks(t *testing.T) {
	ch := dial(t, serve(t, ServerConfig{}, withWorker(echo{})), DialConfig{})
	w := NewWorkerClient(ch)
	if w.StartRunGraph(t.Context(), &pb.RunGraphRequest{}, func(*pb.RunGraphResponse, error) { t.Error("answered") }) || w.ForgetStep(1) {
		t.Error("a call was made without a link")
	}
}

// TestStartRunGraph hears the answer, or the error as a call that waits does.
func TestStartRunGraph(t *testing.T) {
	m := &moody{}
	addr, _ := both(t, m, ServerConfig{})
	ch := dial(t, addr, DialConfig{})
	linked(t, ch)
	w := NewWorkerClient(ch)
	_, want := w.RunGraph(t.Context(), &pb.RunGraphRequest{})
	got := make(chan error, 1)
	if !w.StartRunGraph(t.Context(), &pb.RunGraphRequest{}, func(_ *pb.RunGraphResponse, err error) { got <- err }) {
		t.Fatal("no call was made")
	}
	if err := <-got; core.CodeOf(err) != core.CodeOf(want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

// TestDerivedByLink: that an error follows from another one crosses a link.
func TestDerivedByLink(t *testing.T) {
	s := &scripted{recv: func(int, *pb.RecvTensorRequest) (*TensorResponse, error) {
		return nil, &core.Error{Code: core.Aborted, Msg: "the step has ended", Derived: true}
	}}
	addr, _ := both(t, s, ServerConfig{})
	channels := NewChannels(func(string) (string, error) { return addr, nil }, DialConfig{})
	defer channels.Close()
	ch, err := channels.Get("task")
	if err != nil {
		t.Fatal(err)
	}
	linked(t, ch)
	got := make(chan rendezvous.Result, 1)
	NewTransport(channels, 2).Recv(t.Context(), "task", requestid.New(), "key", rendezvous.Allocate, func(r rendezvous.Result) { got <- r })
	if e := core.AsError((<-got).Err); e.Code != core.Aborted || !e.Derived || e.Msg != "the step has ended" {
		t.Errorf("got %+v", e)
	}
}

// An error of a task that is gone says which task that was, whatever carried the
// call; one of what a node was given does not need it.
func TestLostTasksAreNamed(t *testing.T) {
	const note = "\nAdditional GRPC error information from remote target /job:ps/replica:0/task:0 while calling /tensorflow.WorkerService/RecvTensor"
	for code, want := range map[core.Code]string{core.Unavailable: "lost" + note, core.Aborted: "lost" + note, core.InvalidArgument: "lost"} {
		s := &scripted{recv: func(int, *pb.RecvTensorRequest) (*TensorResponse, error) { return nil, core.Errorf(code, "lost") }}
		addr, _ := both(t, s, ServerConfig{})
		for _, c := range []DialConfig{{}, {NoLinks: true}} {
			channels := NewChannels(func(string) (string, error) { return addr, nil }, c)
			defer channels.Close()
			ch, err := channels.Get("/job:ps/replica:0/task:0")
			if err != nil {
				t.Fatal(err)
			}
			if !c.NoLinks {
				linked(t, ch)
			}
			got := make(chan rendezvous.Result, 1)
			NewTransport(channels, 0).Recv(t.Context(), "/job:ps/replica:0/task:0", requestid.New(), "key", rendezvous.Allocate, func(r rendezvous.Result) { got <- r })
			if e := core.AsError((<-got).Err); e.Code != code || e.Msg != want {
				t.Errorf("%v, links %v: got %q, want %q", code, !c.NoLinks, e.Msg, want)
			}
		}
	}
}
