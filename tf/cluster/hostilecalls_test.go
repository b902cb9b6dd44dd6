package cluster_test

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A call is one that an attacker makes, and what it learns from the answer.
type call struct {
	path string
	req  proto.Message
	got  func(answer []byte)
}

// read makes got from what looks at the message.
func read[M any, P interface {
	*M
	proto.Message
}](look func(P)) func([]byte) {
	return func(answer []byte) {
		if m := P(new(M)); proto.Unmarshal(answer, m) == nil {
			look(m)
		}
	}
}

// attacks make the next call of each kind.
var attacks = []func(a *attacker) call{
	func(a *attacker) call {
		return call{ofMaster + "CreateSession", &pb.CreateSessionRequest{GraphDef: a.graph()}, read(func(m *pb.CreateSessionResponse) { a.pool.put(fmt.Sprint("session", a.at), m.GetSessionHandle()) })}
	},
	func(a *attacker) call {
		return call{ofMaster + "ExtendSession", &pb.ExtendSessionRequest{SessionHandle: a.pool.take(a.r, a.sessions()), GraphDef: a.graph(), CurrentGraphVersion: int64(a.r.IntN(2))}, nil}
	},
	(*attacker).runStep, (*attacker).runStep,
	func(a *attacker) call {
		return call{ofMaster + "PartialRunSetup", &pb.PartialRunSetupRequest{SessionHandle: a.pool.take(a.r, a.sessions()), Feed: []string{"x:0"}, Fetch: []string{a.name(), "y:0"}, Target: []string{a.name()}},
			read(func(m *pb.PartialRunSetupResponse) { a.pool.put("partial", m.GetPartialRunHandle()) })}
	},
	func(a *attacker) call {
		return call{ofMaster + "CloseSession", &pb.CloseSessionRequest{SessionHandle: a.seldom(a.sessions())}, nil}
	},
	func(a *attacker) call {
		return call{ofMaster + "ListDevices", &pb.ListDevicesRequest{SessionHandle: a.pool.take(a.r, a.sessions())}, nil}
	},
	func(a *attacker) call {
		if a.r.IntN(100) > 0 { // it ends all sessions
			return call{ofMaster + "Reset", &pb.ResetRequest{Container: []string{"", "c", "c"}, DeviceFilters: []string{"nonsense"}}, nil}
		}
		return call{ofMaster + "Reset", &pb.ResetRequest{}, nil}
	},
	func(a *attacker) call {
		return call{ofMaster + "MakeCallable", &pb.MakeCallableRequest{SessionHandle: a.pool.take(a.r, a.sessions()), Options: &pb.CallableOptions{Feed: []string{"x:0"}, Fetch: []string{a.name()}, Target: []string{a.name()}}}, nil}
	},
	func(a *attacker) call {
		return call{ofMaster + "RunCallable", &pb.RunCallableRequest{SessionHandle: a.pool.take(a.r, a.sessions()), Handle: int64(a.r.IntN(3)), Feed: []*pb.TensorProto{a.tensor()}}, nil}
	},
	func(a *attacker) call {
		return call{ofMaster + "ReleaseCallable", &pb.ReleaseCallableRequest{SessionHandle: a.pool.take(a.r, a.sessions()), Handle: int64(a.r.IntN(3))}, nil}
	},
	func(a *attacker) call {
		return call{ofWorker + "GetStatus", &pb.GetStatusRequest{}, read(func(m *pb.GetStatusResponse) {
			for _, d := range m.GetDeviceAttributes() {
				a.pool.put("incarnation", fmt.Sprint(d.GetIncarnation()))
			}
		})}
	},
	func(a *attacker) call {
		name := fmt.Sprint("w", a.r.IntN(4))
		a.pool.put("worker session", name)
		return call{ofWorker + "CreateWorkerSession", &pb.CreateWorkerSessionRequest{SessionHandle: name, MasterTask: a.seldom("master"), MasterIncarnation: a.number(), IsolateSessionState: a.r.IntN(2) == 0}, nil}
	},
	func(a *attacker) call {
		return call{ofWorker + "DeleteWorkerSession", &pb.DeleteWorkerSessionRequest{SessionHandle: a.seldom("worker session")}, nil}
	},
	(*attacker).registerGraph, (*attacker).registerGraph,
	func(a *attacker) call {
		return call{ofWorker + "DeregisterGraph", &pb.DeregisterGraphRequest{SessionHandle: a.pool.take(a.r, "worker session"), CreateWorkerSessionCalled: a.r.IntN(4) > 0, GraphHandle: a.pool.take(a.r, "graph")}, nil}
	},
	(*attacker).runGraph, (*attacker).runGraph, (*attacker).runGraph,
	func(a *attacker) call {
		return call{ofWorker + "CleanupGraph", &pb.CleanupGraphRequest{StepId: a.step()}, nil}
	},
	func(a *attacker) call {
		return call{ofWorker + "CleanupAll", &pb.CleanupAllRequest{Container: []string{a.pool.take(a.r, "container")}}, nil}
	},
	func(a *attacker) call {
		return call{ofWorker + "RecvTensor", &pb.RecvTensorRequest{StepId: a.step(), RendezvousKey: a.key(), RequestId: a.number()}, nil}
	},
	func(a *attacker) call {
		return call{ofWorker + "MarkRecvFinished", &pb.MarkRecvFinishedRequest{RequestId: a.number()}, nil}
	},
	func(a *attacker) call {
		return call{ofWorker + "Logging", &pb.LoggingRequest{EnableRpcLogging: a.r.IntN(2) == 0, Clear: a.r.IntN(2) == 0, FetchStepId: []int64{a.step(), a.step()}}, nil}
	},
	func(a *attacker) call { return call{ofWorker + "Tracing", &pb.TracingRequest{}, nil} },
	func(a *attacker) call {
		return call{ofWorker + "RecvBuf", &pb.RecvBufRequest{StepId: a.step(), BufRendezvousKey: a.key(), NumBytes: a.number(), SrcDevice: a.task() + "/device:CPU:0", SrcIncarnation: a.incarnation()}, nil}
	},
	func(a *attacker) call {
		return call{ofWorker + "GetStepSequence", &pb.GetStepSequenceRequest{GraphKey: []int64{a.number()}}, nil}
	},
	func(a *attacker) call {
		return call{ofWorker + "CompleteGroup", &pb.CompleteGroupRequest{GroupKey: int32(a.r.IntN(4)), GroupSize: int32(a.number()), DeviceType: "CPU", DeviceAttributes: &pb.DeviceAttributes{Name: a.task() + "/device:CPU:0"}}, nil}
	},
	func(a *attacker) call {
		return call{ofWorker + "CompleteInstance", &pb.CompleteInstanceRequest{GroupKey: int32(a.r.IntN(4)), GroupSize: int32(a.number()), InstanceKey: int32(a.number()), Device: a.task() + "/device:CPU:0", IsSource: a.r.IntN(2) == 0}, nil}
	},
}

