package worker

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// adder is x + y, and a variable v that starts as 1.
func adder() *tf.Graph {
	g := tf.NewGraph(tf.Strict())
	x := ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name("x"))
	y := ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name("y"), tf.OnDevice(task+"/device:CPU:1"))
	ops.AddV2(x, y, tf.Name("sum"), tf.OnDevice(task+"/device:CPU:1"))
	tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "v"})
	tf.Apply(g, "TestWait", nil, tf.Name("wait"))
	return g
}

func TestRunGraph(t *testing.T) {
	w := newWorker(t)
	s := openSession(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "s"})
	h := s.register(adder(), pass.Signature{Feeds: []string{"x:0", "y:0"}, Fetches: []string{"sum:0"}})
	for i := range 3 {
		got, err := s.run(h, map[string]*core.Tensor{"x:0": core.Scalar(float32(i)), "y:0": core.Scalar[float32](10)}, "sum:0")
		if err != nil {
			t.Fatal(err)
		}
		if want := float32(10 + i); got[0] != want {
			t.Errorf("%d + 10 = %v, want %v", i, got[0], want)
		}
	}
	if n := w.env.Rendezvous.Len(); n != 0 {
		t.Errorf("%d steps are known after all have been cleaned up", n)
	}
}

func TestRunGraphRefuses(t *testing.T) {
	w := newWorker(t)
	s := openSession(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "s"})
	h := s.register(adder(), pass.Signature{Feeds: []string{"x:0", "y:0"}, Fetches: []string{"sum:0"}})
	feeds := map[string]*core.Tensor{"x:0": core.Scalar[float32](1), "y:0": core.Scalar[float32](2)}
	twice := s.request(h, feeds, "sum:0")
	if _, err := w.RunGraph(t.Context(), twice); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		edit func(*pb.RunGraphRequest)
		code core.Code
		text string
	}{
		"the same request":        {func(r *pb.RunGraphRequest) { r.RequestId = twice.RequestId }, core.Aborted, "The same RunGraph (Worker) request was received twice."},
		"another session":         {func(r *pb.RunGraphRequest) { r.SessionHandle = "q" }, core.Aborted, `Session handle is not found: q. Possibly this worker ("` + task + `") just restarted.`},
		"another graph":           {func(r *pb.RunGraphRequest) { r.GraphHandle = "77" }, core.Aborted, "Graph handle is not found: 77"},
		"a feed that is none":     {func(r *pb.RunGraphRequest) { r.Send[0].Tensor = &pb.TensorProto{Dtype: 99} }, core.InvalidArgument, "Invalid TensorProto for feed value 0: " + cpu},
		"a feed of another task":  {func(r *pb.RunGraphRequest) { r.Send[0].Name = strings.ReplaceAll(r.Send[0].Name, "task:0", "task:1") }, core.InvalidArgument, "Invalid rendezvous key (src)"},
		"a fetch that nobody has": {func(r *pb.RunGraphRequest) { r.RecvKey[0] = w.key("other:0") }, core.Internal, "it does not send " + cpu},
	} {
		t.Run(name, func(t *testing.T) {
			req := s.request(h, feeds, "sum:0")
			c.edit(req)
			_, err := w.RunGraph(t.Context(), req)
			if core.CodeOf(err) != c.code || !strings.Contains(core.AsError(err).Message(), c.text) {
				t.Errorf("RunGraph = %v, want %v: ...%s...", err, c.code, c.text)
			}
		})
	}
}

