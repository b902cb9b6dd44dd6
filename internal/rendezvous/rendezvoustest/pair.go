package rendezvoustest

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Peer is a task that takes part: its steps, and its view of the cluster.
type Peer struct {
	Manager *rendezvous.Manager
	Session *rendezvous.Session
}

// A Pair is two tasks whose sessions have transports to each other.
type Pair struct{ A, B Peer }

// TaskA and TaskB are the names that pairs in tests give to their tasks.
const (
	TaskA = "/job:worker/replica:0/task:0"
	TaskB = "/job:worker/replica:0/task:1"
)

const cpu = "/device:CPU:0"

// A link is one step that both peers run.
type link struct {
	t        *testing.T
	pair     Pair
	a, b     *rendezvous.Remote
	from, to string // devices of A and B
}

func (p Pair) link(t *testing.T, step int64) *link {
	t.Helper()
	l := &link{t: t, pair: p, a: p.A.Manager.Find(step), b: p.B.Manager.Find(step)}
	l.from, l.to = p.A.Session.Task+cpu, p.B.Session.Task+cpu
	l.initialize(l.a, p.A.Session)
	l.initialize(l.b, p.B.Session)
	return l
}

func (l *link) initialize(r *rendezvous.Remote, s *rendezvous.Session) {
	l.t.Helper()
	if err := r.Initialize(s); err != nil {
		l.t.Fatalf("Initialize: %v", err)
	}
}

// key names an edge from A to B, back one from B to A.
func (l *link) key(edge string) string  { return keyOf(l.from, l.to, edge) }
func (l *link) back(edge string) string { return keyOf(l.to, l.from, edge) }

func keyOf(src, dst, edge string) string {
	return rendezvous.Key{Src: src, SrcIncarnation: 1, Dst: dst, Edge: edge}.String()
}

func (l *link) send(edge string, t *core.Tensor, dead bool) {
	l.t.Helper()
	if err := l.a.Send(l.key(edge), t, dead); err != nil {
		l.t.Fatalf("Send %s: %v", edge, err)
	}
}

// recv waits for the value of an edge.
func (l *link) recv(edge string) (*core.Tensor, bool) {
	l.t.Helper()
	g := <-l.ask(context.Background(), edge)
	if g.err != nil {
		l.t.Fatalf("Recv %s: %v", edge, g.err)
	}
	return g.t, g.dead
}

// recvError waits for the error of an edge.
func (l *link) recvError(edge string) error {
	l.t.Helper()
	g := <-l.ask(context.Background(), edge)
	if g.err == nil {
		l.t.Fatalf("Recv %s = %v, want an error", edge, g.t)
	}
	return g.err
}

// A got is what a receive gave.
type got struct {
	t    *core.Tensor
	dead bool
	err  error
}

// ask begins to receive an edge at B.
func (l *link) ask(ctx context.Context, edge string) <-chan got {
	return ask(ctx, l.b, l.key(edge))
}

// ask tells the outcome of a receive through a channel with room for more than
// one answer, so that a second one is seen rather than blocks.
func ask(ctx context.Context, r core.Rendezvous, key string) <-chan got {
	c := make(chan got, 2)
	r.Recv(ctx, key, func(t *core.Tensor, dead bool, err error) { c <- got{t, dead, err} })
	return c
}