func (a *attacker) name() string {
	if a.r.IntN(2) == 0 {
		return "y:0"
	}
	return []string{"x:0", "y:0", "y", "z", "wait:0", "", "^y", "y:7"}[a.r.IntN(8)]
}

func (a *attacker) runStep() call {
	req := &pb.RunStepRequest{SessionHandle: a.pool.take(a.r, a.sessions()), Fetch: []string{a.name()}, RequestId: a.number(), Options: &pb.RunOptions{TimeoutInMs: a.number() / 2, TraceLevel: pb.RunOptions_TraceLevel(a.r.IntN(5)), OutputPartitionGraphs: a.r.IntN(4) == 0}}
	for range a.r.IntN(3) {
		req.Feed = append(req.Feed, &pb.NamedTensorProto{Name: "x:0", Tensor: a.tensor()})
	}
	if a.r.IntN(3) == 0 {
		req.PartialRunHandle = a.pool.take(a.r, "partial")
	}
	return call{ofMaster + "RunStep", req, nil}
}

func attr(v any) *pb.AttrValue {
	switch v := v.(type) {
	case tf.DType:
		return &pb.AttrValue{Value: &pb.AttrValue_Type{Type: pb.DataType(v)}}
	case string:
		return &pb.AttrValue{Value: &pb.AttrValue_S{S: []byte(v)}}
	case bool:
		return &pb.AttrValue{Value: &pb.AttrValue_B{B: v}}
	case uint64:
		return &pb.AttrValue{Value: &pb.AttrValue_I{I: int64(v)}}
	}
	return &pb.AttrValue{}
}

