package telemetry

import (
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"
)

// FuzzUnrecorded: a header that is read the short way says what OpenTelemetry's own
// propagator reads in it, and is written again as it came.
func FuzzUnrecorded(f *testing.F) {
	f.Add("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")
	f.Add("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	f.Add("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-00")
	f.Add("00-00000000000000000000000000000000-b7ad6b7169203331-00")
	f.Add("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-00")
	f.Add("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")
	f.Add("00-0af7651916cd43dd8448eb211c80319cab7ad6b7169203331-00")
	f.Fuzz(func(t *testing.T, h string) {
		sc, ok := parseUnrecorded(h)
		if !ok {
			return
		}
		ctx := propagation.TraceContext{}.Extract(t.Context(), propagation.MapCarrier{parentKey: h})
		if want := trace.SpanContextFromContext(ctx); !sc.Equal(want) || sc.IsSampled() {
			t.Errorf("%q is read as %v, the propagator reads %v", h, sc, want)
		}
		if got := header(sc); got != h {
			t.Errorf("%q is written as %q", h, got)
		}
	})
}

// TestUnrecordedIsShort: what Gorge's own tasks send for a trace that is not recorded is
// read the short way; what says more is not.
func TestUnrecordedIsShort(t *testing.T) {
	var id [24]byte
	for range 100 {
		for i := range id {
			id[i] = byte(rand.Uint32())
		}
		h := "00-" + hex.EncodeToString(id[:16]) + "-" + hex.EncodeToString(id[16:]) + "-00"
		if _, ok := parseUnrecorded(h); !ok {
			t.Errorf("%q is not read", h)
		}
		more := metadata.NewIncomingContext(t.Context(), metadata.Pairs(parentKey, h, stateKey, "a=b"))
		if _, ok := unrecorded(more); ok {
			t.Error("the state of a trace is lost")
		}
	}
}
