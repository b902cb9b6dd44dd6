package master_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/master"
	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// check compares an error with its code and a part of its text.
func check(t *testing.T, what string, err error, code core.Code, text string) {
	t.Helper()
	if core.CodeOf(err) != code || err != nil && !strings.Contains(core.AsError(err).Message(), text) {
		t.Errorf("%s = %v, want %v: ...%s...", what, err, code, text)
	}
}

func TestSessionsThatAreNotThere(t *testing.T) {
	m := newCluster(t, worker0).master(worker0)
	ctx := t.Context()
	_, err := m.RunStep(ctx, &pb.RunStepRequest{SessionHandle: "h"})
	check(t, "RunStep", err, core.Aborted, "Session h is not found.")
	_, err = m.ExtendSession(ctx, &pb.ExtendSessionRequest{SessionHandle: "h"})
	check(t, "ExtendSession", err, core.Aborted, "Session h is not found.")
	_, err = m.CloseSession(ctx, &pb.CloseSessionRequest{SessionHandle: "h"})
	check(t, "CloseSession", err, core.Aborted, "Session h is not found. Possibly, this master has restarted.")
	_, err = m.ListDevices(ctx, &pb.ListDevicesRequest{SessionHandle: "h"})
	check(t, "ListDevices", err, core.InvalidArgument, "Session h is not found.")
}

func TestCreateSessionRefuses(t *testing.T) {
	c := newCluster(t, ps0, worker0)
	m := c.master(worker0)
	node := func(op, device string) *pb.GraphDef {
		return &pb.GraphDef{Node: []*pb.NodeDef{{Name: "n", Op: op, Device: device}}}
	}
	own := &pb.ClusterDef{Job: []*pb.JobDef{{Name: "mine", Tasks: map[int32]string{0: "me:1"}}}}
	for name, x := range map[string]struct {
		req  *pb.CreateSessionRequest
		code core.Code
		text string
	}{
		"unknown op":              {&pb.CreateSessionRequest{GraphDef: node("NoSuchOp", "")}, core.NotFound, "Op type not registered 'NoSuchOp'"},
		"device":                  {&pb.CreateSessionRequest{GraphDef: node("NoOp", "/job:q")}, core.InvalidArgument, "explicitly assigned to /job:q but available devices are [ " + ps0},
		"device in small letters": {&pb.CreateSessionRequest{GraphDef: node("NoOp", "/device:cpu:0")}, core.InvalidArgument, "explicitly assigned to /device:cpu:0 but available devices are [ " + ps0},
		"malformed device":        {&pb.CreateSessionRequest{GraphDef: node("NoOp", "ps0")}, core.InvalidArgument, "Malformed device specification 'ps0'"},
		"filter":                  {&pb.CreateSessionRequest{Config: &pb.ConfigProto{DeviceFilters: []string{"ps"}}}, core.InvalidArgument, "filter"},
		"filtered out": {&pb.CreateSessionRequest{GraphDef: node("NoOp", "/job:ps"), Config: &pb.ConfigProto{DeviceFilters: []string{"/job:worker"}}},
			core.InvalidArgument, "explicitly assigned to /job:ps"},
		"threads": {&pb.CreateSessionRequest{Config: &pb.ConfigProto{UsePerSessionThreads: true}}, core.InvalidArgument, "thread pool options"},
		"cluster": {&pb.CreateSessionRequest{Target: "grpc://me:1", Config: &pb.ConfigProto{ClusterDef: own}}, core.Unimplemented, "cluster_def"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := m.CreateSession(t.Context(), x.req)
			check(t, "CreateSession", err, x.code, x.text)
		})
	}
}

// TestCreateSessionTakes: device names that TensorFlow's master takes. With soft placement
// it takes others, too.
func TestCreateSessionTakes(t *testing.T) {
	m := newCluster(t, ps0, worker0).master(worker0)
	for device, soft := range map[string]bool{"/cpu:0": false, "/CPU:0": false, "/job:ps/device:CPU:0": false, "/device:cpu:0": true} {
		def := &pb.GraphDef{Node: []*pb.NodeDef{{Name: "n", Op: "NoOp", Device: device}}}
		if _, err := m.CreateSession(t.Context(), &pb.CreateSessionRequest{GraphDef: def, Config: &pb.ConfigProto{AllowSoftPlacement: soft}}); err != nil {
			t.Errorf("%s: %v", device, err)
		}
	}
}

