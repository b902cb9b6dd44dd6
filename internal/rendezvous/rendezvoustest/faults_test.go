package rendezvoustest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/rendezvous/rendezvoustest"
	"github.com/gorge-tf/gorge/tf/core"
)

type outcome struct {
	v   any
	err error
}

// run begins a step in both tasks of a pair and returns a function that sends
// a number from A, and one that receives it at B.
func run(t *testing.T, p rendezvoustest.Pair) (b *rendezvous.Remote, send func(edge string, v int64), recv func(context.Context, string) chan outcome) {
	t.Helper()
	a, b := p.A.Manager.Find(1), p.B.Manager.Find(1)
	if err := errors.Join(a.Initialize(p.A.Session), b.Initialize(p.B.Session)); err != nil {
		t.Fatal(err)
	}
	key := func(edge string) string {
		return rendezvous.Key{Src: p.A.Session.Task + "/device:CPU:0", Dst: p.B.Session.Task + "/device:CPU:0", Edge: edge}.String()
	}
	send = func(edge string, v int64) {
		if err := a.Send(key(edge), core.Scalar(v), false); err != nil {
			t.Error(err)
		}
	}
	recv = func(ctx context.Context, edge string) chan outcome {
		c := make(chan outcome, 2)
		b.Recv(ctx, key(edge), func(v *core.Tensor, _ bool, err error) {
			if err != nil {
				c <- outcome{nil, err}
				return
			}
			c <- outcome{v.At(0), nil}
		})
		return c
	}
	return b, send, recv
}

func onEdge(name string) func(string) bool {
	return func(key string) bool { return strings.Contains(key, ";"+name+";") }
}

// TestDrop: a lost tensor does not hold up others, and ends with the step.
func TestDrop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, send, recv := run(t, loopPair(func(t rendezvous.Transport) rendezvous.Transport {
			return rendezvoustest.Drop(t, onEdge("lost"))
		}))
		lost, kept := recv(t.Context(), "lost"), recv(t.Context(), "kept")
		send("lost", 1)
		send("kept", 2)
		if o := <-kept; o.v != int64(2) {
			t.Errorf("kept edge = %+v", o)
		}
		synctest.Wait()
		if len(lost) != 0 {
			t.Errorf("lost edge is answered: %+v", <-lost)
		}
		b.Abort(core.Errorf(core.DeadlineExceeded, "step timed out"))
		if o := <-lost; core.CodeOf(o.err) != core.DeadlineExceeded {
			t.Errorf("lost edge after the abort: %+v", o)
		}
	})
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, send, recv := run(t, loopPair(func(t rendezvous.Transport) rendezvous.Transport {
			return rendezvoustest.Delay(t, time.Minute)
		}))
		send("e", 1)
		ctx, cancel := context.WithCancel(t.Context())
		c, gone := recv(t.Context(), "e"), recv(ctx, "f")
		cancel()
		if o := <-gone; core.CodeOf(o.err) != core.Canceled {
			t.Errorf("cancelled while delayed: %+v", o)
		}
		start := time.Now()
		if o := <-c; o.v != int64(1) || time.Since(start) != time.Minute {
			t.Errorf("delayed edge = %+v after %v", o, time.Since(start))
		}
	})
}

// TestReorder: keys, not the order of requests, say which value is whose.
func TestReorder(t *testing.T) {
	const n = 5
	_, send, recv := run(t, loopPair(func(t rendezvous.Transport) rendezvous.Transport {
		return rendezvoustest.Reorder(t, n)
	}))
	var asked []chan outcome
	for i := range int64(n) {
		send(fmt.Sprint("e", i), i)
		asked = append(asked, recv(context.Background(), fmt.Sprint("e", i)))
	}
	for i, c := range asked {
		if o := <-c; o.v != int64(i) {
			t.Errorf("edge %d = %+v", i, o)
		}
	}
}

func TestFail(t *testing.T) {
	lost := core.Errorf(core.Unavailable, "Socket closed")
	_, send, recv := run(t, loopPair(func(t rendezvous.Transport) rendezvous.Transport {
		return rendezvoustest.Fail(t, onEdge("broken"), lost)
	}))
	send("broken", 1)
	send("whole", 2)
	if o := <-recv(context.Background(), "broken"); o.err != lost {
		t.Errorf("broken edge = %+v, want the transport's error", o)
	}
	if o := <-recv(context.Background(), "whole"); o.v != int64(2) {
		t.Errorf("whole edge = %+v", o)
	}
}
