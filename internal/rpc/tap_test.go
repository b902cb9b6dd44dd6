package rpc

import (
	"bytes"
	"context"
	"crypto/tls"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/gorge-tf/gorge/internal/secure"
	"github.com/gorge-tf/gorge/internal/secure/securetest"
	"github.com/gorge-tf/gorge/tf/pb"
)

// callCounter counts the bytes of messages that a server has read, and calls that an
// observer was told of.
type callCounter struct {
	bytes, seen, refused atomic.Int64
}

func (r *callCounter) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context   { return ctx }
func (r *callCounter) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }
func (r *callCounter) HandleConn(context.Context, stats.ConnStats)                       {}
func (r *callCounter) HandleRPC(_ context.Context, s stats.RPCStats) {
	if p, ok := s.(*stats.InPayload); ok {
		r.bytes.Add(int64(p.Length))
	}
}

func (r *callCounter) Serve(ctx context.Context, _, _ string) (context.Context, func(error)) {
	r.seen.Add(1)
	return ctx, func(err error) {
		if err != nil {
			r.refused.Add(1)
		}
	}
}
func (r *callCounter) Call(ctx context.Context, _ string) (context.Context, func(error)) {
	return ctx, func(error) {}
}
func (r *callCounter) Outgoing(context.Context) []string { return nil }
func (r *callCounter) RequestID(context.Context) string  { return "" }

// guarded starts a server that knows callers by tokens, and returns a connection of a
// client without.
func guarded(t *testing.T, limits Limits) (*callCounter, *grpc.ClientConn) {
	t.Helper()
	ca := securetest.New(t)
	ca.Issue(t, securetest.Cert{Name: "server"})
	tokens := ca.Path("tokens")
	securetest.Write(t, tokens, []byte("observe watcher a-token-that-may-look\nrun robot a-token-that-may-run\n"))
	k := securetest.Open(t, secure.Files{Cert: ca.Path("server.pem"), Key: ca.Path("server.key"), Tokens: tokens, Poll: -1})
	r := &callCounter{}
	addr := serve(t, ServerConfig{Guard: k, Limits: limits, Observer: r, Options: []grpc.ServerOption{grpc.StatsHandler(r)}}, withMaster(echo{}))
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{InsecureSkipVerify: true})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return r, conn
}

const createSession = "/tensorflow.MasterService/CreateSession"

// TestStrangersAreNotRead: a caller without the role is refused before its message is
// read, however large that is, and also if it never comes.
func TestStrangersAreNotRead(t *testing.T) {
	for name, limits := range map[string]Limits{"unlimited": {}, "limited": {Connections: 10}} {
		t.Run(name, func(t *testing.T) {
			r, conn := guarded(t, limits)
			large := &pb.CreateSessionRequest{Target: string(bytes.Repeat([]byte{'x'}, 64<<20))}
			for token, want := range map[string]codes.Code{"": codes.Unauthenticated, "a-token-of-another": codes.Unauthenticated, "a-token-that-may-look": codes.PermissionDenied} {
				ctx := t.Context()
				if token != "" {
					ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
				}
				if err := conn.Invoke(ctx, createSession, large, &pb.CreateSessionResponse{}); status.Code(err) != want {
					t.Errorf("with the token %q: %v, want %v", token, err, want)
				}
				s, err := conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true}, createSession)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.RecvMsg(&pb.CreateSessionResponse{}); status.Code(err) != want {
					t.Errorf("without a message, with the token %q: %v, want %v", token, err, want)
				}
			}
			if r.bytes.Load() != 0 || r.seen.Load() != 6 || r.refused.Load() != 6 {
				t.Errorf("%d bytes were read, %d calls observed, %d as refused", r.bytes.Load(), r.seen.Load(), r.refused.Load())
			}
			ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer a-token-that-may-run")
			if err := conn.Invoke(ctx, createSession, &pb.CreateSessionRequest{Target: "x"}, &pb.CreateSessionResponse{}); err != nil {
				t.Error(err)
			}
			if r.bytes.Load() == 0 || r.seen.Load() != 7 || r.refused.Load() != 6 {
				t.Errorf("of a call that is let in %d bytes were read, %d calls observed, %d as refused", r.bytes.Load(), r.seen.Load(), r.refused.Load())
			}
		})
	}
}
