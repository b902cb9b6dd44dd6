package telemetry

import (
	"context"
	"encoding/hex"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"
)

// The header by which a trace goes on in another process, and its form in version 00:
// "00-<trace>-<span>-<flags>", numbers in lower-case hexadecimal (W3C Trace Context).
const (
	parentKey = "traceparent"
	stateKey  = "tracestate"
	spanAt    = len("00-") + 32 + len("-")
	flagsAt   = spanAt + 16 + len("-")
	parentLen = flagsAt + 2
)

// unrecorded returns the trace that a call came with, if it is one that is not recorded
// and of which there is nothing else to say. Whatever is unusual is left to the
// propagator: it returns false.
func unrecorded(ctx context.Context) (trace.SpanContext, bool) {
	of := metadata.ValueFromIncomingContext(ctx, parentKey)
	if len(of) != 1 || len(metadata.ValueFromIncomingContext(ctx, stateKey)) > 0 {
		return trace.SpanContext{}, false
	}
	return parseUnrecorded(of[0])
}

// parseUnrecorded reads a header of version 00 whose flags are zero.
func parseUnrecorded(h string) (trace.SpanContext, bool) {
	if len(h) != parentLen || h[:3] != "00-" || h[spanAt-1] != '-' || h[flagsAt-1:] != "-00" {
		return trace.SpanContext{}, false
	}
	c := trace.SpanContextConfig{Remote: true}
	if !parseHex(c.TraceID[:], h[3:]) || !parseHex(c.SpanID[:], h[spanAt:]) {
		return trace.SpanContext{}, false
	}
	sc := trace.NewSpanContext(c)
	return sc, sc.IsValid()
}

// parseHex reads as many bytes as to has from digits in lower case.
func parseHex(to []byte, s string) bool {
	for i := range to {
		hi, lo := digit(s[2*i]), digit(s[2*i+1])
		if hi|lo > 15 {
			return false
		}
		to[i] = hi<<4 | lo
	}
	return true
}

// digit returns the value of a digit in lower case, 255 for what is none.
func digit(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	}
	return 255
}

// header is what goes with a call of a trace that is not recorded.
func header(sc trace.SpanContext) string {
	var b [parentLen]byte
	tid, sid := sc.TraceID(), sc.SpanID()
	copy(b[:], "00-")
	hex.Encode(b[3:], tid[:])
	b[spanAt-1] = '-'
	hex.Encode(b[spanAt:], sid[:])
	copy(b[flagsAt-1:], "-00")
	return string(b[:])
}
