package master_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/master"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/rendezvous/rendezvoustest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A crooked worker mistreats the calls that go to it.
type crooked struct {
	master.Worker
	run      func(master.Worker, context.Context, *pb.RunGraphRequest) (*pb.RunGraphResponse, error)
	register func(master.Worker, context.Context, *pb.RegisterGraphRequest) (*pb.RegisterGraphResponse, error)
	cleanup  func(master.Worker, context.Context, *pb.CleanupGraphRequest) (*pb.CleanupGraphResponse, error)
}

func (w crooked) RunGraph(ctx context.Context, req *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	return w.run(w.Worker, ctx, req)
}

func (w crooked) RegisterGraph(ctx context.Context, req *pb.RegisterGraphRequest) (*pb.RegisterGraphResponse, error) {
	return w.register(w.Worker, ctx, req)
}

func (w crooked) CleanupGraph(ctx context.Context, req *pb.CleanupGraphRequest) (*pb.CleanupGraphResponse, error) {
	return w.cleanup(w.Worker, ctx, req)
}

var errLost = core.Errorf(core.Unavailable, "the connection is lost")

// switched returns a fault that is there as long as on says so.
func switched[Req, Resp any](on *atomic.Bool, fault, plain func(master.Worker, context.Context, Req) (Resp, error)) func(master.Worker, context.Context, Req) (Resp, error) {
	return func(w master.Worker, ctx context.Context, req Req) (Resp, error) {
		if fault != nil && on.Load() {
			return fault(w, ctx, req)
		}
		return plain(w, ctx, req)
	}
}

// Faults of calls between master and worker.
var faultyCalls = map[string]struct {
	with crooked
	want core.Code
}{
	"RunGraph lost": {crooked{run: func(_ master.Worker, ctx context.Context, _ *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}, core.DeadlineExceeded},
	"RunGraph's answer lost": {crooked{run: func(w master.Worker, ctx context.Context, req *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
		if _, err := w.RunGraph(ctx, req); err != nil {
			return nil, err
		}
		return nil, errLost
	}}, core.Unavailable},
	"RunGraph twice": {crooked{run: func(w master.Worker, ctx context.Context, req *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
		resp, err := w.RunGraph(ctx, req)
		if _, again := w.RunGraph(ctx, req); core.CodeOf(again) != core.Aborted || !strings.Contains(again.Error(), "was received twice") {
			return nil, core.Errorf(core.Internal, "the same request again: %v", again)
		}
		return resp, err
	}}, core.OK},
	"RunGraph late": {crooked{run: func(w master.Worker, ctx context.Context, req *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
		time.Sleep(20 * time.Millisecond)
		return w.RunGraph(ctx, req)
	}}, core.OK},
	"RegisterGraph's answer lost": {crooked{register: func(w master.Worker, ctx context.Context, req *pb.RegisterGraphRequest) (*pb.RegisterGraphResponse, error) {
		if _, err := w.RegisterGraph(ctx, req); err != nil {
			return nil, err
		}
		return nil, errLost
	}}, core.Unavailable},
	"CleanupGraph lost": {crooked{cleanup: func(master.Worker, context.Context, *pb.CleanupGraphRequest) (*pb.CleanupGraphResponse, error) {
		return nil, errLost
	}}, core.OK},
	"CleanupGraph twice": {crooked{cleanup: func(w master.Worker, ctx context.Context, req *pb.CleanupGraphRequest) (*pb.CleanupGraphResponse, error) {
		_, _ = w.CleanupGraph(ctx, req)
		return w.CleanupGraph(ctx, req)
	}}, core.OK},
}

// toAndFro is a step over three tasks: x goes from worker 0 to the ps and by
// worker 1 back again.
func toAndFro() *tf.Graph {
	g := tf.NewGraph(tf.Strict())
	x := ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name("x"))
	y := ops.Neg(ops.Square(x, tf.OnDevice("/job:ps")), tf.OnDevice("/job:worker/task:1"))
	ops.AddV2(y, x, tf.Name("y"), tf.OnDevice("/job:worker/task:0"))
	return g
}

// limited runs a step that may take a second, or a minute if it is to succeed,
// however slow the machine.
func (c *client) limited(want core.Code) ([]float32, error) {
	c.t.Helper()
	req := c.request(feeds{"x": core.Scalar[float32](3)}, []string{"y:0"})
	req.Options = &pb.RunOptions{TimeoutInMs: 60_000}
	if want == core.DeadlineExceeded {
		req.Options.TimeoutInMs = 300
	}
	resp, err := c.m.RunStep(context.Background(), req)
	if err != nil {
		return nil, err
	}
	v, err := core.TensorFromProto(resp.GetTensor()[0].GetTensor())
	if err != nil {
		c.t.Fatal(err)
	}
	return core.Data[float32](v), nil
}

