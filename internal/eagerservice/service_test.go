package eagerservice

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func TestContextsComeAndGo(t *testing.T) {
	s := newService(t)
	c := newClient(t, s, 7)
	again := c.creation()
	again.ContextViewId = 0
	_, err := s.CreateContext(t.Context(), again)
	wantError(t, err, core.InvalidArgument, "EagerService:CreateContext failed. Context id: <7> already exists.")

	kept := c.send(floats(1, 2))
	if _, err := s.CloseContext(t.Context(), &pb.CloseContextRequest{ContextId: 7, ContextViewId: 0}); err != nil {
		t.Fatal(err)
	}
	c.wantFloats(kept, 1, 2) // an older view closes nothing
	if _, err := s.CreateContext(t.Context(), c.creation()); err != nil {
		t.Fatal(err) // of the same view: the client begins again
	}
	c.fails(core.InvalidArgument, "Unable to find the relevant tensor remote_handle: Op ID: 1, Output num: 0.", "Identity", core.Attrs{"T": core.Float32}, kept)
	for range 2 {
		if _, err := s.CloseContext(t.Context(), &pb.CloseContextRequest{ContextId: 7, ContextViewId: 1}); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		failure(c.enqueue()),
		failure(s.KeepAlive(t.Context(), &pb.KeepAliveRequest{ContextId: 7})),
		failure(s.UpdateContext(t.Context(), &pb.UpdateContextRequest{ContextId: 7})),
		failure(s.WaitQueueDone(t.Context(), &pb.WaitQueueDoneRequest{ContextId: 7})),
		failure(s.RunComponentFunction(t.Context(), &pb.RunComponentFunctionRequest{ContextId: 7})),
	} {
		wantError(t, err, core.Aborted, "Unable to find a context_id matching the specified one (7). Perhaps the worker was restarted, or the context was GC'd?")
	}
}

func failure[T any](_ T, err error) error { return err }

func TestViews(t *testing.T) {
	s := newService(t)
	newClient(t, s, 7)
	update := func(view uint64) error {
		_, err := s.UpdateContext(t.Context(), &pb.UpdateContextRequest{ContextId: 7, ContextViewId: view})
		return err
	}
	wantError(t, update(3), core.InvalidArgument, "EagerService:UpdateContext failed. Context id: <7> currently at view #1 but received update request at view #3. View id should only be continuously incremented.")
	if err := update(2); err != nil {
		t.Fatal(err)
	}
	resp, err := s.KeepAlive(t.Context(), &pb.KeepAliveRequest{ContextId: 7})
	if err != nil || resp.GetContextViewId() != 2 {
		t.Errorf("after an update: %v, %v", resp, err)
	}
}

// from returns a context of calls that a client makes.
func from(t *testing.T, client string) context.Context {
	return context.WithValue(t.Context(), clientKey{}, client)
}

// TestClearsOnlyItsOwn: a client can ask to begin again, which ends its contexts,
// but neither other clients' contexts nor the sessions of masters, nor what they
// have put into the task.
func TestClearsOnlyItsOwn(t *testing.T) {
	s := newService(t)
	master, err := s.env.Worker.OpenSession(&pb.CreateWorkerSessionRequest{SessionHandle: "a master's"})
	if err != nil {
		t.Fatal(err)
	}
	for id, owner := range map[uint64]string{7: "one", 8: "one", 9: "another"} {
		if _, err := s.CreateContext(from(t, owner), creation(id)); err != nil {
			t.Fatal(err)
		}
	}
	others := &client{t: t, s: s, id: 9}
	h := others.do("VarHandleOp", core.Attrs{"dtype": core.Float32, "shape": core.Shape{1}, "shared_name": "v"})
	others.do("AssignVariableOp", core.Attrs{"dtype": core.Float32}, h, floats(1))
	req := creation(10)
	req.ClearExistingContexts = true
	if _, err := s.CreateContext(from(t, "one"), req); err != nil {
		t.Fatal(err)
	}
	for _, id := range []uint64{7, 8} {
		wantError(t, failure((&client{t: t, s: s, id: id}).enqueue()), core.Aborted, "Unable to find a context_id")
	}
	others.wantFloats(others.do("ReadVariableOp", core.Attrs{"dtype": core.Float32}, h), 1)
	if master.Context().Err() != nil {
		t.Errorf("a master's session has ended: %v", context.Cause(master.Context()))
	}
}

