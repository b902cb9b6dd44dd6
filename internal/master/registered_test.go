package master_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/master"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A keeping worker counts the graphs that masters have it keep. It takes none where
// refuses says so.
type keeping struct {
	master.Worker
	kept    *atomic.Int64
	refuses bool
}

func (w keeping) RegisterGraph(ctx context.Context, req *pb.RegisterGraphRequest) (*pb.RegisterGraphResponse, error) {
	if w.refuses {
		return nil, core.Errorf(core.NotFound, "no such kernel")
	}
	resp, err := w.Worker.RegisterGraph(context.WithoutCancel(ctx), req)
	if err == nil {
		w.kept.Add(1)
	}
	return resp, err
}

func (w keeping) DeregisterGraph(ctx context.Context, req *pb.DeregisterGraphRequest) (*pb.DeregisterGraphResponse, error) {
	resp, err := w.Worker.DeregisterGraph(ctx, req)
	if err == nil {
		w.kept.Add(-1)
	}
	return resp, err
}

func counting(t *testing.T, refusing string) (*client, *atomic.Int64) {
	kept := new(atomic.Int64)
	c := newCluster(t, ps0, worker0, worker1)
	c.wrap = func(task string, w master.Worker) master.Worker { return keeping{w, kept, task == refusing} }
	return connect(t, c.master(worker0), counter(), nil), kept
}

// becomes waits until workers keep so many graphs.
func becomes(t *testing.T, kept *atomic.Int64, want int64) {
	t.Helper()
	for until := time.Now().Add(30 * time.Second); kept.Load() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("workers keep %d graphs, want %d", kept.Load(), want)
		}
	}
}

// Workers forget the graph of a callable that is released, when its last step has
// ended; not that of another one of the same feeds and fetches.
func TestReleasedCallablesAreForgotten(t *testing.T) {
	s, kept := counting(t, "")
	s.must("v/Assign")
	before := kept.Load()
	o := &pb.CallableOptions{Feed: []string{"x:0"}, Fetch: []string{"sum:0"}}
	stays, err := s.makeCallable(o)
	if err != nil {
		t.Fatal(err)
	}
	each := kept.Load() - before
	for range 20 {
		handle, err := s.makeCallable(o)
		if err != nil {
			t.Fatal(err)
		}
		var calls sync.WaitGroup
		for range 4 { // during which it is released
			calls.Go(func() { s.runCallable(handle, core.Scalar[float32](1)) })
		}
		if _, err := s.m.ReleaseCallable(t.Context(), &pb.ReleaseCallableRequest{SessionHandle: s.handle, Handle: handle}); err != nil {
			t.Fatal(err)
		}
		calls.Wait()
	}
	becomes(t, kept, before+each)
	if _, err := s.runCallable(stays, core.Scalar[float32](1)); err != nil {
		t.Error(err)
	}
}

// A step that one worker cannot register leaves nothing at the others, however often
// a client tries.
func TestRefusedGraphsAreForgotten(t *testing.T) {
	s, kept := counting(t, ps0)
	for range 5 {
		_, err := s.run(feeds{"x": core.Scalar[float32](2)}, []string{"sum:0"})
		check(t, "a step that a worker refuses", err, core.NotFound, "no such kernel")
	}
	becomes(t, kept, 0)
}

// A slow worker opens sessions a while after another one has refused to.
type slow struct {
	master.Worker
	refuses  bool
	refused  chan struct{}
	sessions *atomic.Int64
}

func (w slow) CreateWorkerSession(ctx context.Context, req *pb.CreateWorkerSessionRequest) (*pb.CreateWorkerSessionResponse, error) {
	if w.refuses {
		close(w.refused)
		return nil, core.Errorf(core.Unavailable, "gone")
	}
	<-w.refused
	select {
	case <-ctx.Done(): // the request is on its way all the same
		go func() { time.Sleep(10 * time.Millisecond); w.sessions.Add(1) }()
		return nil, ctx.Err()
	case <-time.After(10 * time.Millisecond):
		w.sessions.Add(1)
		return w.Worker.CreateWorkerSession(ctx, req)
	}
}

func (w slow) DeleteWorkerSession(ctx context.Context, req *pb.DeleteWorkerSessionRequest) (*pb.DeleteWorkerSessionResponse, error) {
	w.sessions.Store(0)
	return w.Worker.DeleteWorkerSession(ctx, req)
}

// A session that one worker refuses stays at no other one, though that is slow.
func TestRefusedSessionsAreForgotten(t *testing.T) {
	c := newCluster(t, worker0, worker1)
	refused, sessions := make(chan struct{}), new(atomic.Int64)
	c.wrap = func(task string, w master.Worker) master.Worker { return slow{w, task == worker1, refused, sessions} }
	_, err := c.master(worker0).CreateSession(t.Context(), &pb.CreateSessionRequest{})
	check(t, "a session that a worker refuses", err, core.Unavailable, "gone")
	time.Sleep(30 * time.Millisecond)
	if n := sessions.Load(); n != 0 {
		t.Errorf("%d sessions stay at the other worker", n)
	}
}

// A client that gives up does not keep its master waiting for a worker that hangs.
func TestGivingUpOnAWorkerThatHangs(t *testing.T) {
	c := newCluster(t, worker0, worker1)
	never := make(chan struct{})
	c.wrap = func(task string, w master.Worker) master.Worker {
		if task == worker1 {
			return hanging{w, never}
		}
		return w
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-never; cancel() }()
	_, err := c.master(worker0).CreateSession(ctx, &pb.CreateSessionRequest{})
	check(t, "a session that is given up", err, core.Canceled, "")
}

// A hanging worker answers nothing.
type hanging struct {
	master.Worker
	asked chan struct{}
}

func (w hanging) CreateWorkerSession(ctx context.Context, _ *pb.CreateWorkerSessionRequest) (*pb.CreateWorkerSessionResponse, error) {
	close(w.asked)
	<-ctx.Done()
	return nil, ctx.Err()
}