// suffers runs steps with a fault and, on the same session, without it.
func suffers(t *testing.T, c *cluster, on *atomic.Bool, want core.Code) {
	t.Helper()
	m := c.master(worker0)
	s := connect(t, m, toAndFro(), nil)
	on.Store(true)
	for range 3 {
		got, err := s.limited(want)
		if core.CodeOf(err) != want || err == nil && got[0] != -6 {
			t.Errorf("a step with the fault = %v, %v; want -6 or %v", got, err, want)
		}
	}
	on.Store(false)
	if got, err := s.limited(core.OK); err != nil || got[0] != -6 {
		t.Errorf("a step after it = %v, %v", got, err)
	}
	if _, err := m.CloseSession(t.Context(), &pb.CloseSessionRequest{SessionHandle: s.handle}); err != nil {
		t.Error(err)
	}
}

// Calls of a master to a worker are lost, repeated and late.
func TestFaultyCalls(t *testing.T) {
	for name, f := range faultyCalls {
		for _, victim := range []string{ps0, worker0} { // another task and the master's own
			t.Run(name+" "+victim, func(t *testing.T) {
				var on atomic.Bool
				c := newCluster(t, ps0, worker0, worker1)
				c.wrap = func(task string, w master.Worker) master.Worker {
					if task != victim {
						return w
					}
					return crooked{
						Worker: w, run: switched(&on, f.with.run, master.Worker.RunGraph),
						register: switched(&on, f.with.register, master.Worker.RegisterGraph),
						cleanup:  switched(&on, f.with.cleanup, master.Worker.CleanupGraph),
					}
				}
				suffers(t, c, &on, f.want)
			})
		}
	}
}

// Tensors between workers are lost, late, come twice, or only half.
func TestFaultyTransfers(t *testing.T) {
	all := func(string) bool { return true }
	square := func(key string) bool { return strings.Contains(key, "Square") }
	for name, f := range map[string]struct {
		over func(rendezvous.Transport) rendezvous.Transport
		want core.Code
	}{
		"lost":       {func(t rendezvous.Transport) rendezvous.Transport { return rendezvoustest.Drop(t, square) }, core.DeadlineExceeded},
		"all lost":   {func(t rendezvous.Transport) rendezvous.Transport { return rendezvoustest.Drop(t, all) }, core.DeadlineExceeded},
		"late":       {func(t rendezvous.Transport) rendezvous.Transport { return rendezvoustest.Delay(t, 5*time.Millisecond) }, core.OK},
		"twice":      {rendezvoustest.Duplicate, core.OK},
		"broken":     {func(t rendezvous.Transport) rendezvous.Transport { return rendezvoustest.Fail(t, square, errLost) }, core.Unavailable},
		"all broken": {func(t rendezvous.Transport) rendezvous.Transport { return rendezvoustest.Fail(t, all, errLost) }, core.Unavailable},
		"late, broken": {func(t rendezvous.Transport) rendezvous.Transport {
			return rendezvoustest.Delay(rendezvoustest.Fail(t, square, errLost), time.Millisecond)
		}, core.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			var on atomic.Bool
			c := newClusterOver(t, func(t rendezvous.Transport) rendezvous.Transport {
				return sometimes{&on, f.over(t), t}
			}, ps0, worker0, worker1)
			suffers(t, c, &on, f.want)
		})
	}
}

// sometimes is one of two transports.
type sometimes struct {
	on           *atomic.Bool
	fault, plain rendezvous.Transport
}

func (s sometimes) Recv(ctx context.Context, task string, step int64, key string, alloc rendezvous.Alloc, done func(rendezvous.Result)) {
	t := s.plain
	if s.on.Load() {
		t = s.fault
	}
	t.Recv(ctx, task, step, key, alloc, done)
}

// A held worker does not answer that a session is over until the call is given up.
type held struct {
	master.Worker
	underWay atomic.Int32
}

func (w *held) DeleteWorkerSession(ctx context.Context, _ *pb.DeleteWorkerSessionRequest) (*pb.DeleteWorkerSessionResponse, error) {
	w.underWay.Add(1)
	defer w.underWay.Add(-1)
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestCloseBesideHeldWorker: a client whose session ends does not wait until a worker
// that says nothing is given up.
func TestCloseBesideHeldWorker(t *testing.T) {
	c := newCluster(t, ps0, worker0, worker1)
	lost := &held{}
	c.wrap = func(task string, w master.Worker) master.Worker {
		if task != ps0 {
			return w
		}
		lost.Worker = w
		return lost
	}
	m := c.master(worker0)
	s := connect(t, m, toAndFro(), nil)
	if _, err := m.CloseSession(t.Context(), &pb.CloseSessionRequest{SessionHandle: s.handle}); err != nil {
		t.Error(err)
	}
	if lost.underWay.Load() != 1 {
		t.Error("the session's end has waited for the worker")
	}
	m.Close()
	if lost.underWay.Load() != 0 {
		t.Error("the master has ended before its calls")
	}
}
