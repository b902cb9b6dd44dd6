package eagerservice

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/worker"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A neighbor is another task: its first answer waits for release.
type neighbor struct {
	open    *atomic.Int64 // clusters that have not been left
	asked   chan struct{}
	release chan struct{}
}

func (n neighbor) Peer(string) (Peer, error) { return n, nil }
func (n neighbor) Close()                    { n.open.Add(-1) }

func (n neighbor) Enqueue(ctx context.Context, _ *pb.EnqueueRequest) (*pb.EnqueueResponse, error) {
	select {
	case n.asked <- struct{}{}:
	default:
	}
	select {
	case <-n.release:
		return &pb.EnqueueResponse{}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (n neighbor) RunComponentFunction(context.Context, *pb.RunComponentFunctionRequest) (*pb.RunComponentFunctionResponse, error) {
	return nil, core.Errorf(core.DataLoss, "the neighbor was asked")
}

// newNeighborhood returns a service with a neighbor.
func newNeighborhood(t *testing.T) (*Service, neighbor) {
	t.Helper()
	n := neighbor{open: &atomic.Int64{}, asked: make(chan struct{}, 1), release: make(chan struct{})}
	w := worker.New(worker.Env{
		Task: task, Devices: device.CPUs("worker", 0, 2), Rendezvous: rendezvous.NewManager(0),
		Connect: func(*pb.ClusterDef, string) (worker.Cluster, error) {
			n.open.Add(1)
			return worker.Cluster{Leave: n.Close}, nil
		},
	})
	s := New(Env{Worker: w, Connect: func(*pb.ClusterDef) (Peers, error) {
		n.open.Add(1)
		return n, nil
	}})
	t.Cleanup(func() {
		s.Close()
		w.Close()
	})
	return s, n
}

// inCluster asks for a context in a cluster.
func inCluster(id uint64) *pb.CreateContextRequest {
	req := creation(id)
	req.ServerDef = &pb.ServerDef{JobName: "worker", Cluster: &pb.ClusterDef{Job: []*pb.JobDef{{Name: "worker", Tasks: map[int32]string{0: "here:1"}}}}}
	return req
}

// TestUpdateWhileClosing: a change of a context's cluster that was on its way when the
// context ended leaves no cluster open.
func TestUpdateWhileClosing(t *testing.T) {
	s, n := newNeighborhood(t)
	req := inCluster(7)
	if _, err := s.CreateContext(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	c := contextOf(s, 7)
	update := func() error {
		return c.update(&pb.UpdateContextRequest{ContextId: 7, ContextViewId: c.viewID() + 1, ServerDef: req.ServerDef, ClusterDeviceAttributes: req.ClusterDeviceAttributes})
	}
	for range 3 {
		if err := update(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.CloseContext(t.Context(), &pb.CloseContextRequest{ContextId: 7, ContextViewId: 10}); err != nil {
		t.Fatal(err)
	}
	wantError(t, update(), core.Aborted, "Unable to find a context_id matching the specified one (7)")
	if err := c.session.Move(req.ServerDef); core.CodeOf(err) != core.Canceled {
		t.Errorf("a session that is closed has moved to another cluster: %v", err)
	}
	if open := n.open.Load(); open != 0 {
		t.Errorf("a context that is closed has left %d clusters open", open)
	}
}

// defineAway defines a function that adds its argument to itself on another task.
func defineAway(t *testing.T) (*pb.FunctionDef, *pb.FunctionDefLibrary) {
	t.Helper()
	return define(t, "away", func(x tf.Output) (y tf.Output) {
		x.Graph().Device(chief, func() { y = x.Add(x) })
		return y
	})
}

// TestCallersPlanTogether: two calls wait for the other task to take its part of their
// function. One that is given up does not end the other.
func TestCallersPlanTogether(t *testing.T) {
	s, n := newNeighborhood(t)
	if _, err := s.CreateContext(t.Context(), inCluster(7)); err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, s: s, id: 7}
	f, with := defineAway(t)
	if _, err := c.enqueue(registering(f, with, false)); err != nil {
		t.Fatal(err)
	}
	call := func(ctx context.Context, op *pb.Operation) <-chan error {
		over := make(chan error, 1)
		go func() {
			_, err := s.Enqueue(ctx, &pb.EnqueueRequest{ContextId: 7, Queue: []*pb.QueueItem{item(op)}})
			over <- err
		}()
		return over
	}
	ctx, give := context.WithCancel(t.Context())
	first := call(ctx, c.callOf(f, floats(1)))
	<-n.asked
	second := call(t.Context(), c.callOf(f, floats(1)))
	for range 1000 { // it joins the first one; if it does not, it has to plan by itself
		runtime.Gosched()
	}
	give()
	if err := <-first; err == nil {
		t.Error("a call that was given up has succeeded")
	}
	close(n.release)
	if err := <-second; core.CodeOf(err) != core.DataLoss {
		t.Errorf("the second call ended with %v, want the neighbor's answer", err)
	}
}