func TestRunStepRefuses(t *testing.T) {
	s := connect(t, newCluster(t, ps0, worker0, worker1).master(worker0), counter(), nil)
	s.must("v/Assign")
	two := feeds{"x": core.Scalar[float32](2)}
	twice := s.request(two, []string{"sum:0"})
	if _, err := s.m.RunStep(t.Context(), twice); err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		req  *pb.RunStepRequest
		code core.Code
		text string
	}{
		"the same request":     {twice, core.Aborted, "The same RunStep (Master) request was received twice."},
		"nothing to do":        {s.request(nil, nil), core.InvalidArgument, "Must specify at least one target to fetch or execute."},
		"unknown fetch":        {s.request(nil, []string{"q:0"}), core.NotFound, "FetchOutputs node q:0: not found"},
		"unknown feed":         {s.request(feeds{"q:0": two["x"]}, []string{"sum:0"}), core.NotFound, "unable to find feed output q:0"},
		"fed under two names":  {s.request(feeds{"x:0": two["x"], "x": two["x"]}, []string{"sum:0"}), core.InvalidArgument, `"x:0" fed more than once`},
		"fed and fetched":      {s.request(two, []string{"x:0"}), core.InvalidArgument, "both fed and fetched"},
		"not a tensor's name":  {s.request(nil, []string{"x:y"}), core.NotFound, "FetchOutputs node x:y: not found"},
		"unknown target":       {s.request(nil, nil, "q"), core.NotFound, "Some target nodes not found: q"},
		"a partial run":        {&pb.RunStepRequest{SessionHandle: s.handle, PartialRunHandle: "0"}, core.InvalidArgument, "Must run PartialRunSetup before performing partial runs"},
		"a feed of wrong type": {s.request(feeds{"x:0": core.Scalar[int32](2)}, []string{"sum:0"}), core.Internal, "Output 0 of type int32 does not match declared output type float for node {{node _recv_x_0}}"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.m.RunStep(t.Context(), x.req)
			check(t, "RunStep", err, x.code, x.text)
		})
	}
	if got := s.value("sum:0", two); got != 12 {
		t.Errorf("x + v after all this = %v, want 12", got)
	}
}

func TestExtendSession(t *testing.T) {
	g := counter()
	s := connect(t, newCluster(t, ps0, worker0, worker1).master(worker0), g, nil)
	s.must("v/Assign")
	n := len(g.Operations())
	sum, err := g.Output("sum:0")
	if err != nil {
		t.Fatal(err)
	}
	ops.Mul(sum, sum, tf.Name("square"), tf.OnDevice("/job:ps"))
	two := feeds{"x": core.Scalar[float32](2)}
	_, err = s.run(two, []string{"square:0"})
	check(t, "a step with nodes to come", err, core.NotFound, "square")
	more := &pb.ExtendSessionRequest{SessionHandle: s.handle, GraphDef: graphDef(t, g, n), CurrentGraphVersion: s.version}
	resp, err := s.m.ExtendSession(t.Context(), more)
	if err != nil || resp.GetNewGraphVersion() != s.version+1 {
		t.Fatalf("ExtendSession = %v, %v; want version %d", resp, err, s.version+1)
	}
	if got := s.value("square:0", two); got != 144 {
		t.Errorf("(x + v)² = %v, want 144: the variable must have kept its place", got)
	}
	_, err = s.m.ExtendSession(t.Context(), more)
	check(t, "the same extension", err, core.Aborted, "Current version is 1 but caller expected 0.")
	more.CurrentGraphVersion++
	_, err = s.m.ExtendSession(t.Context(), more)
	check(t, "nodes that are there", err, core.InvalidArgument, "GraphDef argument to Extend includes node 'square'")
}

// The error of one task ends the step everywhere and is the one reported.
func TestErrorOfATask(t *testing.T) {
	s := connect(t, newCluster(t, ps0, worker0, worker1).master(worker0), counter(), nil)
	for range 20 { // whoever is first
		_, err := s.run(feeds{"x:0": core.Scalar[float32](1)}, []string{"sum:0"})
		check(t, "reading a variable without a value", err, core.FailedPrecondition, "From "+ps0+":\n")
		check(t, "reading a variable without a value", err, core.FailedPrecondition, "[[{{node v/Read/ReadVariableOp}}]]")
	}
}

// A worker that has restarted knows nothing of the session; the error tells the
// client to open another.
func TestWorkerRestarts(t *testing.T) {
	c := newCluster(t, ps0, worker0, worker1)
	var now atomic.Pointer[master.Worker]
	c.wrap = func(task string, w master.Worker) master.Worker {
		if task == ps0 {
			return follow{&now}
		}
		return w
	}
	set := func(w master.Worker) { now.Store(&w) }
	set(c.workers[ps0])
	s := connect(t, c.master(worker0), counter(), nil)
	s.must("v/Assign")
	old := c.workers[ps0]
	c.workers[ps0] = c.start(ps0)
	set(c.workers[ps0])
	old.Close()
	_, err := s.run(nil, nil, "v/Assign")
	check(t, "a step after the restart", err, core.Aborted, "Session handle is not found: "+s.handle)
}

