package eagerservice

import (
	"context"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/device/fake"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/worker"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

// packed sends values that stand for one.
func (c *client) packed(all ...*core.Tensor) *pb.RemoteTensorHandle {
	c.t.Helper()
	h := make([]*pb.SendPackedHandleOp_Handle, len(all))
	for i, x := range all {
		h[i] = &pb.SendPackedHandleOp_Handle{Item: &pb.SendPackedHandleOp_Handle_LocalHandle{LocalHandle: &pb.SendPackedHandleOp_LocalTensorHandle{
			Tensor: core.TensorProto(x), Device: []string{cpu, second}[i],
		}}}
	}
	p := packing(h...)
	c.op++
	p.GetSendPackedHandle().OpId = c.op
	if _, err := c.enqueue(p); err != nil {
		c.t.Fatal(err)
	}
	return handle{int(c.op), 0}.proto()
}

// TestDeadResult: a result that no branch has given is an error also where a function may
// run in several tasks.
func TestDeadResult(t *testing.T) {
	c := newClient(t, newService(t), 7)
	f, with := define(t, "dead", func(x tf.Output) tf.Output {
		return tf.Apply(x.Graph(), "Switch", []tf.Output{x, ops.Greater(x.Sum(), ops.Scalar(x.Graph(), float32(0)))}).Output(1)
	})
	if _, err := c.enqueue(registering(f, with, false)); err != nil {
		t.Fatal(err)
	}
	for _, in := range []any{floats(-1), c.packed(floats(-1))} {
		_, err := c.enqueue(item(c.callOf(f, in)))
		wantError(t, err, core.Internal, "Retval[0] does not have value")
	}
}

// A keeper is a neighbor that keeps all results.
type keeper struct{ neighbor }

func (k keeper) Peer(string) (Peer, error) { return k, nil }

func (k keeper) RunComponentFunction(context.Context, *pb.RunComponentFunctionRequest) (*pb.RunComponentFunctionResponse, error) {
	return &pb.RunComponentFunctionResponse{Shape: []*pb.TensorShapeProto{{}}}, nil
}

// TestKeptElsewhere: another task that keeps results which the caller wants with the
// answer has made a mistake.
func TestKeptElsewhere(t *testing.T) {
	s, n := newNeighborhood(t)
	close(n.release)
	s.env.Connect = func(*pb.ClusterDef) (Peers, error) {
		n.open.Add(1)
		return keeper{n}, nil
	}
	if _, err := s.CreateContext(t.Context(), inCluster(7)); err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, s: s, id: 7}
	f, with := defineAway(t)
	if _, err := c.enqueue(registering(f, with, false)); err != nil {
		t.Fatal(err)
	}
	op := c.callOf(f, floats(1))
	op.Id = notKept
	_, err := c.enqueue(item(op))
	wantError(t, err, core.Internal, "has kept result 0")
}

// TestPackedOnDevices: a value that comes for a device is in the memory of that device.
func TestPackedOnDevices(t *testing.T) {
	s, spec := withFake(t)
	if _, err := s.CreateContext(t.Context(), creation(7)); err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, s: s, id: 7}
	f, with := define(t, "neg", func(x tf.Output) tf.Output { return x.Neg() })
	p := packing(packed(floats(3)))
	p.GetSendPackedHandle().Handles[0].GetLocalHandle().Device = spec
	op := c.callOf(f, handle{500, 0})
	op.Device = spec
	if _, err := c.enqueue(registering(f, with, false), p, item(op)); err != nil {
		t.Fatal(err)
	}
	c.wantFloats(handle{int(op.GetId()), 0}, -3)
}

// TestAnswerOnDevices: so is a result that another task has given for it.
func TestAnswerOnDevices(t *testing.T) {
	s, spec := withFake(t)
	s.env.Connect = func(*pb.ClusterDef) (Peers, error) { return giver{}, nil }
	if _, err := s.CreateContext(t.Context(), creation(7)); err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, s: s, id: 7}
	f, with := defineAway(t)
	op := c.callOf(f, floats(1))
	op.Device, op.Id = spec, notKept
	resp, err := c.enqueue(registering(f, with, false), item(op))
	if err != nil {
		t.Fatal(err)
	}
	all := resp.GetQueueResponse()[1].GetTensor()
	if len(all) != 1 {
		t.Fatalf("the call gives %d results", len(all))
	}
	if got, err := core.TensorFromProto(all[0]); err != nil || core.Data[float32](got)[0] != 5 {
		t.Errorf("the call gives %v, %v, want 5", got, err)
	}
}

// A giver is another task that gives its results with the answer.
type giver struct{}

func (g giver) Peer(string) (Peer, error) { return g, nil }
func (giver) Close()                      {}

func (giver) Enqueue(context.Context, *pb.EnqueueRequest) (*pb.EnqueueResponse, error) {
	return &pb.EnqueueResponse{}, nil
}

func (giver) RunComponentFunction(context.Context, *pb.RunComponentFunctionRequest) (*pb.RunComponentFunctionResponse, error) {
	return &pb.RunComponentFunctionResponse{Tensor: []*pb.TensorProto{core.TensorProto(core.Scalar(float32(5)))}}, nil
}

// withFake returns a service with a device whose memory the host does not see, and that
// device's name.
func withFake(t *testing.T) (*Service, string) {
	t.Helper()
	spec, err := core.ParseDevice(task + "/device:FAKE:0")
	if err != nil {
		t.Fatal(err)
	}
	devices := device.NewSet(append(device.CPUs("worker", 0, 1).List(), fake.New(spec))...)
	w := worker.New(worker.Env{Task: task, Devices: devices, Rendezvous: rendezvous.NewManager(0)})
	s := New(Env{Worker: w})
	t.Cleanup(func() {
		s.Close()
		w.Close()
	})
	return s, spec.String()
}

// TestPackedControl: a node may wait for a packed argument without reading it.
func TestPackedControl(t *testing.T) {
	c := newClient(t, newService(t), 7)
	f, with := define(t, "waits", func(x tf.Output) tf.Output { return ops.Const(x.Graph(), []float32{3}, 1).Neg() })
	f = proto.CloneOf(f)
	for _, n := range f.GetNodeDef() {
		n.Input = append(n.Input, "^"+f.GetSignature().GetInputArg()[0].GetName())
	}
	call := c.callOf(f, c.packed(floats(1), floats(2)))
	if _, err := c.enqueue(registering(f, with, false), item(call)); err != nil {
		t.Fatal(err)
	}
	c.wantFloats(handle{int(call.GetId()), 0}, -3)
}
