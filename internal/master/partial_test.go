package master_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/master"
	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// stages is r1 = a + b on one task and r2 = r1 * c on another.
func stages() *tf.Graph {
	g := tf.NewGraph(tf.Strict())
	in := func(name, device string) tf.Output {
		return ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name(name), tf.OnDevice(device))
	}
	a, b, c := in("a", "/job:worker/task:0"), in("b", "/job:worker/task:1"), in("c", "/job:ps")
	r1 := ops.AddV2(a, b, tf.Name("r1"), tf.OnDevice("/job:worker/task:1"))
	ops.Mul(r1, c, tf.Name("r2"), tf.OnDevice("/job:ps"))
	tf.Apply(g, "TestWait", nil, tf.Name("wait"), tf.OnDevice("/job:ps"))
	return g
}

func (c *client) setUp(feeds, fetches []string, targets ...string) string {
	c.t.Helper()
	resp, err := c.m.PartialRunSetup(c.t.Context(), &pb.PartialRunSetupRequest{
		SessionHandle: c.handle, Feed: feeds, Fetch: fetches, Target: targets, RequestId: requestid.New(),
	})
	if err != nil {
		c.t.Fatalf("PartialRunSetup: %v", err)
	}
	return resp.GetPartialRunHandle()
}

func (c *client) part(handle, fetch string, f feeds) ([]float32, error) {
	var names []string
	if fetch != "" {
		names = []string{fetch}
	}
	req := c.request(f, names)
	req.PartialRunHandle = handle
	resp, err := c.m.RunStep(c.t.Context(), req)
	if err != nil {
		return nil, err
	}
	var protos []*pb.TensorProto
	for _, x := range resp.GetTensor() {
		protos = append(protos, x.GetTensor())
	}
	return floats(c.t.(*testing.T), protos), nil
}

func scalar(v float32) *core.Tensor { return core.Scalar(v) }

func TestPartialRun(t *testing.T) {
	s := connect(t, newCluster(t, ps0, worker0, worker1).master(worker0), stages(), nil)
	all := []string{"a:0", "b:0", "c:0"}
	for range 3 { // each round begins anew
		h := s.setUp(all, []string{"r1:0", "r2:0"})
		other := s.setUp(all, []string{"r2"})
		r1, err := s.part(h, "r1:0", feeds{"a:0": scalar(1), "b:0": scalar(2)})
		if err != nil || r1[0] != 3 {
			t.Fatalf("1 + 2 = %v, %v", r1, err)
		}
		if _, err := s.part(other, "", feeds{"b:0": scalar(7)}); err != nil {
			t.Fatalf("feeding only: %v", err)
		}
		r2, err := s.part(h, "r2:0", feeds{"c:0": scalar(17 * r1[0])})
		if err != nil || r2[0] != 153 {
			t.Fatalf("3 * 51 = %v, %v", r2, err)
		}
		if _, err = s.part(other, "r2", feeds{"a:0": scalar(1), "c:0": scalar(2)}); err != nil {
			t.Fatal(err)
		}
		_, err = s.part(h, "r2:0", feeds{"c:0": scalar(1)})
		check(t, "a step that is over", err, core.InvalidArgument, "Must run PartialRunSetup before performing partial runs")
	}
}

