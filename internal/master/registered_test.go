package master_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/master"
	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
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
		return nil, tf.Errorf(tf.NotFound, "no such kernel")
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
			calls.Go(func() { s.runCallable(handle, tf.Scalar[float32](1)) })
		}
		if _, err := s.m.ReleaseCallable(t.Context(), &pb.ReleaseCallableRequest{SessionHandle: s.handle, Handle: handle}); err != nil {
			t.Fatal(err)
		}
		calls.Wait()
	}
	becomes(t, kept, before+each)
	if _, err := s.runCallable(stays, tf.Scalar[float32](1)); err != nil {
		t.Error(err)
	}
}

// A step that one worker cannot register leaves nothing at the others, however often
// a client tries.
func TestRefusedGraphsAreForgotten(t *testing.T) {
	s, kept := counting(t, ps0)
	for range 5 {
		_, err := s.run(feeds{"x": tf.Scalar[float32](2)}, []string{"sum:0"})
		check(t, "a step that a worker refuses", err, tf.NotFound, "no such kernel")
	}
	becomes(t, kept, 0)
}
