package telemetry

import (
	"context"
	"net"
	"testing"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
)

// BenchmarkHop is what one call costs its caller and its callee, of a trace that is
// not recorded.
func BenchmarkHop(b *testing.B) {
	o, err := New(b.Context(), Options{Traces: TraceOptions{Sample: 0.0001}})
	if err != nil {
		b.Fatal(err)
	}
	defer o.Close(context.Background())
	addr := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 2222}
	from := peer.NewContext(b.Context(), &peer.Peer{Addr: addr})
	root, _ := o.Serve(from, runStep, "grpc")
	b.ReportAllocs()
	for b.Loop() {
		ctx, end := o.Call(root, runGraph)
		_, done := o.Serve(metadata.NewIncomingContext(from, metadata.Pairs(o.Outgoing(ctx)...)), runGraph, "link")
		done(nil)
		end(nil)
	}
}