func TestPartialRunRefuses(t *testing.T) {
	s := connect(t, newCluster(t, ps0, worker0, worker1).master(worker0), stages(), nil)
	h := s.setUp([]string{"a:0", "b:0"}, []string{"r1:0"})
	for _, c := range []struct {
		name, fetch string
		feeds       feeds
		text        string
	}{
		{"unspecified feed", "r1:0", feeds{"c:0": scalar(1)}, "The feed c:0 was not specified in partial_run_setup."},
		{"unspecified fetch", "r2:0", feeds{"a:0": scalar(1)}, "The fetch r2:0 was not specified in partial_run_setup."},
		{"too early", "r1:0", feeds{"a:0": scalar(1)}, "can't be computed from the feeds that have been fed so far."},
		{"", "", feeds{"a:0": scalar(1)}, ""},
		{"fed again", "", feeds{"a:0": scalar(1)}, "The feed a:0 has already been fed."},
	} {
		_, err := s.part(h, c.fetch, c.feeds)
		if c.text == "" {
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		check(t, c.name, err, core.InvalidArgument, c.text)
	}
	req := s.request(feeds{"b:0": scalar(1)}, nil)
	req.PartialRunHandle, req.Feed = h, append(req.Feed, req.Feed...)
	_, err := s.m.RunStep(t.Context(), req)
	check(t, "a feed twice", err, core.InvalidArgument, "Duplicated feeds: b:0")
	req.RequestId, req.Feed, req.Options = 0, req.Feed[:1], &pb.RunOptions{Experimental: &pb.RunOptions_Experimental{CollectiveGraphKey: 3}}
	_, err = s.m.RunStep(t.Context(), req)
	check(t, "a key of collectives", err, core.InvalidArgument, "PartialRun does not support Collective ops.")
	h = s.setUp([]string{"a:0", "b:0", "c:0"}, []string{"r1:0"})
	if _, err := s.part(h, "r1:0", feeds{"a:0": scalar(1), "b:0": scalar(1)}); err != nil {
		t.Fatal(err)
	}
	_, err = s.part(h, "r1:0", nil)
	check(t, "fetched again", err, core.InvalidArgument, "The fetch r1:0 has already been fetched.")
	_, err = s.m.PartialRunSetup(t.Context(), &pb.PartialRunSetupRequest{SessionHandle: s.handle, Feed: []string{"a:0"}})
	check(t, "nothing to fetch", err, core.InvalidArgument, "Must specify at least one target to fetch or execute.")
}

// What fails in a part fails that part, with the reason, and ends the step.
func TestPartialRunFails(t *testing.T) {
	s := connect(t, newCluster(t, ps0, worker0, worker1).master(worker0), stages(), nil)
	h := s.setUp([]string{"a:0"}, []string{"r1:0"})
	_, err := s.part(h, "r1:0", feeds{"a:0": scalar(1)})
	check(t, "a placeholder that nobody feeds", err, core.InvalidArgument, "You must feed a value for placeholder tensor 'b'")
	_, err = s.part(h, "r1:0", nil)
	check(t, "the next part", err, core.InvalidArgument, "Must run PartialRunSetup")
}

// A session can be closed while a partial run is not over: nodes that wait end,
// and so does the call that waits for them.
func TestPartialRunEndsWithSession(t *testing.T) {
	s := connect(t, newCluster(t, ps0, worker0, worker1).master(worker0), stages(), nil)
	h := s.setUp([]string{"a:0", "b:0"}, []string{"r1:0"}, "wait")
	if got, err := s.part(h, "", feeds{"a:0": scalar(1)}); err != nil || len(got) != 0 {
		t.Fatal(got, err)
	}
	<-started
	s.setUp([]string{"a:0", "b:0"}, []string{"r1:0"}) // never run
	failed := make(chan error)
	go func() {
		_, err := s.part(h, "r1:0", feeds{"b:0": scalar(2)})
		failed <- err
	}()
	if _, err := s.m.CloseSession(t.Context(), &pb.CloseSessionRequest{SessionHandle: s.handle}); err != nil {
		t.Fatal(err)
	}
	if code := core.CodeOf(<-failed); code != core.Canceled && code != core.Aborted && code != core.FailedPrecondition {
		t.Errorf("the part that waits ended with %v", code)
	}
}

// A piece that fails ends the others of its step, also one that reaches its worker
// when that has forgotten the step: it would wait for ever.
func TestPieceFailsWhileAnotherIsOnItsWay(t *testing.T) {
	c := newCluster(t, worker0, worker1)
	began, onItsWay, failed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	c.wrap = func(task string, w master.Worker) master.Worker {
		if task == worker0 {
			w = crooked{Worker: w, cleanup: master.Worker.CleanupGraph, register: master.Worker.RegisterGraph,
				run: func(w master.Worker, ctx context.Context, req *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
					if len(req.GetRecvKey()) == 0 {
						close(began)
						<-onItsWay
						return nil, errLost
					}
					close(onItsWay)
					<-failed
					return w.RunGraph(ctx, req)
				}}
		}
		return w
	}
	g := tf.NewGraph()
	a, b := ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name("a")), ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name("b"))
	ops.AddV2(a, b, tf.Name("sum"), tf.OnDevice("/job:worker/task:1"))
	s := connect(t, c.master(worker0), g, nil)
	h := s.setUp([]string{"a:0", "b:0"}, []string{"sum:0"})
	var second error
	var wg sync.WaitGroup
	wg.Go(func() {
		<-began
		_, second = s.part(h, "sum:0", feeds{"b:0": scalar(1)})
	})
	_, err := s.part(h, "", feeds{"a:0": scalar(1)})
	check(t, "the piece that fails", err, core.Unavailable, "the connection is lost")
	close(failed)
	wg.Wait()
	check(t, "the piece on its way", second, core.Unavailable, "the connection is lost")
}

// The last piece of a step may end before another one has reached its worker. That
// must not have forgotten the step by then: it would begin anew and wait for feeds.
func TestLastPieceOvertakesAnother(t *testing.T) {
	c := newCluster(t, worker0, worker1)
	onItsWay, arrives, cleaned := make(chan struct{}), make(chan struct{}), make(chan struct{}, 4)
	c.wrap = func(task string, w master.Worker) master.Worker {
		if task != worker0 {
			return w
		}
		return crooked{Worker: w, register: master.Worker.RegisterGraph,
			cleanup: func(w master.Worker, ctx context.Context, req *pb.CleanupGraphRequest) (*pb.CleanupGraphResponse, error) {
				defer func() { cleaned <- struct{}{} }()
				return w.CleanupGraph(ctx, req)
			},
			run: func(w master.Worker, ctx context.Context, req *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
				if len(req.GetSend()) == 0 { // the piece that only fetches
					close(onItsWay)
					<-arrives
				}
				return w.RunGraph(ctx, req)
			}}
	}
	g := tf.NewGraph()
	a, b := ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name("a")), ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name("b"))
	ops.Neg(a, tf.Name("neg"), tf.OnDevice("/job:worker/task:1"))
	ops.AddV2(a, b, tf.Name("sum"), tf.OnDevice("/job:worker/task:1"))
	s := connect(t, c.master(worker0), g, nil)
	h := s.setUp([]string{"a:0", "b:0"}, []string{"neg:0", "sum:0"})
	if _, err := s.part(h, "", feeds{"a:0": scalar(1)}); err != nil {
		t.Fatal(err)
	}
	let := sync.OnceFunc(func() { close(arrives) })
	defer let()
	overtaken := make(chan error, 1)
	go func() {
		neg, err := s.part(h, "neg:0", nil)
		if err == nil && neg[0] != -1 {
			err = core.Errorf(core.Internal, "-1 = %v", neg)
		}
		overtaken <- err
	}()
	<-onItsWay
	if sum, err := s.part(h, "sum:0", feeds{"b:0": scalar(2)}); err != nil || sum[0] != 3 {
		t.Fatalf("1 + 2 = %v, %v", sum, err)
	}
	select {
	case <-cleaned: // too early
	case <-time.After(50 * time.Millisecond):
	}
	let()
	select {
	case err := <-overtaken:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the piece that was overtaken does not end")
	}
}
