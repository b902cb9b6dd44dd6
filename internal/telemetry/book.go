package telemetry

import (
	"cmp"
	"context"
	"net"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
)

// A Call is one that is under way, or was.
type Call struct {
	Method, By, From string
	RequestID        string
	Began            time.Time
	Took             time.Duration // until now, if it is under way
	Code             string        // "": it is under way
}

// An entry is a call as the log has it: what people read of it is written when they ask.
type entry struct {
	method, by string
	from       net.Addr // nil: not known
	trace      trace.TraceID
	began      time.Time
	number     uint64
}

// call returns what is said of the call of an entry.
func (e *entry) call() Call {
	c := Call{Method: e.method, By: e.by, RequestID: requestID(e.trace), Began: e.began, Took: time.Since(e.began)}
	if e.from != nil {
		c.From = e.from.String()
	}
	return c
}

// requestID is the number of a trace; "" if there is none.
func requestID(id trace.TraceID) string {
	if !id.IsValid() {
		return ""
	}
	return id.String()
}

// traceOf returns the number of the trace of a context.
func traceOf(ctx context.Context) trace.TraceID { return trace.SpanContextFromContext(ctx).TraceID() }

// A callLog holds the calls that are under way, and the last slow ones.
type callLog struct {
	slow time.Duration
	last atomic.Uint64
	part [16]page // by number, so that calls seldom meet

	mu   sync.Mutex
	past []Call // slow ones, the last ones of them
}

type page struct {
	mu    sync.Mutex
	calls map[uint64]*entry
}

// remembered is how many slow calls are.
const remembered = 50

func newCallLog(slow time.Duration) *callLog {
	b := &callLog{slow: cmp.Or(slow, time.Second)}
	for i := range b.part {
		b.part[i].calls = map[uint64]*entry{}
	}
	return b
}

func (b *callLog) begin(ctx context.Context, method, by string) *entry {
	e := &entry{method: method, by: by, began: time.Now(), trace: traceOf(ctx), number: b.last.Add(1)}
	if p, ok := peer.FromContext(ctx); ok {
		e.from = p.Addr
	}
	p := b.pageOf(e)
	p.mu.Lock()
	p.calls[e.number] = e
	p.mu.Unlock()
	return e
}

func (b *callLog) pageOf(e *entry) *page { return &b.part[e.number%uint64(len(b.part))] }

// end takes a call out, and returns how long it took.
func (b *callLog) end(e *entry, code codes.Code) time.Duration {
	p := b.pageOf(e)
	p.mu.Lock()
	delete(p.calls, e.number)
	p.mu.Unlock()
	took := time.Since(e.began)
	if took < b.slow {
		return took
	}
	done := e.call()
	done.Took, done.Code = took, code.String()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.past) == remembered {
		b.past = slices.Delete(b.past, 0, 1)
	}
	b.past = append(b.past, done)
	return took
}

func (b *callLog) underWay() (n int) {
	for i := range b.part {
		p := &b.part[i]
		p.mu.Lock()
		n += len(p.calls)
		p.mu.Unlock()
	}
	return n
}

// UnderWay returns calls that have come and are not answered, the oldest first, up to
// limit.
func (t *Telemetry) UnderWay(limit int) (out []Call) {
	for i := range t.calls.part {
		p := &t.calls.part[i]
		p.mu.Lock()
		for _, e := range p.calls {
			out = append(out, e.call())
		}
		p.mu.Unlock()
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Began.Before(out[j].Began) })
	return out[:min(len(out), limit)]
}

// Slow returns the last calls that took long, the last one first.
func (t *Telemetry) Slow() []Call {
	t.calls.mu.Lock()
	defer t.calls.mu.Unlock()
	out := slices.Clone(t.calls.past)
	slices.Reverse(out)
	return out
}
