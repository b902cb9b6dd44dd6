package chaos

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
)

// silence is how long it takes until a peer that says nothing is given up, as
// between Gorge's processes.
const silence = 15 * time.Second

// A Network carries calls between tasks, and between clients and tasks. A call fails
// as it would over connections: with Unavailable, at once if the peer is not there,
// and after a while if it, or its answer, is lost.
type Network struct {
	plan *Plan

	mu    sync.Mutex
	lives []*life          // of tasks; nil: the task is dead
	cut   map[way]int      // how many faults part a way
	calls map[string]int64 // made so far, by what they are
	sound bool             // no message is lost any more
}

// way is what goes from one end to another; -1 is a client, which is with all tasks.
type way struct{ from, to int }

// A life is a task between its start and its death.
type life struct {
	ctx context.Context // ends with it
	end context.CancelCauseFunc
	*task
}

func newNetwork(p *Plan) *Network {
	return &Network{plan: p, lives: make([]*life, p.Tasks), cut: map[way]int{}, calls: map[string]int64{}}
}

// unavailable is what comes of a call that did not get through.
func unavailable(why string) error { return core.Errorf(core.Unavailable, "the network: %s", why) }

// fate is what becomes of a message.
type fate struct {
	delay time.Duration
	lost  bool
}

// outcomes returns what becomes of a call's request and answer. It follows from the
// plan's seed and from how many calls of the kind there were.
func (n *Network) outcomes(w way, what string) (there, back fate) {
	n.mu.Lock()
	n.calls[what]++
	number, drop := n.calls[what], n.plan.Drop
	if n.sound {
		drop = 0
	}
	n.mu.Unlock()
	h := uint64(number)
	for _, c := range what {
		h = h*1099511628211 ^ uint64(c)
	}
	r := rand.New(rand.NewPCG(n.plan.Seed^uint64(w.from+1)<<32^uint64(w.to+1), h))
	one := func() fate {
		f := fate{lost: r.Float64() < drop}
		if n.plan.Delay > 0 {
			f.delay = time.Duration(r.Int64N(int64(n.plan.Delay)))
		}
		return f
	}
	return one(), one()
}

// open reports whether messages get through, and the life that would get them.
func (n *Network) open(w way) (*life, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.lives[w.to]
	return l, n.cut[w] == 0 && (w.from < 0 || n.lives[w.from] != nil)
}

// heal ends the loss of messages.
func (n *Network) heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sound = true
}

// part changes whether a way is cut.
func (n *Network) part(w way, by int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[w] += by
}

// call carries a call: f runs at the life that was there when the call was sent, or
// not at all.
func call[T any](ctx context.Context, n *Network, w way, what string, f func(context.Context, *life) (T, error)) (out T, err error) {
	there, back := n.outcomes(w, what)
	l, open := n.open(w)
	if l == nil {
		return out, unavailable("connection refused")
	}
	if err := n.travel(ctx, l, w, there, open); err != nil {
		return out, err
	}
	handler, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	out, err = f(handler, l)
	if l.ctx.Err() != nil {
		return *new(T), unavailable("the connection was lost")
	}
	_, open = n.open(way{w.to, max(w.from, 0)})
	if w.from < 0 {
		open = true
	}
	if err := n.travel(ctx, l, w, back, open); err != nil {
		return *new(T), err
	}
	return out, err
}

// travel waits as long as a message does.
func (n *Network) travel(ctx context.Context, l *life, w way, f fate, open bool) error {
	d := f.delay
	if f.lost || !open {
		d = silence
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return core.AsError(ctx.Err())
	case <-l.ctx.Done():
		return unavailable("the connection was lost")
	case <-t.C:
	}
	if f.lost || !open {
		return unavailable("the peer does not answer")
	}
	return nil
}
