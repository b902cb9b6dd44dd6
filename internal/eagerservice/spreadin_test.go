package eagerservice

import (
	"context"
	"testing"

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
	f, with := define(t, "away", func(x tf.Output) (y tf.Output) {
		x.Graph().Device(chief, func() { y = x.Add(x) })
		return y
	})
	if _, err := c.enqueue(registering(f, with, false)); err != nil {
		t.Fatal(err)
	}
	op := c.callOf(f, floats(1))
	op.Id = notKept
	_, err := c.enqueue(item(op))
	wantError(t, err, core.Internal, "has kept result 0")
}
