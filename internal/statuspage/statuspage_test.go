package statuspage_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/rpc"
	"github.com/gorge-tf/gorge/internal/statuspage"
	"github.com/gorge-tf/gorge/internal/telemetry"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/cluster"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// observed is a server of a cluster that is observed.
type observed struct {
	*cluster.Server
	t     *telemetry.Telemetry
	spans *tracetest.InMemoryExporter
	url   string
}

func (o *observed) get(t *testing.T, path string) (int, string) {
	t.Helper()
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get(o.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func newTelemetry(t *testing.T, sample float64) (*telemetry.Telemetry, *tracetest.InMemoryExporter) {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	o, err := telemetry.New(t.Context(), telemetry.Options{Slow: time.Nanosecond, Traces: telemetry.TraceOptions{Sample: sample, Exporter: spans}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close(context.Background()) })
	return o, spans
}

// start starts a parameter server and a worker, which have base in common.
func start(t *testing.T, base cluster.Config) map[string]*observed {
	t.Helper()
	spec, listeners := cluster.Spec{}, map[string]net.Listener{}
	for _, job := range []string{"ps", "worker"} {
		lis, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners[job], spec[job] = lis, []string{lis.Addr().String()}
	}
	out := map[string]*observed{}
	for job, lis := range listeners {
		o := &observed{}
		o.t, o.spans = newTelemetry(t, 0)
		var err error
		base.Cluster, base.Job, base.Listener, base.Observer = spec, job, lis, o.t
		if o.Server, err = cluster.NewServer(base); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { o.Stop() })
		o.t.Register(statuspage.Collector(o.Server))
		ready := func() error {
			if !o.Status().Ready {
				return errors.New("not ready")
			}
			return nil
		}
		web, err := telemetry.Serve("127.0.0.1:0", o.t.Handler(telemetry.HandlerOptions{Ready: ready, Page: statuspage.Page(o.Server, o.t)}), nil, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { web.Close() })
		o.url = "http://" + web.Addr()
		out[job] = o
	}
	return out
}

// TestObserved: a trace goes from a client through its master and the workers to what
// they send each other, by gRPC and by links; all of it is counted and shown.
func TestObserved(t *testing.T) {
	for name, noLinks := range map[string]bool{"links": false, "gRPC": true} {
		t.Run(name, func(t *testing.T) {
			c := start(t, cluster.Config{NoLinks: noLinks})
			if code, _ := c["worker"].get(t, "/readyz"); code != http.StatusServiceUnavailable {
				t.Errorf("before it serves a server is ready: %d", code)
			}
			for _, o := range c {
				if err := o.Start(); err != nil {
					t.Fatal(err)
				}
			}
			client, spans := newTelemetry(t, 1)
			g := tf.NewGraph(tf.Strict())
			x := ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.OnDevice("/job:ps"))
			y := ops.Square(ops.Neg(x, tf.OnDevice("/job:ps")), tf.OnDevice("/job:worker"))
			fed := ops.Placeholder(g, tf.Float32, tf.Shape{1000})
			var v *tf.Variable
			g.Device("/job:worker", func() { v = tf.NewVariable(fed, tf.VariableOptions{Name: "v"}) })
			target := strings.Replace(c["worker"].Target(), "127.0.0.1", "localhost", 1) // not within the process
			s, err := session.New(g, session.Target(target), cluster.Observed(client), session.With(session.Config{DisabledPasses: []string{"all"}}))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			first, err := tf.FromSlice(make([]float32, 1000))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Run(t.Context(), session.Feeds{fed: first}, v.Initializer()); err != nil {
				t.Fatal(err)
			}
			ended := false
			for n := 0; n < 2000 && !ended; n++ {
				if _, err := s.Run(t.Context(), session.Feeds{x: tf.Scalar[float32](2)}, y); err != nil {
					t.Fatal(err)
				}
				_, text := c["ps"].get(t, "/metrics")
				by := map[bool]string{true: "grpc", false: "link"}[noLinks]
				ended = strings.Contains(text, `grpc_server_handled_total{grpc_code="OK",grpc_method="RecvTensor",grpc_service="tensorflow.WorkerService",transport="`+by+`"}`)
			}
			if !ended {
				_, text := c["ps"].get(t, "/metrics")
				t.Errorf("no RecvTensor was counted:\n%s", text)
			}
			checkTrace(t, spans, c)
			checkShown(t, c["worker"])
			if err := c["worker"].Stop(); err != nil {
				t.Error(err)
			}
			if code, _ := c["worker"].get(t, "/readyz"); code != http.StatusServiceUnavailable {
				t.Errorf("after its end a server is ready: %d", code)
			}
			if code, _ := c["worker"].get(t, "/healthz"); code != http.StatusOK {
				t.Errorf("health is %d", code)
			}
		})
	}
}

