package rendezvoustest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
)

// checkDestination wants plain tensors in the memory that the receiver gave.
func checkDestination(t *testing.T, p Pair) {
	var mu sync.Mutex
	given := map[*memory.Buffer]bool{}
	p.B.Session.Alloc = func(d core.DType, s core.Shape) (*memory.Buffer, error) {
		b, err := rendezvous.Allocate(d, s)
		mu.Lock()
		defer mu.Unlock()
		given[b] = true
		return b, err
	}
	l := p.link(t, 1)
	for _, s := range []core.Shape{{}, {3}, {1000}, {500, 600}} {
		l.send("e", random(core.Float32, s, 1), false)
		got, _ := l.recv("e")
		mu.Lock()
		ok := given[got.Buffer()]
		mu.Unlock()
		if !ok {
			t.Errorf("float32%v arrives in memory that the receiver did not allocate", s)
		}
	}
}

func checkNoMemory(t *testing.T, p Pair) {
	p.B.Session.Alloc = func(d core.DType, s core.Shape) (*memory.Buffer, error) {
		return nil, core.Errorf(core.ResourceExhausted, "no room for %v%v", d, s)
	}
	l := p.link(t, 1)
	l.send("e", random(core.Float32, core.Shape{4}, 1), false)
	err := l.recvError("e")
	if core.CodeOf(err) != core.ResourceExhausted || !strings.Contains(err.Error(), "no room for float32[4]") {
		t.Errorf("receive without memory: %v, want the allocator's error", err)
	}
}

// checkSourceReleased wants the sender's memory back once it has been sent.
func checkSourceReleased(t *testing.T, p Pair) {
	l := p.link(t, 1)
	for _, n := range []int{1, 100, 1 << 20} {
		free := make(chan struct{})
		v := core.TensorOf(core.Uint8, core.Shape{n}, memory.Adopt(make([]byte, n), func() { close(free) }))
		l.send("e", v, false)
		v.Release()
		l.recv("e")
		<-free
	}
}

func checkCancel(t *testing.T, p Pair) {
	l := p.link(t, 1)
	ctx, cancel := context.WithCancel(context.Background())
	c := l.ask(ctx, "e")
	l.exchange("other", scalar(1))
	cancel()
	g := <-c
	if core.CodeOf(g.err) != core.Canceled || !core.AsError(g.err).Derived {
		t.Errorf("cancelled receive: %v, want CANCELLED, derived", g.err)
	}
	l.exchange("another", scalar(2))
}

func checkCancelledBefore(t *testing.T, p Pair) {
	l := p.link(t, 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if g := <-l.ask(ctx, "e"); core.CodeOf(g.err) != core.Canceled {
		t.Errorf("receive with an ended context: %v, want CANCELLED", g.err)
	}
}

func checkAbortReceiver(t *testing.T, p Pair) {
	l := p.link(t, 1)
	c := l.ask(context.Background(), "e")
	l.exchange("other", scalar(1))
	l.b.Abort(core.Errorf(core.Aborted, "Step 1 cancelled.  Cancelling rendezvous."))
	g := <-c
	if core.CodeOf(g.err) != core.Aborted || !strings.Contains(g.err.Error(), "Cancelling rendezvous.") {
		t.Errorf("receive of an aborted step: %v, want its error", g.err)
	}
	if err := l.recvError("later"); core.CodeOf(err) != core.Aborted {
		t.Errorf("receive after the abort: %v, want ABORTED", err)
	}
}

// checkAbortSender wants the sender's reason to reach the receiver.
func checkAbortSender(t *testing.T, p Pair) {
	l := p.link(t, 1)
	c := l.ask(context.Background(), "e")
	l.exchange("other", scalar(1))
	l.a.Abort(core.Errorf(core.DataLoss, "the input file has a hole"))
	g := <-c
	if core.CodeOf(g.err) != core.DataLoss || !strings.Contains(g.err.Error(), "the input file has a hole") {
		t.Errorf("receive from an aborted step: %v, want its error", g.err)
	}
}

func checkAbortedBefore(t *testing.T, p Pair) {
	l := p.link(t, 1)
	l.send("e", scalar(1), false)
	l.a.Abort(core.Errorf(core.Aborted, "over"))
	err := l.recvError("e")
	if core.CodeOf(err) != core.Aborted {
		t.Errorf("receive from a step aborted before: %v, want ABORTED", err)
	}
	if e := core.AsError(err); !e.Derived {
		t.Errorf("%v does not say that it is derived", err)
	}
}

func checkCleanup(t *testing.T, p Pair) {
	l := p.link(t, 1)
	c := l.ask(context.Background(), "e")
	l.exchange("other", scalar(1))
	if g := l.cleanupUntil(c); core.CodeOf(g.err) != core.Aborted {
		t.Errorf("receive from a step that is cleaned up: %v, want ABORTED", g.err)
	}
	p.B.Manager.Cleanup(1)
	if n := p.A.Manager.Len() + p.B.Manager.Len(); n != 0 {
		t.Errorf("%d steps are left after Cleanup", n)
	}
	p.link(t, 2).exchange("e", scalar(2))
}

// cleanupUntil cleans up A's step until c answers: a request that is still on
// its way when the step goes begins the step again, and waits there.
func (l *link) cleanupUntil(c <-chan got) got {
	for {
		l.pair.A.Manager.Cleanup(1)
		select {
		case g := <-c:
			return g
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func checkUnknownTask(t *testing.T, p Pair) {
	l := p.link(t, 1)
	g := <-ask(context.Background(), l.b, keyOf("/job:nowhere/replica:0/task:7"+cpu, l.to, "e"))
	if g.err == nil {
		t.Errorf("receive from a task that does not exist = %v, want an error", g.t)
	}
}

// checkForeignKey asks A for what only B could send.
func checkForeignKey(t *testing.T, p Pair) {
	l := p.link(t, 1)
	c := make(chan rendezvous.Result, 2)
	p.B.Session.Transport.Recv(context.Background(), p.A.Session.Task, 1, l.back("e"), rendezvous.Allocate, func(r rendezvous.Result) { c <- r })
	r := <-c
	if !errors.Is(r.Err, &core.Error{Code: core.InvalidArgument}) {
		t.Errorf("asking a task for another one's value: %v, want INVALID_ARGUMENT", r.Err)
	}
}
