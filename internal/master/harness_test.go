package master_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/master"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/requestid"
	"github.com/gorge-tf/gorge/internal/worker"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

const (
	ps0     = "/job:ps/replica:0/task:0"
	worker0 = "/job:worker/replica:0/task:0"
	worker1 = "/job:worker/replica:0/task:1"
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

// A cluster is several tasks in this process. What they send to each other goes
// through no network, but messages are copied as a network would.
type cluster struct {
	t       testing.TB
	tasks   []string
	workers map[string]*worker.Worker
	wrap    func(task string, w master.Worker) master.Worker // what masters see; nil: the worker itself
	between rendezvous.Transport                             // what workers see of each other
}

func newCluster(t testing.TB, tasks ...string) *cluster {
	return newClusterOver(t, func(t rendezvous.Transport) rendezvous.Transport { return t }, tasks...)
}

// newClusterOver starts a cluster whose tasks reach each other over what a
// function makes of the transport.
func newClusterOver(t testing.TB, over func(rendezvous.Transport) rendezvous.Transport, tasks ...string) *cluster {
	c := &cluster{t: t, tasks: tasks, workers: map[string]*worker.Worker{}}
	c.between = over(c)
	for _, task := range tasks {
		c.workers[task] = c.start(task)
	}
	t.Cleanup(func() {
		for _, w := range c.workers {
			w.Close()
		}
	})
	return c
}

// start starts a worker, or another life of one.
func (c *cluster) start(task string) *worker.Worker {
	spec, err := core.ParseDevice(task)
	if err != nil {
		c.t.Fatal(err)
	}
	return worker.New(worker.Env{
		Task: task, Devices: device.CPUs(spec.Job, spec.Task, 1), Rendezvous: rendezvous.NewManager(0), Transport: c.between,
	})
}

// Recv makes the cluster a transport.
func (c *cluster) Recv(ctx context.Context, task string, step int64, key string, _ rendezvous.Alloc, done func(rendezvous.Result)) {
	go func() {
		r, err := c.workers[task].RecvTensor(ctx, &pb.RecvTensorRequest{StepId: step, RendezvousKey: key, RequestId: requestid.New()})
		done(rendezvous.Result{Tensor: r.Tensor, Dead: r.Dead, Err: err})
	}()
}

// Tasks and Worker make the cluster known to masters.
func (c *cluster) Tasks() []string { return c.tasks }

func (c *cluster) Worker(task string) (master.Worker, error) {
	w := c.workers[task]
	if w == nil {
		return nil, fmt.Errorf("no worker for task %s", task)
	}
	if c.wrap != nil {
		return c.wrap(task, w), nil
	}
	return w, nil
}

// master returns a master in the task of a worker.
func (c *cluster) master(task string, edit ...func(*master.Env)) *master.Master {
	spec, _ := core.ParseDevice(task)
	env := master.Env{Task: task, Devices: c.devicesOf(task, spec), Workers: c}
	for _, e := range edit {
		e(&env)
	}
	m := master.New(env)
	c.t.Cleanup(m.Close)
	return m
}

// devicesOf returns devices that have the names and incarnations of a worker's.
func (c *cluster) devicesOf(task string, spec core.DeviceSpec) *device.Set {
	status, err := c.workers[task].GetStatus(context.Background(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	var list []core.Device
	for i, d := range status.DeviceAttributes {
		spec.Type, spec.ID = "CPU", i
		list = append(list, known{device.NewCPU(spec), d.Incarnation})
	}
	return device.NewSet(list...)
}

// known is a device of which a test knows the incarnation.
type known struct {
	core.Device
	incarnation uint64
}

func (d known) Incarnation() uint64 { return d.incarnation }

// A client is a session on a master.
type client struct {
	t       testing.TB
	m       *master.Master
	handle  string
	version int64
}

// connect opens a session.
func connect(t testing.TB, m *master.Master, g *tf.Graph, cfg *pb.ConfigProto) *client {
	t.Helper()
	resp, err := m.CreateSession(t.Context(), &pb.CreateSessionRequest{GraphDef: graphDef(t, g, 0), Config: cfg})
	if err != nil {
		t.Fatalf("CreateSession: %v", err)
	}
	return &client{t: t, m: m, handle: resp.GetSessionHandle(), version: resp.GetGraphVersion()}
}

func graphDef(t testing.TB, g *tf.Graph, from int) *pb.GraphDef {
	t.Helper()
	def, err := g.GraphProto(from)
	if err != nil {
		t.Fatal(err)
	}
	return proto.Clone(def).(*pb.GraphDef)
}

type feeds map[string]*core.Tensor

// run runs a step; it returns the fetches in the order of their names.
func (c *client) run(f feeds, fetches []string, targets ...string) ([]*core.Tensor, error) {
	c.t.Helper()
	resp, err := c.m.RunStep(context.Background(), c.request(f, fetches, targets...))
	if err != nil {
		return nil, err
	}
	out := make([]*core.Tensor, len(fetches))
	for _, x := range resp.GetTensor() {
		i := slices.Index(fetches, x.GetName())
		if i < 0 {
			c.t.Fatalf("RunStep returned %q, which was not asked for", x.GetName())
		}
		if out[i], err = core.TensorFromProto(x.GetTensor()); err != nil {
			c.t.Fatal(err)
		}
	}
	return out, nil
}

func (c *client) request(f feeds, fetches []string, targets ...string) *pb.RunStepRequest {
	req := &pb.RunStepRequest{SessionHandle: c.handle, Fetch: fetches, Target: targets, RequestId: requestid.New()}
	for name, t := range f {
		req.Feed = append(req.Feed, &pb.NamedTensorProto{Name: name, Tensor: core.TensorProto(t)})
	}
	return req
}

// value runs a step that fetches one float scalar.
func (c *client) value(fetch string, f feeds) float32 {
	c.t.Helper()
	out, err := c.run(f, []string{fetch})
	if err != nil {
		c.t.Fatalf("fetching %s: %v", fetch, err)
	}
	return core.Data[float32](out[0])[0]
}

func (c *client) must(targets ...string) {
	c.t.Helper()
	if _, err := c.run(nil, nil, targets...); err != nil {
		c.t.Fatalf("running %v: %v", targets, err)
	}
}