// checkTrace looks for a trace that has all its parts.
func checkTrace(t *testing.T, client *tracetest.InMemoryExporter, c map[string]*observed) {
	t.Helper()
	at := map[string]map[string]bool{} // trace → what it has
	add := func(who string, e *tracetest.InMemoryExporter) {
		for _, s := range e.GetSpans() {
			id := s.SpanContext.TraceID().String()
			if at[id] == nil {
				at[id] = map[string]bool{}
			}
			at[id][who+" "+s.SpanKind.String()+" "+s.Name] = true
		}
	}
	add("client", client)
	add("worker", c["worker"].spans)
	add("ps", c["ps"].spans)
	want := []string{
		"client client tensorflow.MasterService/RunStep", "worker server tensorflow.MasterService/RunStep", "worker client tensorflow.WorkerService/RunGraph",
		"ps server tensorflow.WorkerService/RunGraph", "worker client tensorflow.WorkerService/RecvTensor", "ps server tensorflow.WorkerService/RecvTensor",
	}
	for _, has := range at {
		found := 0
		for _, w := range want {
			if has[w] {
				found++
			}
		}
		if found == len(want) {
			return
		}
	}
	t.Errorf("no trace has all of %q; traces are %v", want, at)
}

// checkShown looks at the page and the metrics of a server with a session.
func checkShown(t *testing.T, o *observed) {
	t.Helper()
	_, page := o.get(t, "/")
	for _, want := range []string{"/job:worker/replica:0/task:0", "/job:ps/replica:0/task:0", o.Target(), "ready", "MasterService/RunStep", "plain text", "variables"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q:\n%s", want, page)
		}
	}
	if found := regexp.MustCompile(`(?i)<script|src=|href=|url\(`).FindString(page); found != "" {
		t.Errorf("the page loads something: %q", found)
	}
	_, metrics := o.get(t, "/metrics")
	for _, want := range []string{"gorge_ready 1", "gorge_sessions 1", "gorge_rendezvous_waits 0", "gorge_memory_limit_bytes", "gorge_session_memory_bytes", `gorge_resource_memory_bytes{kind="variables"} 4000`, `gorge_received_tensors_total{transport="grpc"}`, "gorge_calls_under_way", "go_goroutines"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics have no %s:\n%s", want, metrics)
		}
	}
	if code, _ := o.get(t, "/debug/pprof/"); code != http.StatusNotFound {
		t.Errorf("profiles without the option: %d", code)
	}
}

// TestUnknownMethods: names that clients make up do not become metrics of their own.
func TestUnknownMethods(t *testing.T) {
	o, _ := newTelemetry(t, 0)
	for _, m := range []string{"/a/b", "/x.Y/" + strings.Repeat("z", 100), "", "no slash"} {
		_, end := o.Serve(t.Context(), m, "link")
		end(errors.New("unknown"))
	}
	web, err := telemetry.Serve("127.0.0.1:0", o.Handler(telemetry.HandlerOptions{}), nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	_, text := (&observed{url: "http://" + web.Addr()}).get(t, "/metrics")
	if !strings.Contains(text, `grpc_server_started_total{grpc_method="other",grpc_service="other",transport="link"} 4`) || strings.Contains(text, "zzz") {
		t.Errorf("the metrics are\n%s", text)
	}
	if n := len(o.UnderWay(10)); n != 0 {
		t.Errorf("%d calls are under way", n)
	}
}

// TestHealth: grpc.health.v1 says whether the server serves.
func TestHealth(t *testing.T) {
	s, err := cluster.NewServer(cluster.Local("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	ch, err := rpc.Dial(strings.TrimPrefix(s.Target(), "grpc://"), rpc.DialConfig{NoLinks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer ch.Close()
	for _, service := range []string{"", "tensorflow.WorkerService"} {
		resp, err := healthpb.NewHealthClient(ch).Check(t.Context(), &healthpb.HealthCheckRequest{Service: service}, grpc.WaitForReady(true))
		if err != nil || resp.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			t.Errorf("service %q is %v, %v", service, resp, err)
		}
	}
	if _, err := cluster.ListDevices(t.Context(), s.Target(), nil); tf.CodeOf(err) != tf.OK {
		t.Error(err)
	}
}