// TestForgottenContexts: a context whose client is gone ends, with all that is
// under way in it.
func TestForgottenContexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t)
		c := &client{t: t, s: s, id: 7}
		req := c.creation()
		req.KeepAliveSecs = 10
		if _, err := s.CreateContext(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		failed := make(chan error)
		go func() {
			_, err := c.enqueue(item(c.operation("TestWait", nil)))
			failed <- err
		}()
		<-started
		for range 5 {
			time.Sleep(9 * time.Second)
			if _, err := s.KeepAlive(t.Context(), &pb.KeepAliveRequest{ContextId: 7}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(11 * time.Second)
		wantError(t, <-failed, core.Aborted, "the context 7 has not been used for 10s")
		_, err := s.KeepAlive(t.Context(), &pb.KeepAliveRequest{ContextId: 7})
		wantError(t, err, core.Aborted, "Unable to find a context_id")
	})
}

func TestWaitQueueDone(t *testing.T) {
	s := newService(t)
	newClient(t, s, 7)
	if _, err := s.WaitQueueDone(t.Context(), &pb.WaitQueueDoneRequest{ContextId: 7}); err != nil {
		t.Error(err)
	}
	_, err := s.WaitQueueDone(t.Context(), &pb.WaitQueueDoneRequest{ContextId: 7, OpId: []int64{1}})
	wantError(t, err, core.Unimplemented, "EagerServiceImpl::WaitQueueDone is not implemented for particular op IDs.")
}

// TestShutdown: what is under way hears why it ends, and what comes later.
func TestShutdown(t *testing.T) {
	s := newService(t)
	c := newClient(t, s, 7)
	failed := make(chan error)
	go func() {
		_, err := c.enqueue(item(c.operation("TestWait", nil)))
		failed <- err
	}()
	<-started
	s.Close()
	wantError(t, <-failed, core.Unavailable, "the server is shutting down")
	_, err := s.CreateContext(t.Context(), c.creation())
	wantError(t, err, core.Unavailable, "the server is shutting down")
	wantError(t, failure(c.enqueue()), core.Unavailable, "the server is shutting down")
}

func TestCancelledCall(t *testing.T) {
	s := newService(t)
	c := newClient(t, s, 7)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() {
		_, err := s.Enqueue(ctx, &pb.EnqueueRequest{ContextId: 7, Queue: []*pb.QueueItem{item(c.operation("TestWait", nil))}})
		failed <- err
	}()
	<-started
	cancel()
	wantError(t, <-failed, core.Canceled, "")
	c.wantFloats(c.send(floats(1)), 1) // the context goes on
}

// TestManyClients: contexts do not see each other, and several streams of one
// share all.
func TestManyClients(t *testing.T) {
	s := newService(t)
	var wg sync.WaitGroup
	for id := range uint64(8) {
		c := newClient(t, s, id+1)
		for stream := range 3 {
			wg.Go(func() {
				c := &client{t: t, s: s, id: c.id, op: int64(1000 * stream)}
				st := s.NewStream()
				for range 50 {
					x := float32(c.id)
					sum := c.operation("AddV2", core.Attrs{"T": core.Float32}, floats(x), floats(x))
					if _, err := st.Enqueue(t.Context(), &pb.EnqueueRequest{ContextId: c.id, Queue: []*pb.QueueItem{item(sum)}}); err != nil {
						t.Error(err)
						return
					}
					c.wantFloats(handle{int(sum.GetId()), 0}, 2*x)
				}
			})
		}
	}
	wg.Wait()
}
