package rpc

import (
	"crypto/tls"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

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
