package link

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestLateReadersGetReplies: a server that stops ends a link only when the replies
// that it has given to the connection are out, however late they are read.
func TestLateReadersGetReplies(t *testing.T) {
	s := newTester()
	close(s.release)
	srv := newServer(s)
	a, b := pair(t)
	var serving, stopping sync.WaitGroup
	serving.Go(func() { srv.Serve(b, nil, nil) })
	if err := errors.Join(writePreface(a), readPreface(a)); err != nil {
		t.Fatal(err)
	}
	body := bytes.Repeat([]byte("what is asked for "), 2<<20) // more than the system keeps
	head := callHead("/t/Later", 0)
	call := append(header{kindCall, 1, len(head), len(body)}.append(nil), head...)
	if _, err := a.Write(append(call, body...)); err != nil {
		t.Fatal(err)
	}
	<-s.entered
	r := bufio.NewReader(a)
	if _, err := r.Peek(1); err != nil { // the reply has begun
		t.Fatal(err)
	}
	stopping.Go(func() { srv.Stop(time.Minute) })
	for !parts(srv) {
		time.Sleep(time.Millisecond)
	}
	h, _, err := readHead(r)
	if err != nil || h.kind != kindReply || h.body != len(body) {
		t.Fatalf("%+v, %v; want a reply of %d bytes", h, err, len(body))
	}
	got := make([]byte, h.body)
	if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, body) {
		t.Errorf("the reply is not what was asked for, %v", err)
	}
	io.Copy(io.Discard, r) // goodbyes
	a.Close()
	stopping.Wait()
	serving.Wait()
}

// parts reports whether a server's links end as soon as they can.
func parts(s *Server) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.links {
		c.mu.Lock()
		leaving := c.leaving && c.active == 0
		c.mu.Unlock()
		if !leaving {
			return false
		}
	}
	return true
}

// A counting context knows how many others hang on it.
type counting struct {
	context.Context
	hanging atomic.Int32
}

func (c *counting) Done() <-chan struct{} { return make(chan struct{}) }

func (c *counting) AfterFunc(func()) func() bool {
	c.hanging.Add(1)
	return func() bool { c.hanging.Add(-1); return true }
}

// TestCallsLeaveNothing: what a call has hung on its link is gone with it.
func TestCallsLeaveNothing(t *testing.T) {
	c := &counting{Context: context.Background()}
	for _, limit := range []time.Duration{0, time.Hour} {
		_, cancel := bounded(c, limit)
		if n := c.hanging.Load(); n != 1 {
			t.Errorf("a call with a limit of %v hangs on its link %d times", limit, n)
		}
		cancel()
		if n := c.hanging.Load(); n != 0 {
			t.Errorf("%d contexts are left of a call with a limit of %v", n, limit)
		}
	}
}
