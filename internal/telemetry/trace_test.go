package telemetry

import (
	"context"
	"errors"
	"math"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf/core"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const (
	runStep  = "/tensorflow.MasterService/RunStep"
	runGraph = "/tensorflow.WorkerService/RunGraph"
)

// traced returns a Telemetry that records a part of the traces, and what it records.
func traced(t *testing.T, sample float64) (*Telemetry, *tracetest.InMemoryExporter) {
	t.Helper()
	spans := tracetest.NewInMemoryExporter()
	o, err := New(t.Context(), Options{Traces: TraceOptions{Sample: sample, Exporter: spans}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close(context.Background()) })
	return o, spans
}

// received returns the context of a call that comes with the names and values that its
// caller sent.
func received(ctx context.Context, sent []string) context.Context {
	return metadata.NewIncomingContext(ctx, metadata.Pairs(sent...))
}

// TestTracesPropagate: what a caller begins, the callee goes on with, whoever of them
// samples; and the request's number is the same.
func TestTracesPropagate(t *testing.T) {
	for _, sampled := range []float64{0, 1} {
		client, sent := traced(t, sampled)
		server, got := traced(t, 1-sampled) // the caller decides
		ctx, end := client.Call(t.Context(), runStep)
		there, done := server.Serve(received(t.Context(), client.Outgoing(ctx)), runStep, "grpc")
		if client.RequestID(ctx) == "" || client.RequestID(ctx) != server.RequestID(there) {
			t.Errorf("the request is %q here and %q there", client.RequestID(ctx), server.RequestID(there))
		}
		inner, innerEnd := server.Call(there, runGraph)
		if server.RequestID(inner) != client.RequestID(ctx) {
			t.Error("a call within the call is of another trace")
		}
		innerEnd(nil)
		done(status.Error(codes.Aborted, "it was aborted"))
		end(nil)
		if n, m := len(sent.GetSpans()), len(got.GetSpans()); n != int(sampled) || m != 2*int(sampled) {
			t.Fatalf("sampled %v: %d spans of the caller, %d of the callee", sampled, n, m)
		}
		if sampled == 0 {
			continue
		}
		call, nested, serve := sent.GetSpans()[0], got.GetSpans()[0], got.GetSpans()[1]
		if serve.Parent.SpanID() != call.SpanContext.SpanID() || nested.Parent.SpanID() != serve.SpanContext.SpanID() {
			t.Error("spans are not within those of their callers")
		}
		if serve.Status.Description == "" || !strings.Contains(serve.Status.Description, "it was aborted") {
			t.Errorf("the span of a call that failed says %+v", serve.Status)
		}
	}
}

// TestSampling: of the traces that begin here about the part is recorded that is asked
// for; a header that is no trace begins one.
func TestSampling(t *testing.T) {
	o, spans := traced(t, 0.25)
	const n = 2000
	for range n {
		_, end := o.Serve(received(t.Context(), []string{"traceparent", "00-not-a-trace"}), runStep, "http")
		end(nil)
	}
	if got := len(spans.GetSpans()); got < n/6 || got > n/3 {
		t.Errorf("%d of %d traces are recorded", got, n)
	}
	for _, bad := range []float64{-0.1, 1.1} {
		if _, err := New(t.Context(), Options{Traces: TraceOptions{Sample: bad}}); core.CodeOf(err) != core.InvalidArgument {
			t.Errorf("a part of %v: %v", bad, err)
		}
	}
}

// TestClientsMakeUpNoNames: metrics and spans of methods that no server has share a
// name.
func TestClientsMakeUpNoNames(t *testing.T) {
	o, spans := traced(t, 1)
	for _, name := range []string{"/a/b", "/c/d", "", "no slash"} {
		_, end := o.Serve(t.Context(), name, "grpc")
		end(status.Error(codes.Unimplemented, "no such method"))
	}
	for _, s := range spans.GetSpans() {
		if s.Name != strings.TrimPrefix(other, "/") {
			t.Errorf("a span is called %q", s.Name)
		}
	}
	n := 0
	o.methods.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("there are metrics of %d methods", n)
	}
}

// sink is a collector, which keeps the names of spans or fails.
type sink struct {
	collector.UnimplementedTraceServiceServer
	mu    sync.Mutex
	names []string
	fail  error
}

