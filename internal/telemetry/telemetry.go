package telemetry

import (
	"context"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gorge-tf/gorge/internal/method"
	"github.com/gorge-tf/gorge/internal/rpc"
)

// A Telemetry keeps what is known of a process's calls. All methods may be called
// from any goroutine.
type Telemetry struct {
	registry *prometheus.Registry
	started  *prometheus.CounterVec
	handled  *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	methods  sync.Map // methodKey → *methodMetrics
	calls    *callLog
	traces   *traces
}

var _ rpc.Observer = (*Telemetry)(nil)

// Options say how calls are observed.
type Options struct {
	Traces TraceOptions
	// Slow is how long a call takes that is remembered as a slow one; 0: a second.
	Slow time.Duration
}

// New returns a Telemetry without calls. Close ends it.
func New(ctx context.Context, o Options) (*Telemetry, error) {
	t := &Telemetry{registry: prometheus.NewRegistry(), calls: newCallLog(o.Slow)}
	// The names are those of go-grpc-middleware's provider, whose dashboards work.
	labels := []string{"grpc_service", "grpc_method", "transport"}
	t.started = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "grpc_server_started_total", Help: "Calls that have come, by gRPC and by links."}, labels)
	t.handled = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "grpc_server_handled_total", Help: "Calls that have been answered, by code."}, append(labels, "grpc_code"))
	t.seconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "grpc_server_handling_seconds", Help: "Time until calls were answered.", Buckets: prometheus.ExponentialBuckets(50e-6, 4, 11),
	}, labels)
	t.registry.MustRegister(t.started, t.handled, t.seconds, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	t.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "gorge_calls_under_way", Help: "Calls that have come and are not answered."}, func() float64 { return float64(t.calls.underWay()) }))
	var err error
	t.traces, err = newTraces(ctx, o.Traces)
	return t, err
}

// Close sends what traces wait to be sent, until ctx ends.
func (t *Telemetry) Close(ctx context.Context) error { return t.traces.close(ctx) }

// Register adds metrics.
func (t *Telemetry) Register(c ...prometheus.Collector) { t.registry.MustRegister(c...) }

// methodKey names a method and what carries it.
type methodKey struct{ method, by string }

// methodMetrics are those of one method's calls.
type methodMetrics struct {
	name    string
	started prometheus.Counter
	seconds prometheus.Observer
	codes   [codes.Unauthenticated + 1]prometheus.Counter
}

// other stands for methods that no server of Gorge has: clients can make up as many
// names as they like.
const other = "/other/other"

func (t *Telemetry) metricsOf(name, by string) *methodMetrics {
	if !method.Known(name) {
		name = other
	}
	key := methodKey{name, by}
	if m, ok := t.methods.Load(key); ok {
		return m.(*methodMetrics)
	}
	service := strings.TrimPrefix(path.Dir(name), "/")
	m := &methodMetrics{name: name, started: t.started.WithLabelValues(service, path.Base(name), by), seconds: t.seconds.WithLabelValues(service, path.Base(name), by)}
	for c := range m.codes {
		m.codes[c] = t.handled.WithLabelValues(service, path.Base(name), by, codes.Code(c).String())
	}
	first, _ := t.methods.LoadOrStore(key, m)
	return first.(*methodMetrics)
}

// Serve is told of a call that has come.
func (t *Telemetry) Serve(ctx context.Context, name, by string) (context.Context, func(error)) {
	m := t.metricsOf(name, by)
	m.started.Inc()
	ctx, span := t.traces.serve(ctx, m.name, by)
	e := t.calls.begin(ctx, m.name, by)
	return ctx, func(err error) {
		code := status.Code(err)
		m.seconds.Observe(t.calls.end(e, code).Seconds())
		m.codes[min(code, codes.Unauthenticated)].Inc()
		span.finish(err)
	}
}

// Call is told of a call that is about to be made.
func (t *Telemetry) Call(ctx context.Context, name string) (context.Context, func(error)) {
	ctx, span := t.traces.call(ctx, name)
	return ctx, span.finish
}

// Outgoing returns the names and values that traces go by.
func (t *Telemetry) Outgoing(ctx context.Context) []string { return t.traces.outgoing(ctx) }

// RequestID returns the number of the trace that a call belongs to, the same on all
// tasks.
func (t *Telemetry) RequestID(ctx context.Context) string { return requestID(traceOf(ctx)) }
