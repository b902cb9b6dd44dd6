package rpc

import (
	"context"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// TestHealthEnds: clients that watch a server hear that it does not serve any more, once,
// and then do not keep it from stopping gracefully.
func TestHealthEnds(t *testing.T) {
	h, s := NewHealth(), grpc.NewServer()
	healthpb.RegisterHealthServer(s, h)
	lis, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(lis)
	defer s.Stop()
	cc, err := grpc.NewClient(lis.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	const serving, not, unknown = healthpb.HealthCheckResponse_SERVING, healthpb.HealthCheckResponse_NOT_SERVING, healthpb.HealthCheckResponse_SERVICE_UNKNOWN
	heard := map[string][]healthpb.HealthCheckResponse_ServingStatus{"": {serving, not}, "other": {unknown}, "down": {not}}
	h.SetServingStatus("down", not)
	watches := map[string]healthpb.Health_WatchClient{}
	for name, want := range heard {
		w, err := healthpb.NewHealthClient(cc).Watch(t.Context(), &healthpb.HealthCheckRequest{Service: name})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := w.Recv(); err != nil || r.GetStatus() != want[0] {
			t.Fatalf("%q: %v, %v", name, r, err)
		}
		watches[name] = w
	}
	h.End()
	s.GracefulStop()
	for name, w := range watches {
		got := heard[name][:1:1]
		r, err := w.Recv()
		for ; err == nil; r, err = w.Recv() {
			got = append(got, r.GetStatus())
		}
		if want := heard[name]; !slices.Equal(got, want) || status.Code(err) != codes.Unavailable || status.Convert(err).Message() != "the server is stopping" {
			t.Errorf("%q: heard %v, %v; want %v", name, got, err, want)
		}
	}
}

// TestHealthWatchOfGone: a client that goes ends its own call only.
func TestHealthWatchOfGone(t *testing.T) {
	h := NewHealth()
	defer h.End()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Watch(&healthpb.HealthCheckRequest{}, &healthWatch{ctx: ctx, Health_WatchServer: deaf{}}); status.Code(err) != codes.Canceled {
		t.Error(err)
	}
}

// deaf is a stream that takes everything.
type deaf struct{ grpc.ServerStream }

func (deaf) Send(*healthpb.HealthCheckResponse) error { return nil }