// Export takes spans.
func (s *sink) Export(_ context.Context, r *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rs := range r.GetResourceSpans() {
		for _, ss := range rs.GetScopeSpans() {
			for _, span := range ss.GetSpans() {
				s.names = append(s.names, span.GetName())
			}
		}
	}
	return &collector.ExportTraceServiceResponse{}, s.fail
}

// collect starts a collector and returns its address.
func collect(t *testing.T, s *sink) string {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	collector.RegisterTraceServiceServer(server, s)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(lis) }()
	t.Cleanup(func() { server.Stop(); <-ended })
	return lis.Addr().String()
}

// TestCollector: spans reach a collector by OpenTelemetry's protocol, at Close at the
// latest.
func TestCollector(t *testing.T) {
	s := &sink{}
	o, err := New(t.Context(), Options{Traces: TraceOptions{Service: "me", Sample: 1, Endpoint: collect(t, s), Insecure: true}})
	if err != nil {
		t.Fatal(err)
	}
	_, end := o.Serve(t.Context(), runStep, "grpc")
	end(nil)
	if err := o.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if len(s.names) != 1 || s.names[0] != "tensorflow.MasterService/RunStep" {
		t.Errorf("the collector got %q", s.names)
	}
}

// TestBadCollectors: a collector that fails or is not there slows no call down and
// ends with the process's patience.
func TestBadCollectors(t *testing.T) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := lis.Addr().String()
	lis.Close()
	for name, at := range map[string]string{"refuses": collect(t, &sink{fail: status.Error(codes.PermissionDenied, "not you")}), "gone": gone} {
		o, err := New(t.Context(), Options{Traces: TraceOptions{Sample: 1, Endpoint: at, Insecure: true}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for range 10_000 { // more than wait to be sent
			_, end := o.Serve(t.Context(), runStep, "grpc")
			end(nil)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := o.Close(ctx); err == nil {
			t.Errorf("%s: the spans are sent, it is said", name)
		}
	}
}

// failing is an exporter that takes nothing.
type failing struct{}

func (failing) ExportSpans(ctx context.Context, _ []trace.ReadOnlySpan) error {
	return errors.New("the disk is full")
}
func (failing) Shutdown(context.Context) error { return nil }

// TestFailingExporter: calls do not see that their spans are lost.
func TestFailingExporter(t *testing.T) {
	o, err := New(t.Context(), Options{Traces: TraceOptions{Sample: 1, Exporter: failing{}}})
	if err != nil {
		t.Fatal(err)
	}
	_, end := o.Serve(t.Context(), runStep, "grpc")
	end(nil)
	if o.calls.underWay() != 0 {
		t.Error("a call has not ended")
	}
	if err := o.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestBook: calls under way are shown, the oldest first; of those that have ended the
// last slow ones.
func TestBook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, err := New(t.Context(), Options{Slow: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close(context.Background())
		var ends []func(error)
		for range 3 {
			_, end := o.Serve(t.Context(), runStep, "link")
			ends = append(ends, end)
			time.Sleep(time.Second)
		}
		if c := o.UnderWay(2); len(c) != 2 || c[0].Took != 3*time.Second || c[1].Took != 2*time.Second || c[0].By != "link" {
			t.Errorf("calls under way: %+v", c)
		}
		ends[0](nil)
		time.Sleep(time.Hour)
		ends[1](status.Error(codes.NotFound, ""))
		ends[2](nil)
		if s := o.Slow(); len(s) != 2 || s[1].Code != "NotFound" || s[0].Code != "OK" || len(o.UnderWay(10)) != 0 {
			t.Errorf("slow calls: %+v", s)
		}
		for range 2 * remembered {
			_, end := o.Serve(t.Context(), runGraph, "link")
			time.Sleep(time.Hour)
			end(nil)
		}
		if s := o.Slow(); len(s) != remembered || s[0].Method != runGraph {
			t.Errorf("%d slow calls are remembered", len(s))
		}
	})
}

// TestSampleIsAPart: what is no part of the traces is refused, also what is no number.
func TestSampleIsAPart(t *testing.T) {
	for _, x := range []float64{-0.1, 1.1, math.NaN()} {
		if o, err := New(t.Context(), Options{Traces: TraceOptions{Sample: x}}); core.CodeOf(err) != core.InvalidArgument {
			t.Errorf("%v: %v", x, err)
			o.Close(t.Context())
		}
	}
}
