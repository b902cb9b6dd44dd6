package eagerservice

import (
	"context"
	"testing"
	"time"
)

// TestDrain: a worker that stops does not wait for contexts without work, which clients
// that are gone leave behind, but for operations that are under way.
func TestDrain(t *testing.T) {
	s := newService(t)
	w := s.env.Worker
	c := newClient(t, s, 7)
	c.wantFloats(c.send(floats(1, 2)), 1, 2)
	if n := w.Status().Steps; n != 0 {
		t.Errorf("%d steps are under way beside an idle context", n)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if !w.Drain(ctx) {
		t.Error("a worker waits for an idle context")
	}

	asked, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := c.enqueue(item(c.operation("TestWait", nil)))
		ended <- err
	}()
	<-started
	stop()
	if w.Drain(asked) {
		t.Error("a worker does not wait for an operation")
	}
	s.Close()
	if err := <-ended; err == nil {
		t.Error("an operation that waits has succeeded")
	}
	if !w.Drain(ctx) {
		t.Error("a worker waits for an operation that has ended")
	}
}
