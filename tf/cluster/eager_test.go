package cluster_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

const eagerPath = "/tensorflow.eager.EagerService/"

// eagerClient speaks to a server as TensorFlow 2's programs do.
type eagerClient struct {
	t  *testing.T
	cc *grpc.ClientConn
}

func dialEager(t *testing.T, target string) *eagerClient {
	t.Helper()
	cc, err := grpc.NewClient("dns:///"+target[len("grpc://"):], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cc.Close() })
	return &eagerClient{t, cc}
}

func (c *eagerClient) call(method string, req, resp any) {
	c.t.Helper()
	if err := c.cc.Invoke(c.t.Context(), eagerPath+method, req, resp); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

// open opens a context in a cluster in which the server has another name.
func (c *eagerClient) open(id uint64, target string) {
	c.t.Helper()
	resp := &pb.CreateContextResponse{}
	c.call("CreateContext", creation(id, target), resp)
	if d := resp.GetDeviceAttributes(); len(d) != 1 || d[0].GetName() != workerCPU {
		c.t.Fatalf("devices of the context: %v", d)
	}
}

func creation(id uint64, target string) *pb.CreateContextRequest {
	return &pb.CreateContextRequest{ContextId: id, ServerDef: &pb.ServerDef{
		JobName: "worker", Cluster: &pb.ClusterDef{Job: []*pb.JobDef{{Name: "worker", Tasks: map[int32]string{0: target[len("grpc://"):]}}}},
	}}
}

const workerCPU = "/job:worker/replica:0/task:0/device:CPU:0"

// stream opens a stream of requests, which ends with ctx.
func (c *eagerClient) stream(ctx context.Context) grpc.ClientStream {
	c.t.Helper()
	s, err := c.cc.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, eagerPath+"StreamingEnqueue")
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

func addition(id int64, x, y *tf.Tensor) *pb.EnqueueRequest {
	op := &pb.Operation{Id: id, Name: "AddV2", Device: workerCPU, Attrs: map[string]*pb.AttrValue{"T": {Value: &pb.AttrValue_Type{Type: pb.DataType_DT_FLOAT}}}}
	for _, t := range []*tf.Tensor{x, y} {
		op.OpInputs = append(op.OpInputs, &pb.Operation_Input{Item: &pb.Operation_Input_Tensor{Tensor: core.TensorProto((*core.Tensor)(t))}})
	}
	return &pb.EnqueueRequest{ContextId: 5, Queue: []*pb.QueueItem{{Item: &pb.QueueItem_Operation{Operation: op}}}}
}

// TestEagerClientClearsItsOwn: of two connections one asks for a task without
// contexts; the other's goes on.
func TestEagerClientClearsItsOwn(t *testing.T) {
	r := start(t, map[string]int{"localhost": 1})
	target := r.servers["localhost:0"].Target()
	one, other := dialEager(t, target), dialEager(t, target)
	one.open(5, target)
	other.open(6, target)
	again := creation(7, target)
	again.ClearExistingContexts = true
	one.call("CreateContext", again, &pb.CreateContextResponse{})
	other.call("KeepAlive", &pb.KeepAliveRequest{ContextId: 6}, &pb.KeepAliveResponse{})
	if err := one.cc.Invoke(t.Context(), eagerPath+"KeepAlive", &pb.KeepAliveRequest{ContextId: 5}, &pb.KeepAliveResponse{}); status.Code(err) != codes.Aborted {
		t.Errorf("a context that its client has cleared: %v", err)
	}
}

// TestEagerStream sends operations one after the other, without waiting for
// answers; one that fails ends the stream, and another one can be begun.
func TestEagerStream(t *testing.T) {
	r := start(t, map[string]int{"localhost": 1})
	target := r.servers["localhost:0"].Target()
	c := dialEager(t, target)
	c.open(5, target)
	one, two := tf.Scalar(float32(1)), (*tf.Tensor)(core.NewTensor(tf.Float32, tf.Shape{2}))
	for range 2 {
		s := c.stream(t.Context())
		for range 10 {
			if err := s.SendMsg(addition(1, one, two)); err != nil {
				t.Fatal(err)
			}
		}
		for range 10 {
			resp := &pb.EnqueueResponse{}
			if err := s.RecvMsg(resp); err != nil || len(resp.GetQueueResponse()) != 1 || len(resp.GetQueueResponse()[0].GetShape()[0].GetDim()) != 1 {
				t.Fatalf("%v, %v", resp, err)
			}
		}
		if err := s.SendMsg(addition(2, two, (*tf.Tensor)(core.NewTensor(tf.Float32, tf.Shape{3})))); err != nil {
			t.Fatal(err)
		}
		err := s.RecvMsg(&pb.EnqueueResponse{})
		if status.Code(err) != codes.InvalidArgument || status.Convert(err).Message() != "Incompatible shapes: [2] vs. [3]" {
			t.Errorf("the stream ends with %v", err)
		}
	}
	s := c.stream(t.Context())
	if err := s.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if err := s.RecvMsg(&pb.EnqueueResponse{}); !errors.Is(err, io.EOF) {
		t.Errorf("a stream without requests ends with %v", err)
	}
	c.call("CloseContext", &pb.CloseContextRequest{ContextId: 5}, &pb.CloseContextResponse{})
}

// TestEagerClientGone: what a client waits for ends when it is gone.
func TestEagerClientGone(t *testing.T) {
	r := start(t, map[string]int{"localhost": 1})
	target := r.servers["localhost:0"].Target()
	c := dialEager(t, target)
	c.open(5, target)
	ctx, cancel := context.WithCancel(t.Context())
	s := c.stream(ctx)
	op := &pb.Operation{Id: 1, Name: "TestWait", Device: workerCPU}
	if err := s.SendMsg(&pb.EnqueueRequest{ContextId: 5, Queue: []*pb.QueueItem{{Item: &pb.QueueItem_Operation{Operation: op}}}}); err != nil {
		t.Fatal(err)
	}
	<-waiting
	cancel()
	<-gaveUp
	c.call("KeepAlive", &pb.KeepAliveRequest{ContextId: 5}, &pb.KeepAliveResponse{}) // another stream may come
}
