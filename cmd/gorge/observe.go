package main

import (
	"context"
	"flag"
	"io"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/gorge-tf/gorge/internal/statuspage"
	"github.com/gorge-tf/gorge/internal/telemetry"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
)

// observeFlags say how the server shows itself to monitors and people.
type observeFlags struct {
	port     int
	host     string
	profile  bool
	sample   float64
	endpoint string
	insecure bool
	slow     time.Duration
	format   string
}

func (f *observeFlags) define(s *flag.FlagSet) {
	portFlag(s, &f.port, "http_port", 0, "`port` for /healthz, /readyz, /metrics and a page about the server at /; 0: none, negative: any that is free, which the log tells. Under TLS if the server has certificates")
	s.StringVar(&f.host, "http_host", "", "`host` of that port; the server's own without it")
	s.BoolVar(&f.profile, "http_profile", false, "profiles at /debug/pprof/, for administrators")
	s.Var((*share)(&f.sample), "trace_sample", "`part` of the traces that begin here which is recorded, in 0 to 1")
	s.StringVar(&f.endpoint, "trace_endpoint", "", "`host:port` of an OpenTelemetry collector that traces are sent to, by gRPC")
	s.BoolVar(&f.insecure, "trace_plain", false, "send traces there in plain text")
	s.DurationVar(&f.slow, "slow_call", time.Second, "how `long` a call takes that the page lists as a slow one")
	s.StringVar(&f.format, "log_format", "text", "`form` of the log: text or json")
}

// wanted reports whether calls are observed at all.
func (f *observeFlags) wanted() bool { return f.port != 0 || f.endpoint != "" }

// handler returns the handler of the log.
func (f *observeFlags) handler(w io.Writer, level slog.Level) (slog.Handler, error) {
	o := &slog.HandlerOptions{Level: level}
	switch f.format {
	case "text":
		return slog.NewTextHandler(w, o), nil
	case "json":
		return slog.NewJSONHandler(w, o), nil
	}
	return nil, tf.Errorf(tf.InvalidArgument, "-log_format must be text or json, got %q", f.format)
}

// telemetry returns what observes the server; nil if nothing does.
func (f *observeFlags) telemetry(ctx context.Context, c *cluster.Config) (*telemetry.Telemetry, error) {
	if !f.wanted() {
		return nil, nil
	}
	return f.newTelemetry(ctx, "/job:"+c.Job+"/replica:0/task:"+strconv.Itoa(c.Task))
}

// newTelemetry returns what observes a process that traces have a name for.
func (f *observeFlags) newTelemetry(ctx context.Context, name string) (*telemetry.Telemetry, error) {
	return telemetry.New(ctx, telemetry.Options{Slow: f.slow, Traces: telemetry.TraceOptions{
		Service: name, Sample: f.sample, Endpoint: f.endpoint, Insecure: f.insecure,
	}})
}

// show serves what the server says of itself; nil: nothing is to be shown.
func (f *observeFlags) show(s *cluster.Server, t *telemetry.Telemetry, c *cluster.Config) (*telemetry.Server, error) {
	if f.port == 0 {
		return nil, nil
	}
	host := f.host
	if c.Listener != nil && host == "" {
		host, _, _ = net.SplitHostPort(c.Listener.Addr().String())
	}
	if host == "" {
		addr, err := c.Cluster.Address(c.Job, c.Task)
		if err != nil {
			return nil, err
		}
		host, _, _ = net.SplitHostPort(addr) // which the server has checked
	}
	t.Register(statuspage.Collector(s))
	ready := func() error {
		if !s.Status().Ready {
			return tf.Errorf(tf.Unavailable, "the server takes no sessions and steps")
		}
		return nil
	}
	h := t.Handler(telemetry.HandlerOptions{Guard: c.Security, Ready: ready, Page: statuspage.Page(s, t), Profile: f.profile})
	shown, err := telemetry.Serve(net.JoinHostPort(host, strconv.Itoa(max(f.port, 0))), h, c.Security, slog.New(c.Log))
	if err != nil {
		return nil, tf.Errorf(tf.Unknown, "could not serve health and metrics: %v", err)
	}
	slog.New(c.Log).Info("health and metrics are served", "address", shown.Addr())
	return shown, nil
}

// flushTime bounds how long traces may take to be sent when the server leaves.
const flushTime = 2 * time.Second

// end ends both, which may be nil.
func (f *observeFlags) end(shown *telemetry.Server, t *telemetry.Telemetry) {
	if shown != nil {
		shown.Close()
	}
	if t != nil {
		ctx, cancel := context.WithTimeout(context.Background(), flushTime)
		defer cancel()
		_ = t.Close(ctx) // traces that the collector does not take are lost
	}
}
