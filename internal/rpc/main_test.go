package rpc

import (
	"errors"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func listen() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

// serve starts a server with the given services and returns its address.
func serve(t *testing.T, c ServerConfig, register ...func(*grpc.Server)) string {
	t.Helper()
	lis, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(ServerOptions(c)...)
	for _, r := range register {
		r(s)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(lis) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-ended; err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			t.Error(err)
		}
	})
	return lis.Addr().String()
}

// serveLinks starts a server with links of a worker's service and returns its
// address.
func serveLinks(t *testing.T, w WorkerServer) string {
	t.Helper()
	links := NewLinkServer(ServerConfig{})
	RegisterWorker(links, w)
	t.Cleanup(func() { links.Stop(time.Second) })
	return serve(t, ServerConfig{Links: &links}, withWorker(w))
}

// linked waits until a channel has links.
func linked(t *testing.T, c *Channel) {
	t.Helper()
	for end := time.Now().Add(time.Minute); c.links.links.Load() == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no links came about")
		}
		_, _ = NewWorkerClient(c).GetStatus(t.Context(), &pb.GetStatusRequest{}) // its answer tells of links
	}
}

func withWorker(w WorkerServer) func(*grpc.Server) {
	return func(s *grpc.Server) { RegisterWorker(s, w) }
}

func withMaster(m MasterServer) func(*grpc.Server) {
	return func(s *grpc.Server) { RegisterMaster(s, m) }
}

// dial returns a channel that is closed with the test.
func dial(t *testing.T, addr string, c DialConfig) *Channel {
	t.Helper()
	cc, err := Dial(addr, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cc.Close(); err != nil {
			t.Error(err)
		}
	})
	return cc
}

// must returns the tensor of data in a shape.
func must[T core.Elem](t *testing.T, data []T, shape ...int) *core.Tensor {
	t.Helper()
	v, err := core.FromSlice(data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