// follow is whatever worker is in a place now.
type follow struct {
	now *atomic.Pointer[master.Worker]
}

func (f follow) GetStatus(ctx context.Context, r *pb.GetStatusRequest) (*pb.GetStatusResponse, error) {
	return (*f.now.Load()).GetStatus(ctx, r)
}
func (f follow) CreateWorkerSession(ctx context.Context, r *pb.CreateWorkerSessionRequest) (*pb.CreateWorkerSessionResponse, error) {
	return (*f.now.Load()).CreateWorkerSession(ctx, r)
}
func (f follow) DeleteWorkerSession(ctx context.Context, r *pb.DeleteWorkerSessionRequest) (*pb.DeleteWorkerSessionResponse, error) {
	return (*f.now.Load()).DeleteWorkerSession(ctx, r)
}
func (f follow) RegisterGraph(ctx context.Context, r *pb.RegisterGraphRequest) (*pb.RegisterGraphResponse, error) {
	return (*f.now.Load()).RegisterGraph(ctx, r)
}
func (f follow) RunGraph(ctx context.Context, r *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	return (*f.now.Load()).RunGraph(ctx, r)
}
func (f follow) CleanupGraph(ctx context.Context, r *pb.CleanupGraphRequest) (*pb.CleanupGraphResponse, error) {
	return (*f.now.Load()).CleanupGraph(ctx, r)
}
func (f follow) DeregisterGraph(ctx context.Context, r *pb.DeregisterGraphRequest) (*pb.DeregisterGraphResponse, error) {
	return (*f.now.Load()).DeregisterGraph(ctx, r)
}

func (f follow) CleanupAll(ctx context.Context, r *pb.CleanupAllRequest) (*pb.CleanupAllResponse, error) {
	return (*f.now.Load()).CleanupAll(ctx, r)
}
func (f follow) Logging(ctx context.Context, r *pb.LoggingRequest) (*pb.LoggingResponse, error) {
	return (*f.now.Load()).Logging(ctx, r)
}

