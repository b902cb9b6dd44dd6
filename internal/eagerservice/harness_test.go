package eagerservice

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/worker"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const (
	task   = "/job:worker/replica:0/task:0"
	cpu    = task + "/device:CPU:0"
	second = task + "/device:CPU:1"
	chief  = "/job:chief/replica:0/task:0/device:CPU:0" // of another task
)

func init() {
	core.Register(core.OpDef{
		Name: "TestWait", Out: "never: float", Stateful: true, NoGrad: core.NotDifferentiable,
		Shape: func(*core.Infer) error { return nil }, Kernels: core.AnyType(waiting),
	})
	core.Register(core.OpDef{
		Name: "TestPanic", Out: "never: float", Stateful: true, NoGrad: core.NotDifferentiable,
		Shape: func(*core.Infer) error { return nil },
		Kernels: core.AnyType(func(*core.Node) (core.Kernel, error) {
			return core.Compute(func(*core.OpContext) error { panic("on purpose") }), nil
		}),
	})
}

// started hears of each node that begins to wait.
var started = make(chan struct{}, 16)

// waiting is the kernel of an op that waits until it is cancelled.
func waiting(*core.Node) (core.Kernel, error) {
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		started <- struct{}{}
		context.AfterFunc(c.StepContext(), func() { done(context.Cause(c.StepContext())) })
	}), nil
}

func newService(t testing.TB) *Service {
	t.Helper()
	w := worker.New(worker.Env{Task: task, Devices: device.CPUs("worker", 0, 2), Rendezvous: rendezvous.NewManager(0)})
	s := New(Env{Worker: w, Client: func(ctx context.Context) string { c, _ := ctx.Value(clientKey{}).(string); return c }})
	t.Cleanup(func() {
		s.Close()
		w.Close()
	})
	return s
}

// clientKey is the key of the client's name in a call's context.
type clientKey struct{}

// A client is what a test has at a service.
type client struct {
	t  testing.TB
	s  *Service
	id uint64
	op int64 // number of the last operation
}

func newClient(t testing.TB, s *Service, id uint64) *client {
	t.Helper()
	c := &client{t: t, s: s, id: id}
	resp, err := s.CreateContext(t.Context(), c.creation())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range resp.GetDeviceAttributes() {
		names = append(names, d.GetName())
	}
	if !slices.Equal(names, []string{cpu, second}) {
		t.Fatalf("the devices of a context are %q", names)
	}
	return c
}

func (c *client) creation() *pb.CreateContextRequest { return creation(c.id) }

func creation(id uint64) *pb.CreateContextRequest {
	return &pb.CreateContextRequest{
		ContextId: id, ContextViewId: 1, ClusterDeviceAttributes: []*pb.DeviceAttributes{{Name: cpu}, {Name: second}, {Name: chief}},
	}
}

func (c *client) enqueue(items ...*pb.QueueItem) (*pb.EnqueueResponse, error) {
	return c.s.Enqueue(c.t.Context(), &pb.EnqueueRequest{ContextId: c.id, Queue: items})
}

// a handle is one output of an operation.
type handle struct{ op, output int }

func (h handle) proto() *pb.RemoteTensorHandle {
	return &pb.RemoteTensorHandle{OpId: int64(h.op), OutputNum: int32(h.output), Device: cpu, OpDevice: cpu}
}

// operation describes one whose inputs are handles or tensors.
func (c *client) operation(op string, attrs core.Attrs, in ...any) *pb.Operation {
	c.t.Helper()
	c.op++
	out := &pb.Operation{Id: c.op, Name: op, Device: cpu, Attrs: map[string]*pb.AttrValue{}}
	for k, v := range attrs {
		p, err := core.AttrProto(v)
		if err != nil {
			c.t.Fatal(err)
		}
		out.Attrs[k] = p
	}
	for _, x := range in {
		switch x := x.(type) {
		case handle:
			out.OpInputs = append(out.OpInputs, remote(x.proto()))
		case *pb.RemoteTensorHandle:
			out.OpInputs = append(out.OpInputs, remote(x))
		case *core.Tensor:
			out.OpInputs = append(out.OpInputs, &pb.Operation_Input{Item: &pb.Operation_Input_Tensor{Tensor: core.TensorProto(x)}})
		}
	}
	return out
}

func remote(h *pb.RemoteTensorHandle) *pb.Operation_Input {
	return &pb.Operation_Input{Item: &pb.Operation_Input_RemoteHandle{RemoteHandle: h}}
}

func item(op *pb.Operation) *pb.QueueItem {
	return &pb.QueueItem{Item: &pb.QueueItem_Operation{Operation: op}}
}

// do runs an operation and returns its first output.
func (c *client) do(op string, attrs core.Attrs, in ...any) handle {
	c.t.Helper()
	if _, err := c.enqueue(item(c.operation(op, attrs, in...))); err != nil {
		c.t.Fatalf("%s: %v", op, err)
	}
	return handle{int(c.op), 0}
}

// fails runs an operation that has to fail.
func (c *client) fails(code core.Code, text, op string, attrs core.Attrs, in ...any) {
	c.t.Helper()
	_, err := c.enqueue(item(c.operation(op, attrs, in...)))
	wantError(c.t, err, code, text)
}

func wantError(t testing.TB, err error, code core.Code, text string) {
	t.Helper()
	if core.CodeOf(err) != code || !strings.Contains(core.AsError(err).WireMessage(), text) {
		t.Errorf("error %v, want %v with %q", err, code, text)
	}
}

// send gives a tensor to the service.
func (c *client) send(x *core.Tensor) handle {
	c.t.Helper()
	c.op++
	if _, err := c.enqueue(sending(c.op, cpu, x)); err != nil {
		c.t.Fatal(err)
	}
	return handle{int(c.op), 0}
}

func sending(op int64, device string, x *core.Tensor) *pb.QueueItem {
	return &pb.QueueItem{Item: &pb.QueueItem_SendTensor{SendTensor: &pb.SendTensorOp{OpId: op, DeviceName: device, Tensors: []*pb.TensorProto{core.TensorProto(x)}}}}
}

// contextOf returns a context of a service that others may be using.
func contextOf(s *Service, id uint64) *Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.contexts[id]
}

// fetch returns a value as clients get it: an operation without a number answers
// with its outputs.
func (c *client) fetch(h handle) *core.Tensor {
	c.t.Helper()
	v, err := contextOf(c.s, c.id).handles.get(name{int64(h.op), int32(h.output)})
	if err != nil {
		c.t.Fatal(err)
	}
	op := c.operation("Identity", core.Attrs{"T": v.tensor.DType()}, h)
	op.Id = notKept
	resp, err := c.enqueue(item(op))
	if err != nil {
		c.t.Fatal(err)
	}
	got, err := core.TensorFromProto(resp.GetQueueResponse()[0].GetTensor()[0])
	if err != nil {
		c.t.Fatal(err)
	}
	return got
}

func (c *client) wantFloats(h handle, want ...float32) {
	c.t.Helper()
	if got := core.Data[float32](c.fetch(h)); !slices.Equal(got, want) {
		c.t.Errorf("operation %d gives %v, want %v", h.op, got, want)
	}
}

func floats(v ...float32) *core.Tensor {
	t := core.NewTensor(core.Float32, core.Shape{len(v)})
	copy(core.Data[float32](t), v)
	return t
}