func TestRegisterGraphRefuses(t *testing.T) {
	w := newWorker(t)
	openSession(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "s"})
	node := func(op, device string) *pb.GraphDef {
		return &pb.GraphDef{Node: []*pb.NodeDef{{Name: "n", Op: op, Device: device}}}
	}
	for name, c := range map[string]struct {
		def  *pb.GraphDef
		code core.Code
	}{
		"no nodes":         {&pb.GraphDef{}, core.InvalidArgument},
		"unknown op":       {node("NoSuchOp", cpu), core.NotFound},
		"another task":     {node("NoOp", "/job:worker/replica:0/task:1/device:CPU:0"), core.InvalidArgument},
		"not placed":       {node("NoOp", ""), core.InvalidArgument},
		"missing attr":     {node("Placeholder", cpu), core.InvalidArgument},
		"a missing device": {node("NoOp", task+"/device:CPU:2"), core.InvalidArgument},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.RegisterGraph(t.Context(), &pb.RegisterGraphRequest{SessionHandle: "s", CreateWorkerSessionCalled: true, GraphDef: c.def})
			if core.CodeOf(err) != c.code {
				t.Errorf("RegisterGraph = %v, want %v", err, c.code)
			}
		})
	}
}

// A step whose caller goes away ends, and so does what other tasks wait for.
func TestCancelledStepEnds(t *testing.T) {
	w := newWorker(t)
	s := openSession(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "s"})
	h := s.register(adder(), pass.Signature{Targets: []string{"wait"}})
	req := s.request(h, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { _, err := w.RunGraph(ctx, req); ended <- err }()
	<-started
	peer := make(chan error, 1)
	// Before the cancellation: a receive that came after it would be taken for
	// one of a step that is yet to run.
	w.env.Rendezvous.RecvLocal(context.Background(), req.StepId, keyTo("/job:worker/replica:0/task:1", w, "edge"),
		func(_ *core.Tensor, _ bool, err error) { peer <- err })
	cancel()
	if err := <-ended; core.CodeOf(err) != core.Canceled {
		t.Errorf("cancelled step = %v, want a Canceled error", err)
	}
	if err := <-peer; core.CodeOf(err) != core.Canceled {
		t.Errorf("what another task wanted of it = %v, want a Canceled error", err)
	}
}

// keyTo is the key of what this worker sends to another task.
func keyTo(other string, w *Worker, edge string) string {
	return rendezvous.Key{Src: cpu, SrcIncarnation: w.client().Incarnation, Dst: other + "/device:CPU:0", Edge: edge}.String()
}

// Close ends steps with an error that tells clients to try elsewhere.
func TestCloseEndsSteps(t *testing.T) {
	w := newWorker(t)
	s := openSession(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "s"})
	h := s.register(adder(), pass.Signature{Targets: []string{"wait"}})
	ended := make(chan error, 1)
	go func() { _, err := w.RunGraph(context.Background(), s.request(h, nil)); ended <- err }()
	<-started
	w.Close()
	if err := <-ended; core.CodeOf(err) != core.Unavailable {
		t.Errorf("step = %v, want an Unavailable error", err)
	}
	_, err := w.RunGraph(context.Background(), s.request(h, nil))
	if core.CodeOf(err) != core.Unavailable {
		t.Errorf("a step afterwards = %v, want an Unavailable error", err)
	}
	if _, err := w.CreateWorkerSession(t.Context(), &pb.CreateWorkerSessionRequest{SessionHandle: "t"}); core.CodeOf(err) != core.Unavailable {
		t.Errorf("a session afterwards = %v, want an Unavailable error", err)
	}
}

