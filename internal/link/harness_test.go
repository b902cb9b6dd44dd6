package link

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gorge-tf/gorge/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// plain is a codec whose messages are bytes.
type plain struct{}

func (plain) Name() string { return "plain" }

func (plain) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.(*[]byte)
	if !ok {
		return nil, errors.New("messages are bytes")
	}
	return mem.BufferSlice{mem.SliceBuffer(*b)}, nil
}

func (plain) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// A tester is the service that tests call.
type tester struct {
	entered, left chan string // calls of Wait
	release       chan struct{}
	notes         chan string
}

func newTester() *tester {
	return &tester{entered: make(chan string, 100), left: make(chan string, 100), release: make(chan struct{}), notes: make(chan string, 100)}
}

func (s *tester) Echo(_ context.Context, req []byte) ([]byte, error) { return req, nil }

func (s *tester) Fail(ctx context.Context, req []byte) ([]byte, error) {
	_ = grpc.SetHeader(ctx, metadata.Pairs("head", string(req)))
	_ = grpc.SetTrailer(ctx, metadata.Pairs("tail", string(req)))
	return nil, status.Error(codes.DataLoss, string(req))
}

func (s *tester) Wait(ctx context.Context, req []byte) ([]byte, error) {
	s.entered <- string(req)
	defer func() { s.left <- string(req) }()
	select {
	case <-s.release:
		return req, nil
	case <-ctx.Done():
		return nil, status.FromContextError(ctx.Err()).Err()
	}
}

func (s *tester) Note(_ context.Context, req []byte) ([]byte, error) {
	s.notes <- string(req)
	return nil, nil
}

func unary(name string, f func(*tester, context.Context, []byte) ([]byte, error)) grpc.MethodDesc {
	return grpc.MethodDesc{MethodName: name, Handler: func(srv any, ctx context.Context, dec func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		var req []byte
		if err := dec(&req); err != nil {
			return nil, err
		}
		run := func(ctx context.Context, req any) (any, error) {
			resp, err := f(srv.(*tester), ctx, *req.(*[]byte))
			return &resp, err
		}
		if intercept == nil {
			return run(ctx, &req)
		}
		return intercept(ctx, &req, &grpc.UnaryServerInfo{Server: srv, FullMethod: "/t/" + name}, run)
	}}
}

var testerDesc = grpc.ServiceDesc{ServiceName: "t", Methods: []grpc.MethodDesc{
	unary("Echo", (*tester).Echo), unary("Fail", (*tester).Fail), unary("Wait", (*tester).Wait), unary("Note", (*tester).Note),
}}

// newServer returns a server of the service, with Later, which answers from
// another goroutine after release.
func newServer(s *tester) *Server {
	srv := NewServer(plain{}, nil, Keepalive{})
	srv.RegisterService(&testerDesc, s)
	srv.RegisterQuick("/t/Note")
	srv.RegisterStarter("/t/Later", func(ctx context.Context, dec func(any) error, done func(any, error)) {
		var req []byte
		if err := dec(&req); err != nil {
			done(nil, err)
			return
		}
		s.entered <- string(req)
		go func() {
			var err error
			select {
			case <-s.release:
			case <-ctx.Done():
				err = ctx.Err()
			}
			s.left <- string(req)
			done(&req, err)
		}()
	})
	return srv
}

// over joins a client and a server by the two ends of a connection. Both end
// with the test.
func over(t *testing.T, srv *Server, client, server net.Conn) *Client {
	t.Helper()
	var serving sync.WaitGroup
	serving.Go(func() { srv.Serve(server, nil, nil) })
	c, err := NewClient(client, plain{}, Keepalive{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		srv.Stop(time.Second)
		serving.Wait()
	})
	return c
}

// pair returns the two ends of a connection on loopback.
func pair(t testing.TB) (client, server net.Conn) {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		nc, _ := lis.Accept()
		accepted <- nc
	}()
	if client, err = net.Dial("tcp", lis.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server = <-accepted; server == nil {
		t.Fatal("nothing was accepted")
	}
	return client, server
}

func joined(t *testing.T, s *tester) (*Client, *Server) {
	t.Helper()
	srv := newServer(s)
	a, b := pair(t)
	return over(t, srv, a, b), srv
}

// ask makes a call.
func ask(ctx context.Context, c *Client, method, text string, opts ...grpc.CallOption) (string, error) {
	req, resp := []byte(text), []byte(nil)
	err := c.Invoke(ctx, "/t/"+method, &req, &resp, opts...)
	return string(resp), err
}

// waiting makes a call that has reached its handler, and returns how it ends.
func waiting(t *testing.T, c *Client, s *tester) <-chan error {
	t.Helper()
	answer := make(chan error, 1)
	go func() {
		_, err := ask(t.Context(), c, "Wait", "x")
		answer <- err
	}()
	<-s.entered
	return answer
}