func TestListDevices(t *testing.T) {
	c := newCluster(t, ps0, worker0, worker1)
	m := c.master(worker0)
	names := func(list []*pb.DeviceAttributes) string {
		var out []string
		for _, d := range list {
			out = append(out, strings.TrimSuffix(d.GetName(), "/device:CPU:0"))
		}
		return strings.Join(out, " ")
	}
	all, err := m.ListDevices(t.Context(), &pb.ListDevicesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(all.GetLocalDevice()) + " | " + names(all.GetRemoteDevice()); got != worker0+" | "+ps0+" "+worker1 {
		t.Errorf("devices of the cluster: %s", got)
	}
	s := connect(t, m, tf.NewGraph(), &pb.ConfigProto{DeviceFilters: []string{"/job:ps"}})
	own, err := m.ListDevices(t.Context(), &pb.ListDevicesRequest{SessionHandle: s.handle})
	if err != nil {
		t.Fatal(err)
	}
	if got := names(own.GetLocalDevice()) + " | " + names(own.GetRemoteDevice()); got != ps0+" "+worker0+" | " {
		t.Errorf("devices of the session: %s", got)
	}
}

// Reset ends all sessions of the master and clears the variables of all tasks.
func TestReset(t *testing.T) {
	c := newCluster(t, ps0, worker0, worker1)
	m, other := c.master(worker0), c.master(worker1)
	s, o := connect(t, m, counter(), nil), connect(t, other, counter(), nil)
	s.must("v/Assign")
	two := feeds{"x:0": core.Scalar[float32](2)}
	if got := o.value("sum:0", two); got != 12 {
		t.Errorf("x + v in the session of another master = %v, want 12", got)
	}
	if _, err := m.Reset(t.Context(), &pb.ResetRequest{}); err != nil {
		t.Fatal(err)
	}
	_, err := s.run(two, []string{"sum:0"})
	check(t, "a step after Reset", err, core.Aborted, "is not found")
	_, err = o.run(two, []string{"sum:0"})
	check(t, "reading the variable after Reset", err, core.FailedPrecondition, "Could not find variable v")
}

// A closing session ends its steps, and says that this is why.
func TestCloseSessionEndsSteps(t *testing.T) {
	for name, end := range map[string]struct {
		close func(*client) error
		code  core.Code
		text  string
	}{
		"CloseSession": {func(c *client) error {
			_, err := c.m.CloseSession(context.Background(), &pb.CloseSessionRequest{SessionHandle: c.handle})
			return err
		}, core.Canceled, "Step was cancelled by an explicit call to `Session::Close()`."},
		"Close of the master": {func(c *client) error { c.m.Close(); return nil }, core.Unavailable, "is shutting down"},
	} {
		t.Run(name, func(t *testing.T) {
			g := tf.NewGraph(tf.Strict())
			tf.Apply(g, "TestWait", nil, tf.Name("wait"), tf.OnDevice("/job:ps"))
			s := connect(t, newCluster(t, ps0, worker0).master(worker0), g, nil)
			ended := make(chan error, 1)
			go func() { _, err := s.run(nil, nil, "wait"); ended <- err }()
			<-started
			if err := end.close(s); err != nil {
				t.Fatal(err)
			}
			check(t, "the step", <-ended, end.code, end.text)
			if _, err := s.run(nil, nil, "wait"); err == nil {
				t.Error("a step ran after the end of its session")
			}
		})
	}
}

// A step ends when its time is up, or its caller has gone.
func TestStepIsBounded(t *testing.T) {
	g := tf.NewGraph(tf.Strict())
	tf.Apply(g, "TestWait", nil, tf.Name("wait"), tf.OnDevice("/job:ps"))
	s := connect(t, newCluster(t, ps0, worker0).master(worker0), g, nil)
	for limit, begun := int64(1), false; !begun; limit *= 2 { // until the step gets to its node meanwhile
		req := s.request(nil, nil, "wait")
		req.Options = &pb.RunOptions{TimeoutInMs: limit}
		_, err := s.m.RunStep(t.Context(), req)
		check(t, fmt.Sprintf("a step of %d ms", limit), err, core.DeadlineExceeded, "")
		select {
		case <-started:
			begun = true
		default:
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.m.RunStep(ctx, &pb.RunStepRequest{SessionHandle: s.handle, Target: []string{"wait"}, RequestId: requestid.New()})
		ended <- err
	}()
	<-started
	cancel()
	check(t, "a step without a caller", <-ended, core.Canceled, "")
}

// A session's limit bounds the steps that have none of their own.
func TestSessionBoundsSteps(t *testing.T) {
	g := tf.NewGraph(tf.Strict())
	tf.Apply(g, "TestWait", nil, tf.Name("wait"), tf.OnDevice("/job:ps"))
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(time.Minute, cancel).Stop() // so that a step without a limit is cancelled, not late
	c := newCluster(t, ps0, worker0)
	for limit, begun := int64(1), false; !begun; limit *= 2 { // until the step gets to its node meanwhile
		s := connect(t, c.master(worker0), g, &pb.ConfigProto{OperationTimeoutInMs: limit})
		_, err := s.m.RunStep(ctx, s.request(nil, nil, "wait"))
		check(t, fmt.Sprintf("a step of a session whose steps have %d ms", limit), err, core.DeadlineExceeded, "")
		select {
		case <-started:
			begun = true
		default:
			begun = t.Failed()
		}
	}
}

// The server's configuration comes before the client's and after it.
func TestConfigs(t *testing.T) {
	c := newCluster(t, ps0, worker0)
	server := &pb.ConfigProto{DeviceFilters: []string{"/job:worker"}, AllowSoftPlacement: true}
	m := c.master(worker0, func(e *master.Env) { e.Config = server })
	g := tf.NewGraph(tf.Strict())
	ops.Scalar[float32](g, 3, tf.Name("three"), tf.OnDevice("/device:GPU:0"))
	s := connect(t, m, g, &pb.ConfigProto{})
	if got := s.value("three:0", nil); got != 3 {
		t.Errorf("three = %v", got)
	}
	devices, err := m.ListDevices(t.Context(), &pb.ListDevicesRequest{SessionHandle: s.handle})
	if err != nil || len(devices.GetLocalDevice()) != 1 {
		t.Errorf("devices of the session = %v, %v; want those of the worker job", devices, err)
	}
}

func TestOptionsWithoutEffectAreLogged(t *testing.T) {
	var log bytes.Buffer
	m := newCluster(t, worker0).master(worker0, func(e *master.Env) { e.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	req := &pb.CreateSessionRequest{
		GraphDef: &pb.GraphDef{Node: []*pb.NodeDef{{Name: "n", Op: "NoOp"}}},
		Config:   &pb.ConfigProto{PlacementPeriod: 2, AllowSoftPlacement: true},
	}
	for range 2 {
		s, err := m.CreateSession(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		step := &pb.RunStepRequest{SessionHandle: s.GetSessionHandle(), Target: []string{"n"}, Options: &pb.RunOptions{DebugOptions: &pb.DebugOptions{GlobalStep: 1}}}
		if _, err := m.RunStep(t.Context(), step); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"ConfigProto.placement_period", "RunOptions.debug_options"} {
		if n := strings.Count(log.String(), name); n != 1 {
			t.Errorf("%s is logged %d times, want once: %s", name, n, log.String())
		}
	}
	if strings.Contains(log.String(), "soft_placement") {
		t.Errorf("an option that is served is logged: %s", log.String())
	}
}
