package telemetry

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

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
	number           uint64
}

// A book knows the calls that are under way, and the last slow ones.
type book struct {
	slow time.Duration
	last atomic.Uint64
	part [16]page // by number, so that calls seldom meet

	mu   sync.Mutex
	past []Call // slow ones, the last ones of them
}

type page struct {
	mu    sync.Mutex
	calls map[uint64]*Call
}

// remembered is how many slow calls are.
const remembered = 50

func newBook(slow time.Duration) *book {
	b := &book{slow: cmp.Or(slow, time.Second)}
	for i := range b.part {
		b.part[i].calls = map[uint64]*Call{}
	}
	return b
}

func (b *book) begin(ctx context.Context, method, by string) *Call {
	c := &Call{Method: method, By: by, Began: time.Now(), RequestID: traceID(ctx), number: b.last.Add(1)}
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil {
		c.From = p.Addr.String()
	}
	p := b.pageOf(c)
	p.mu.Lock()
	p.calls[c.number] = c
	p.mu.Unlock()
	return c
}

func (b *book) pageOf(c *Call) *page { return &b.part[c.number%uint64(len(b.part))] }

// end takes a call out, and returns how long it took.
func (b *book) end(c *Call, code codes.Code) time.Duration {
	p := b.pageOf(c)
	p.mu.Lock()
	delete(p.calls, c.number)
	p.mu.Unlock()
	took := time.Since(c.Began)
	if took < b.slow {
		return took
	}
	done := *c
	done.Took, done.Code = took, code.String()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.past) == remembered {
		b.past = slices.Delete(b.past, 0, 1)
	}
	b.past = append(b.past, done)
	return took
}

func (b *book) underWay() (n int) {
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
		for _, c := range p.calls {
			now := *c
			now.Took = time.Since(c.Began)
			out = append(out, now)
		}
		p.mu.Unlock()
	}
	slices.SortFunc(out, func(a, b Call) int { return a.Began.Compare(b.Began) })
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