func TestRecvTensor(t *testing.T) {
	w := newWorker(t)
	const other = "/job:worker/replica:0/task:1"
	r := w.env.Rendezvous.Find(5)
	if err := r.Initialize(&w.legacy.rdv); err != nil {
		t.Fatal(err)
	}
	key := keyTo(other, w, "edge")
	if err := r.Send(key, core.Scalar[float32](7), false); err != nil {
		t.Fatal(err)
	}
	v, err := w.RecvTensor(t.Context(), &pb.RecvTensorRequest{StepId: 5, RendezvousKey: key, RequestId: 1})
	if err != nil || v.Dead || core.Data[float32](v.Tensor)[0] != 7 || time.Since(v.Start) > time.Minute {
		t.Errorf("RecvTensor = %+v, %v, want 7", v, err)
	}
	old := rendezvous.Key{Src: cpu, SrcIncarnation: 12, Dst: other + "/device:CPU:0", Edge: "e"}.String()
	for name, c := range map[string]struct {
		req  *pb.RecvTensorRequest
		code core.Code
		text string
	}{
		"the same request":      {&pb.RecvTensorRequest{StepId: 5, RendezvousKey: key, RequestId: 1}, core.Aborted, "The same RecvTensor (GrpcWorker) request was received twice."},
		"no key":                {&pb.RecvTensorRequest{StepId: 5, RendezvousKey: "a;b"}, core.InvalidArgument, "rendezvous key"},
		"a device of others":    {&pb.RecvTensorRequest{RendezvousKey: strings.Replace(key, "CPU:0", "CPU:9", 1)}, core.InvalidArgument, "unknown device"},
		"a device's other life": {&pb.RecvTensorRequest{RendezvousKey: old}, core.Aborted, "RecvTensor expects a different device incarnation: 12 vs. "},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.RecvTensor(t.Context(), c.req)
			if core.CodeOf(err) != c.code || !strings.Contains(core.AsError(err).Message(), c.text) {
				t.Errorf("RecvTensor = %v, want %v: ...%s...", err, c.code, c.text)
			}
		})
	}
}

// What another task asks for before this one runs the step waits for it.
func TestRecvTensorBeforeRunGraph(t *testing.T) {
	w := newWorker(t)
	key := keyTo("/job:worker/replica:0/task:1", w, "edge")
	got := make(chan Received, 1)
	go func() {
		v, err := w.RecvTensor(context.Background(), &pb.RecvTensorRequest{StepId: 9, RendezvousKey: key})
		if err != nil {
			t.Error(err)
		}
		got <- v
	}()
	for w.env.Rendezvous.Len() == 0 { // until it is parked
		runtime.Gosched()
	}
	r := w.env.Rendezvous.Find(9)
	if err := errors.Join(r.Initialize(&w.legacy.rdv), r.Send(key, core.Scalar[float32](3), false)); err != nil {
		t.Fatal(err)
	}
	if v := <-got; core.Data[float32](v.Tensor)[0] != 3 {
		t.Errorf("received %v, want 3", v.Tensor)
	}
}

// A master that has given up on a step may have it cleaned up before the worker
// hears that it begins. Nothing stays of it then.
func TestStepsThatBeginTooLateLeaveNothing(t *testing.T) {
	w := newWorker(t)
	s := openSession(t, w, &pb.CreateWorkerSessionRequest{SessionHandle: "s"})
	h := s.register(adder(), pass.Signature{Feeds: []string{"x:0", "y:0"}, Fetches: []string{"sum:0"}})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, edit := range map[string]func(*pb.RunGraphRequest){
		"that fails":     func(r *pb.RunGraphRequest) { r.Send = r.Send[:1] },
		"that succeeds":  func(*pb.RunGraphRequest) {},
		"of pieces":      func(r *pb.RunGraphRequest) { r.IsPartial, r.Send = true, r.Send[:1] },
		"of pieces, all": func(r *pb.RunGraphRequest) { r.IsPartial, r.IsLastPartialRun = true, true },
	} {
		req := s.request(h, map[string]*core.Tensor{"x:0": core.Scalar[float32](1), "y:0": core.Scalar[float32](2)}, "sum:0")
		edit(req)
		if _, err := w.CleanupGraph(t.Context(), &pb.CleanupGraphRequest{StepId: req.GetStepId()}); err != nil {
			t.Fatal(err)
		}
		w.RunGraph(ended, req)
		w.mu.Lock()
		steps, partial := len(w.steps), len(w.partial)
		w.mu.Unlock()
		if n := w.env.Rendezvous.Len(); n != 0 || steps != 0 || partial != 0 {
			t.Errorf("a step %s leaves %d rendezvous, %d steps and %d of pieces", name, n, steps, partial)
		}
	}
}
