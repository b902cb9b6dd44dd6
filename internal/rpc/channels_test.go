package rpc

import (
	"context"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func TestChannels(t *testing.T) {
	addr := serve(t, ServerConfig{}, withWorker(echo{}), withMaster(echo{}))
	asked := 0
	c := NewChannels(func(task string) (string, error) {
		asked++
		if task == "unknown" {
			return "", core.Errorf(core.NotFound, "no such task")
		}
		return addr, nil
	}, DialConfig{})
	first, err := c.Get("a")
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Get("a")
	other, otherErr := c.Get("b")
	if err != nil || otherErr != nil || again != first || other == first || asked != 2 {
		t.Errorf("a task has one channel of its own; looked up %d addresses, want 2; %v, %v", asked, err, otherErr)
	}
	for _, get := range []func(string) error{
		func(task string) error { _, err := c.Get(task); return err },
		func(task string) error { _, err := c.Worker(task); return err },
		func(task string) error { _, err := c.Master(task); return err },
	} {
		if err := get("unknown"); core.CodeOf(err) != core.NotFound {
			t.Errorf("channel to an unknown task: %v", err)
		}
	}
	m, err := c.Master("a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.CreateSession(context.Background(), &pb.CreateSessionRequest{}); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Get("a"); core.CodeOf(err) != core.Canceled {
		t.Errorf("channel after Close: %v", err)
	}
	if _, err := m.CreateSession(context.Background(), &pb.CreateSessionRequest{}); core.CodeOf(err) != core.Canceled {
		t.Errorf("call after Close: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestDialRefusesBadAddress(t *testing.T) {
	if _, err := Dial("host:port:more%zz", DialConfig{}); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("Dial: %v, want INVALID_ARGUMENT", err)
	}
}

// TestSettle: a server that is there again after calls to it have failed is reached by the next call, without waiting for
// the time at which gRPC would try again.
func TestSettle(t *testing.T) {
	lis, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	addr := lis.Addr().String()
	lis.Close()
	c := NewChannels(func(string) (string, error) { return addr, nil }, DialConfig{})
	defer c.Close()
	w, err := c.Worker("a")
	if err != nil {
		t.Fatal(err)
	}
	for len(c.failing()) == 0 {
		if _, err := w.CleanupAll(t.Context(), &pb.CleanupAllRequest{}); core.CodeOf(err) != core.Unavailable {
			t.Fatalf("a call to no server: %v", err)
		}
	}
	if lis, err = net.Listen("tcp", addr); err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(ServerOptions(ServerConfig{})...)
	withWorker(echo{})(s)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(lis) }()
	defer func() { s.Stop(); <-ended }()
	c.settle(t.Context())
	if _, err := w.CleanupAll(t.Context(), &pb.CleanupAllRequest{}); core.CodeOf(err) == core.Unavailable {
		t.Errorf("the first call to the server that is back: %v", err)
	}
}

// TestSettleGivesUp: it waits no longer than its context for a server that is still gone.
func TestSettleGivesUp(t *testing.T) {
	lis, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	lis.Close()
	c := NewChannels(func(string) (string, error) { return lis.Addr().String(), nil }, DialConfig{})
	defer c.Close()
	w, err := c.Worker("a")
	if err != nil {
		t.Fatal(err)
	}
	for len(c.failing()) == 0 {
		_, _ = w.CleanupAll(t.Context(), &pb.CleanupAllRequest{})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.settle(ctx)
}

// TestUnknownHost: an error says which host of which task is not known.
func TestUnknownHost(t *testing.T) {
	c := NewChannels(func(string) (string, error) { return "no-such-host.invalid:2222", nil }, DialConfig{})
	defer c.Close()
	w, err := c.Worker("/job:ps/replica:0/task:3")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.CleanupAll(t.Context(), &pb.CleanupAllRequest{})
	const want = `the host of /job:ps/replica:0/task:3 must be known by name, no address was found for "no-such-host.invalid": `
	if core.CodeOf(err) != core.Unavailable || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want UNAVAILABLE: %s…", err, want)
	}
}
