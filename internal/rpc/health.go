package rpc

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
)

// Health is the service grpc.health.v1. Clients may watch it for as long as they like,
// while a server that stops gracefully waits for the calls that it has: End ends them.
type Health struct {
	*health.Server
	ended context.Context
	end   context.CancelFunc
}

// NewHealth returns a service that says that the server serves.
func NewHealth() *Health {
	h := &Health{Server: health.NewServer()}
	h.ended, h.end = context.WithCancel(context.Background())
	return h
}

// End sets all services to NOT_SERVING for good, and ends each call of Watch after its
// client has been sent that.
func (h *Health) End() {
	h.Shutdown()
	h.end()
}

// Watch tells a client how a service is, and again whenever that changes.
func (h *Health) Watch(r *healthpb.HealthCheckRequest, s healthpb.Health_WatchServer) error {
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	defer context.AfterFunc(h.ended, cancel)()
	w := &healthWatch{Health_WatchServer: s, ctx: ctx, told: -1}
	err := h.Server.Watch(r, w)
	if h.ended.Err() == nil || s.Context().Err() != nil {
		return err
	}
	if last, err := h.Check(ctx, r); err == nil && last.GetStatus() != w.told {
		if err := s.Send(last); err != nil {
			return err
		}
	}
	return status.Error(codes.Unavailable, "the server is stopping")
}

// A healthWatch is the stream of a client that watches, which End ends.
type healthWatch struct {
	healthpb.Health_WatchServer
	ctx  context.Context
	told healthpb.HealthCheckResponse_ServingStatus // what the client was told last; -1: nothing
}

func (w *healthWatch) Context() context.Context { return w.ctx }

func (w *healthWatch) Send(r *healthpb.HealthCheckResponse) error {
	w.told = r.GetStatus()
	return w.Health_WatchServer.Send(r)
}
