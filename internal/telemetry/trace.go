package telemetry

import (
	"cmp"
	"context"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/gorge-tf/gorge/tf/core"
)

// TraceOptions say which calls are traced, and where traces go.
type TraceOptions struct {
	Service string // what the process is called, "/job:worker/replica:0/task:0" say
	// Sample is the part of the traces that begin here which is recorded, in 0 to 1.
	// Of traces that begin elsewhere those are recorded that are there.
	Sample float64
	// Endpoint is the "host:port" of an OpenTelemetry collector that is spoken to by
	// gRPC, in plain text if Insecure; "": traces go nowhere.
	Endpoint string
	Insecure bool
	Exporter sdk.SpanExporter // instead of an endpoint, for tests
}

// traces makes spans of calls. All calls have trace numbers, by which logs are
// found; only those that are sampled cost more.
type traces struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	how      propagation.TraceContext
	sending  *ending // to a collector; nil: traces go nowhere or to a test
}

func newTraces(ctx context.Context, o TraceOptions) (*traces, error) {
	if !(0 <= o.Sample && o.Sample <= 1) { // which NaN is not, either
		return nil, core.Errorf(core.InvalidArgument, "the part of traces that is recorded must be in 0 to 1, got %v", o.Sample)
	}
	var sending *ending
	opts := []sdk.TracerProviderOption{
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(o.Sample))),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "gorge"), attribute.String("service.instance.id", o.Service))),
	}
	switch {
	case o.Exporter != nil:
		opts = append(opts, sdk.WithSyncer(o.Exporter))
	case o.Endpoint != "":
		where := []otlptracegrpc.Option{otlptracegrpc.WithEndpoint(o.Endpoint)}
		if o.Insecure {
			where = append(where, otlptracegrpc.WithInsecure())
		}
		e, err := otlptracegrpc.New(ctx, where...)
		if err != nil {
			return nil, core.Errorf(core.InvalidArgument, "traces cannot be sent to %s: %v", o.Endpoint, err)
		}
		sending = newEnding(e)
		opts = append(opts, sdk.WithBatcher(sending))
	}
	t := &traces{provider: sdk.NewTracerProvider(opts...), sending: sending}
	t.tracer = t.provider.Tracer("github.com/gorge-tf/gorge")
	return t, nil
}

// close sends what waits to be sent, until ctx ends. It returns when all goroutines have
// ended: the SDK's own Shutdown leaves them to wait for a collector that is not there.
func (t *traces) close(ctx context.Context) error {
	if t.sending != nil {
		defer context.AfterFunc(ctx, t.sending.giveUp)()
	}
	err := t.provider.Shutdown(context.WithoutCancel(ctx))
	return cmp.Or(ctx.Err(), err)
}

// ending is an exporter that can be told to give up.
type ending struct {
	sdk.SpanExporter
	life   context.Context
	giveUp context.CancelFunc
}

func newEnding(e sdk.SpanExporter) *ending {
	life, giveUp := context.WithCancel(context.Background())
	return &ending{e, life, giveUp}
}

// ExportSpans sends spans, until ctx or the exporter's life ends.
func (e *ending) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.life, cancel)()
	return e.SpanExporter.ExportSpans(ctx, spans)
}

// Shutdown ends the exporter's life and its connections.
func (e *ending) Shutdown(ctx context.Context) error {
	e.giveUp()
	return e.SpanExporter.Shutdown(ctx)
}

// A span is one of a call.
type span struct{ trace.Span }

// finish ends the span with the call.
func (s span) finish(err error) {
	if s.Span == nil {
		return
	}
	if err != nil && s.IsRecording() {
		s.SetStatus(codes.Error, err.Error())
		s.SetAttributes(attribute.String("rpc.grpc.status_code", status.Code(err).String()))
	}
	s.End()
}

// serve begins the span of a call that has come, within that of its caller. The calls of
// a trace that is not recorded have no spans: its number goes on, and nothing is made
// for it, since a step makes several calls and nearly all traces are of this kind.
func (t *traces) serve(ctx context.Context, method, by string) (context.Context, span) {
	if sc, ok := unrecorded(ctx); ok {
		return trace.ContextWithRemoteSpanContext(ctx, sc), span{}
	}
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = t.how.Extract(ctx, carrier(md))
	}
	ctx, s := t.tracer.Start(ctx, strings.TrimPrefix(method, "/"), trace.WithSpanKind(trace.SpanKindServer))
	if s.IsRecording() {
		system := "grpc"
		if by == "http" {
			system = "http"
		}
		s.SetAttributes(attribute.String("rpc.system", system), attribute.String("gorge.transport", by))
	}
	return ctx, span{s}
}

// call begins the span of a call to another task.
func (t *traces) call(ctx context.Context, method string) (context.Context, span) {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() && !sc.IsSampled() {
		return ctx, span{}
	}
	ctx, s := t.tracer.Start(ctx, strings.TrimPrefix(method, "/"), trace.WithSpanKind(trace.SpanKindClient))
	return ctx, span{s}
}

func (t *traces) outgoing(ctx context.Context) (out []string) {
	sc := trace.SpanContextFromContext(ctx)
	if sc.IsValid() && !sc.IsSampled() && sc.TraceState().Len() == 0 {
		return []string{parentKey, header(sc)}
	}
	to := propagation.MapCarrier{}
	t.how.Inject(ctx, to)
	for k, v := range to {
		out = append(out, k, v)
	}
	return out
}

// A carrier is metadata as propagators see it.
type carrier metadata.MD

// Get returns the first value of a key.
func (c carrier) Get(key string) string {
	if v := metadata.MD(c).Get(key); len(v) > 0 {
		return v[0]
	}
	return ""
}

// Set sets the value of a key.
func (c carrier) Set(key, value string) { metadata.MD(c).Set(key, value) }

// Keys returns all keys.
func (c carrier) Keys() (out []string) {
	for k := range c {
		out = append(out, k)
	}
	return out
}
