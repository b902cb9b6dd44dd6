package cluster_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// TestStopEndsHealthWatch: a client that watches a server hears that it stops, and then
// does not hold it up.
func TestStopEndsHealthWatch(t *testing.T) {
	s := start(t, map[string]int{"worker": 1}).servers["worker:0"]
	cc, err := grpc.NewClient(strings.TrimPrefix(s.Target(), "grpc://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	w, err := healthpb.NewHealthClient(cc).Watch(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := w.Recv(); err != nil || r.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		t.Fatalf("before the end: %v, %v", r, err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop() }()
	if r, err := w.Recv(); err != nil || r.GetStatus() != healthpb.HealthCheckResponse_NOT_SERVING {
		t.Errorf("while it stops: %v, %v", r, err)
	}
	if _, err := w.Recv(); status.Convert(err).Message() != "the server is stopping" {
		t.Errorf("the watch ends with %v", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}
