package worker

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/graph/source"
	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const (
	task = "/job:worker/replica:0/task:0"
	cpu  = task + "/device:CPU:0"
)

func init() {
	core.Register(core.OpDef{
		Name: "TestWait", Out: "never: float", Stateful: true, NoGrad: core.NotDifferentiable,
		Shape: func(*core.Infer) error { return nil }, Kernels: core.AnyType(waiting),
	})
}

// started hears of each node that begins to wait.
var started = make(chan struct{}, 16)

// waiting is the kernel of an op that waits until its step is cancelled.
func waiting(*core.Node) (core.Kernel, error) {
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		started <- struct{}{}
		context.AfterFunc(c.StepContext(), func() { done(&core.Error{Code: core.Canceled, Msg: "no more waiting", Derived: true}) })
	}), nil
}

// newWorker returns a worker with two CPUs.
func newWorker(t testing.TB) *Worker {
	t.Helper()
	w := New(Env{Task: task, Devices: device.CPUs("worker", 0, 2), Rendezvous: rendezvous.NewManager(0)})
	t.Cleanup(w.Close)
	return w
}

// A session is what a test has at a worker.
type testSession struct {
	t      testing.TB
	w      *Worker
	handle string
	step   int64
}

func openSession(t testing.TB, w *Worker, req *pb.CreateWorkerSessionRequest) *testSession {
	t.Helper()
	if _, err := w.CreateWorkerSession(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	return &testSession{t: t, w: w, handle: req.GetSessionHandle()}
}

// client describes feeds and fetches at the worker's first device.
func (w *Worker) client() pass.Terminals {
	d := w.env.Devices.Client()
	return pass.Terminals{ClientDevice: cpu, Incarnation: d.Incarnation()}
}

// definition returns the part of g that a signature needs, placed as its nodes
// ask or else on the first device.
func definition(t testing.TB, w *Worker, g *tf.Graph, s pass.Signature) *pb.GraphDef {
	t.Helper()
	all := source.Graph(g.Operations(), nil, core.ProducerVersion)
	for _, n := range all.Nodes {
		if n.Device == "" {
			n.Device = cpu
		}
	}
	part, err := pass.ClientGraph(all, s, w.client())
	if err != nil {
		t.Fatal(err)
	}
	def, err := part.Proto()
	if err != nil {
		t.Fatal(err)
	}
	return def
}

// register registers what a signature needs of g.
func (s *testSession) register(g *tf.Graph, sig pass.Signature) string {
	s.t.Helper()
	resp, err := s.w.RegisterGraph(s.t.Context(), &pb.RegisterGraphRequest{
		SessionHandle: s.handle, CreateWorkerSessionCalled: true, GraphDef: definition(s.t, s.w, g, sig),
	})
	if err != nil {
		s.t.Fatalf("RegisterGraph: %v", err)
	}
	return resp.GetGraphHandle()
}

// key is the rendezvous key of a tensor that a client feeds or fetches.
func (w *Worker) key(tensor string) string {
	return rendezvous.Key{Src: cpu, SrcIncarnation: w.client().Incarnation, Dst: cpu, Edge: tensor}.String()
}

// request returns a request to run a graph in a new step.
func (s *testSession) request(graph string, feeds map[string]*core.Tensor, fetches ...string) *pb.RunGraphRequest {
	s.step++
	req := &pb.RunGraphRequest{SessionHandle: s.handle, CreateWorkerSessionCalled: true, GraphHandle: graph, StepId: s.step, RequestId: requestid.New()}
	for name, t := range feeds {
		req.Send = append(req.Send, &pb.NamedTensorProto{Name: s.w.key(name), Tensor: core.TensorProto(t)})
	}
	for _, f := range fetches {
		req.RecvKey = append(req.RecvKey, s.w.key(f))
	}
	return req
}

// run runs a step and returns the values of its fetches, which are float
// scalars.
func (s *testSession) run(graph string, feeds map[string]*core.Tensor, fetches ...string) ([]float32, error) {
	s.t.Helper()
	req := s.request(graph, feeds, fetches...)
	resp, err := s.w.RunGraph(s.t.Context(), req)
	if err != nil {
		return nil, err
	}
	if _, err := s.w.CleanupGraph(s.t.Context(), &pb.CleanupGraphRequest{StepId: req.GetStepId()}); err != nil {
		s.t.Fatal(err)
	}
	out := make([]float32, len(resp.GetRecv()))
	for i, r := range resp.GetRecv() {
		v, err := core.TensorFromProto(r.GetTensor())
		if err != nil || r.GetName() != s.w.key(fetches[i]) {
			s.t.Fatalf("result %d is %q, %v; want %q", i, r.GetName(), err, s.w.key(fetches[i]))
		}
		out[i] = core.Data[float32](v)[0]
	}
	return out, nil
}