// graph is one of x and y, with a node that waits for ever, on devices of this cluster
// or of none.
func (a *attacker) graph() *pb.GraphDef {
	device := []string{"", a.task(), "/job:worker/task:1", "///", "/job:ps"}[a.r.IntN(5)]
	g := &pb.GraphDef{Node: []*pb.NodeDef{
		{Name: "x", Op: "Placeholder", Attr: map[string]*pb.AttrValue{"dtype": attr(tf.Float32)}},
		{Name: "y", Op: "Square", Input: []string{"x"}, Device: device, Attr: map[string]*pb.AttrValue{"T": attr(tf.Float32), "more": {}}},
		{Name: "wait", Op: "TestEndless", Device: a.task()},
		{Name: "z", Op: "NoOp", Input: []string{"^y"}},
	}}
	if a.r.IntN(6) == 0 {
		g.Node = append(g.Node, g.Node[a.r.IntN(4)])
	}
	return g
}

// registerGraph brings a part that takes x and gives y, some of it left out.
func (a *attacker) registerGraph() call {
	cpu := a.task() + "/device:CPU:0"
	edge := func(name, op, in, typ, tensor string, client bool) *pb.NodeDef {
		n := &pb.NodeDef{Name: name, Op: op, Device: cpu, Attr: map[string]*pb.AttrValue{
			typ: attr(tf.Float32), "tensor_name": attr(tensor), "send_device": attr(cpu), "recv_device": attr(a.task() + "/device:CPU:0"),
			"send_device_incarnation": attr(a.incarnation()), "client_terminated": attr(client),
		}}
		if in != "" {
			n.Input = []string{in}
		}
		return n
	}
	g := &pb.GraphDef{Node: []*pb.NodeDef{
		edge("x", "_Recv", "", "tensor_type", "x:0", a.r.IntN(2) == 0),
		{Name: "y", Op: "Square", Input: []string{"x"}, Device: cpu, Attr: map[string]*pb.AttrValue{"T": attr(tf.Float32)}},
		edge("out", "_Send", "y", "T", "y:0", a.r.IntN(2) == 0),
	}}
	if at := a.r.IntN(12); at < len(g.Node) {
		g.Node = append(g.Node[:at], g.Node[at+1:]...)
	}
	return call{ofWorker + "RegisterGraph", &pb.RegisterGraphRequest{SessionHandle: a.pool.take(a.r, "worker session"), CreateWorkerSessionCalled: a.r.IntN(4) > 0, GraphDef: g},
		read(func(m *pb.RegisterGraphResponse) { a.pool.put("graph", m.GetGraphHandle()) })}
}

func (a *attacker) runGraph() call {
	req := &pb.RunGraphRequest{
		SessionHandle: a.pool.take(a.r, "worker session"), CreateWorkerSessionCalled: a.r.IntN(4) > 0, GraphHandle: a.pool.take(a.r, "graph"),
		StepId: a.step(), RequestId: a.number(), IsPartial: a.r.IntN(4) == 0, IsLastPartialRun: a.r.IntN(2) == 0, StoreErrorsInResponseBody: a.r.IntN(2) == 0,
		ExecOpts: &pb.ExecutorOpts{RecordTimeline: a.r.IntN(4) == 0, RecordPartitionGraphs: a.r.IntN(4) == 0},
	}
	for range a.r.IntN(3) {
		req.Send = append(req.Send, &pb.NamedTensorProto{Name: a.key(), Tensor: a.tensor()})
	}
	for range a.r.IntN(3) {
		req.RecvKey = append(req.RecvKey, a.key())
	}
	return call{ofWorker + "RunGraph", req, nil}
}

func init() {
	core.Register(core.OpDef{
		Name: "TestEndless", Out: "never: float", Stateful: true, NoGrad: core.NotDifferentiable,
		Shape: func(*core.Infer) error { return nil }, Kernels: core.AnyType(endless),
	})
}

// endless is the kernel of an op that waits until its step is cancelled.
func endless(*core.Node) (core.Kernel, error) {
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		context.AfterFunc(c.StepContext(), func() { done(&tf.Error{Code: tf.Canceled, Msg: "no more waiting", Derived: true}) })
	}), nil
}
