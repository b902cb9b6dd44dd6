package interop

import (
	"context"
	"fmt"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

func (c *caller) openAt(task int, req *pb.CreateWorkerSessionRequest) {
	_, err := c.workers[task].CreateWorkerSession(within(c), req)
	c.ended("CreateWorkerSession", err)
}

func (c *caller) deleteAt(task int, session string) {
	_, err := c.workers[task].DeleteWorkerSession(within(c), &pb.DeleteWorkerSessionRequest{SessionHandle: session})
	c.ended("DeleteWorkerSession", err)
}

func (c *caller) register(session string, opened bool, g *pb.GraphDef) string {
	resp, err := c.workers[0].RegisterGraph(within(c), &pb.RegisterGraphRequest{SessionHandle: session, CreateWorkerSessionCalled: opened, GraphDef: g})
	c.ended("RegisterGraph", err)
	return resp.GetGraphHandle()
}

func (c *caller) runGraph(req *pb.RunGraphRequest) {
	resp, err := c.workers[0].RunGraph(within(c), req)
	var got []string
	if resp.GetStatusCode() != 0 {
		got = append(got, fmt.Sprintf("with status %v: %s", tf.Code(resp.GetStatusCode()), resp.GetStatusErrorMessage()))
	}
	for _, r := range resp.GetRecv() {
		got = append(got, valueOf(r.GetTensor()))
	}
	c.ended("RunGraph", err, got...)
}

func (c *caller) cleanup(step int64) {
	_, err := c.workers[0].CleanupGraph(within(c), &pb.CleanupGraphRequest{StepId: step})
	c.ended("CleanupGraph", err)
}

// incarnation is that of the first device of a task.
func (c *caller) incarnation(task int) uint64 {
	resp, err := c.workers[task].GetStatus(within(c), &pb.GetStatusRequest{})
	if err != nil || len(resp.GetDeviceAttributes()) == 0 {
		c.ended("GetStatus", err)
		return 0
	}
	return resp.GetDeviceAttributes()[0].GetIncarnation()
}

const cpu0, cpu1 = task0 + "/device:CPU:0", task1 + "/device:CPU:0"

func (c *caller) key(src, dst, edge string) string {
	return fmt.Sprintf("%s;%016x;%s;%s;0:0", src, c.incarnation(0), dst, edge)
}

// recv asks task 0 for a tensor; it waits no longer than the context allows.
func (c *caller) recv(ctx context.Context, step int64, key string, request int64) {
	resp, err := c.workers[0].RecvTensor(ctx, &pb.RecvTensorRequest{StepId: step, RendezvousKey: key, RequestId: request}, nil)
	if err != nil {
		c.ended("RecvTensor", err)
		return
	}
	got := fmt.Sprint("dead ", resp.Dead)
	if resp.Tensor != nil {
		got = resp.Tensor.String()
	}
	c.ended("RecvTensor", nil, got)
}

// soon is the end of what may have to wait for ever, and long enough for what need not.
func soon() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	time.AfterFunc(patience, cancel)
	return ctx
}

func crossing(name, op string, in ins, src, dst, edge string, incarnation uint64, client bool) *pb.NodeDef {
	typ := "T"
	if op == "_Recv" {
		typ = "tensor_type"
	}
	return at(cpu0, nodeOf(name, op, in, typ, tf.Float32, "tensor_name", edge, "send_device", src, "send_device_incarnation", int(incarnation), "recv_device", dst, "client_terminated", client))
}

// negation is a part that a client feeds with x and fetches y of, and that sends y
// to the other task, too.
func (c *caller) negation() *pb.GraphDef {
	inc := c.incarnation(0)
	return graphOf(
		crossing("x", "_Recv", nil, cpu0, cpu0, "x:0", inc, true),
		at(cpu0, simple("y", "Neg", "x")),
		crossing("out", "_Send", ins{"y"}, cpu0, cpu0, "y:0", inc, true),
		crossing("away", "_Send", ins{"y"}, cpu0, cpu1, "edge_y", inc, false),
	)
}

func (c *caller) send(v any) []*pb.NamedTensorProto {
	return []*pb.NamedTensorProto{{Name: c.key(cpu0, cpu0, "x:0"), Tensor: tensorOf(v)}}
}

func (c *caller) fetchY() []string { return []string{c.key(cpu0, cpu0, "y:0")} }

// a worker session with the part above.
func atWorker(session string, run func(c *caller, req func() *pb.RunGraphRequest)) func(c *caller) {
	return func(c *caller) {
		c.openAt(0, &pb.CreateWorkerSessionRequest{SessionHandle: session})
		handle := c.register(session, true, c.negation())
		run(c, func() *pb.RunGraphRequest {
			return &pb.RunGraphRequest{SessionHandle: session, CreateWorkerSessionCalled: true, GraphHandle: handle, StepId: 7}
		})
		c.deleteAt(0, session)
	}
}

// workerCalls are what masters and other workers call.
var workerCalls = []sequence{
	{name: "worker/session", run: func(c *caller) {
		c.openAt(0, &pb.CreateWorkerSessionRequest{})
		c.openAt(0, &pb.CreateWorkerSessionRequest{SessionHandle: "s1"})
		c.openAt(0, &pb.CreateWorkerSessionRequest{SessionHandle: "s1"})
		c.deleteAt(0, "s1")
		c.deleteAt(0, "s1")
		c.deleteAt(0, "")
	}},
	{name: "worker/session of a master that restarts", run: func(c *caller) {
		open := func(handle string, incarnation int64) {
			c.openAt(0, &pb.CreateWorkerSessionRequest{SessionHandle: handle, MasterTask: "/job:chief/replica:0/task:0", MasterIncarnation: incarnation})
		}
		open("m1", 1)
		h := c.register("m1", true, c.negation())
		open("m2", 1)
		c.runGraph(&pb.RunGraphRequest{SessionHandle: "m1", CreateWorkerSessionCalled: true, GraphHandle: h, StepId: 11, Send: c.send(1.0)})
		open("m3", 2)
		c.runGraph(&pb.RunGraphRequest{SessionHandle: "m1", CreateWorkerSessionCalled: true, GraphHandle: h, StepId: 12, Send: c.send(1.0)})
		c.register("m2", true, c.negation())
		c.register("m3", true, c.negation())
		c.deleteAt(0, "m3")
		c.cleanup(11)
	}},
	{name: "worker/unknown session", run: func(c *caller) {
		c.register("unknown", true, c.negation())
		c.runGraph(&pb.RunGraphRequest{SessionHandle: "unknown", CreateWorkerSessionCalled: true, GraphHandle: "x"})
		c.runGraph(&pb.RunGraphRequest{SessionHandle: "unknown", CreateWorkerSessionCalled: true, GraphHandle: "x", StoreErrorsInResponseBody: true})
		c.deregister("unknown", true, "x")
	}},
	{name: "worker/unknown graph", run: atWorker("ug", func(c *caller, req func() *pb.RunGraphRequest) {
		c.runGraph(&pb.RunGraphRequest{SessionHandle: "ug", CreateWorkerSessionCalled: true, GraphHandle: "nonsense"})
		c.deregister("ug", true, "nonsense")
		r := req()
		c.deregister("ug", true, r.GraphHandle)
		c.deregister("ug", true, r.GraphHandle)
		c.runGraph(r)
	})},
	{name: "worker/graph of the session of all", run: func(c *caller) {
		h := c.register("", false, c.negation())
		c.runGraph(&pb.RunGraphRequest{GraphHandle: h, StepId: 21, Send: c.send(2.0), RecvKey: c.fetchY()})
		c.cleanup(21)
		c.deregister("", false, h)
	}},
	{name: "worker/empty graph", run: func(c *caller) {
		c.openAt(0, &pb.CreateWorkerSessionRequest{SessionHandle: "eg"})
		h := c.register("eg", true, graphOf())
		c.runGraph(&pb.RunGraphRequest{SessionHandle: "eg", CreateWorkerSessionCalled: true, GraphHandle: h, StepId: 22})
		c.register("eg", true, nil)
		c.deleteAt(0, "eg")
	}},
	{name: "worker/graph that is not placed", run: func(c *caller) {
		c.openAt(0, &pb.CreateWorkerSessionRequest{SessionHandle: "np"})
		c.register("np", true, graphOf(constant("c", 1.0)))
		c.register("np", true, graphOf(at("/job:worker/replica:0/task:0/device:CPU:9", constant("c", 1.0))))
		c.register("np", true, graphOf(at(cpu1, constant("c", 1.0))))
		c.register("np", true, graphOf(at("nonsense", constant("c", 1.0))))
		c.register("np", true, graphOf(at(cpu0, nodeOf("c", "NoSuchOp", nil))))
		c.deleteAt(0, "np")
	}},
	{name: "worker/step", run: atWorker("st", func(c *caller, req func() *pb.RunGraphRequest) {
		r := req()
		r.Send, r.RecvKey = c.send(2.0), c.fetchY()
		c.runGraph(r)
		c.recv(within(c), 7, c.key(cpu0, cpu1, "edge_y"), 0)
		c.recv(soon(), 7, c.key(cpu0, cpu1, "edge_y"), 0)
		c.cleanup(7)
		c.cleanup(7)
		c.recv(soon(), 7, c.key(cpu0, cpu1, "edge_y"), 0)
	})},
	{name: "worker/step again under its number", run: atWorker("sa", func(c *caller, req func() *pb.RunGraphRequest) {
		r := req()
		r.Send, r.RecvKey = c.send(2.0), c.fetchY()
		c.runGraph(r)
		r.Send = c.send(5.0)
		c.runGraph(r)
		c.cleanup(7)
	})},
	{name: "worker/step that is fetched before it runs", run: atWorker("fb", func(c *caller, req func() *pb.RunGraphRequest) {
		done := make(chan bool)
		d := &caller{workers: c.workers}
		key := c.key(cpu0, cpu1, "edge_y")
		go func() { d.recv(within(d), 7, key, 0); close(done) }()
		time.Sleep(50 * time.Millisecond)
		r := req()
		r.Send = c.send(2.0)
		c.runGraph(r)
		<-done
		c.lines = append(c.lines, d.lines...)
		c.cleanup(7)
	})},
	{name: "worker/step that is cleaned up while it is fetched", run: func(c *caller) {
		done := make(chan bool)
		d := &caller{workers: c.workers}
		key := c.key(cpu0, cpu1, "edge_y")
		go func() { d.recv(within(d), 31, key, 0); close(done) }()
		c.cleanup(31)
		for waiting := true; waiting; {
			select {
			case <-done:
				waiting = false
			case <-time.After(10 * time.Millisecond): // it may have asked after the cleanup
				c.workers[0].CleanupGraph(within(c), &pb.CleanupGraphRequest{StepId: 31})
			}
		}
		c.lines = append(c.lines, d.lines...)
	}},
	{name: "worker/step that lacks its feed", run: atWorker("lf", func(c *caller, req func() *pb.RunGraphRequest) {
		resp, err := c.workers[0].RunGraph(soon(), req())
		c.ended("RunGraph", err, fmt.Sprint(len(resp.GetRecv())))
		c.cleanup(7)
	})},
	{name: "worker/fetch that nobody sends", run: atWorker("fn", func(c *caller, req func() *pb.RunGraphRequest) {
		r := req()
		r.Send, r.RecvKey = c.send(2.0), []string{c.key(cpu0, cpu0, "q:0")}
		resp, err := c.workers[0].RunGraph(soon(), r)
		c.ended("RunGraph", err, fmt.Sprint(len(resp.GetRecv())))
		c.cleanup(7)
	})},
	{name: "worker/fetch under a key that is none", run: atWorker("fk", func(c *caller, req func() *pb.RunGraphRequest) {
		for _, key := range []string{"", "nonsense", ";;;;"} {
			r := req()
			r.Send, r.RecvKey = c.send(2.0), []string{key}
			c.runGraph(r)
			c.cleanup(7)
		}
	})},
	{name: "worker/feed under a key that is none", run: atWorker("ff", func(c *caller, req func() *pb.RunGraphRequest) {
		for _, key := range []string{"", "nonsense", ";;;;"} {
			r := req()
			r.Send = []*pb.NamedTensorProto{{Name: key, Tensor: tensorOf(1.0)}}
			c.runGraph(r)
			c.cleanup(7)
		}
	})},
	{name: "worker/feed without a tensor", run: atWorker("fw", func(c *caller, req func() *pb.RunGraphRequest) {
		for _, v := range []any{nil, &pb.TensorProto{}, &pb.TensorProto{Dtype: 1, TensorShape: shapeOf([]int64{-1})}} {
			r := req()
			r.Send, r.RecvKey = c.send(v), c.fetchY()
			c.runGraph(r)
			c.cleanup(7)
		}
	})},
	{name: "worker/feed of another type", run: atWorker("fo", func(c *caller, req func() *pb.RunGraphRequest) {
		r := req()
		r.Send, r.RecvKey = c.send(3), c.fetchY()
		c.runGraph(r)
		c.cleanup(7)
	})},
	{name: "worker/request twice", run: atWorker("rt", func(c *caller, req func() *pb.RunGraphRequest) {
		r := req()
		r.Send, r.RequestId = c.send(2.0), 515151
		c.runGraph(r)
		c.runGraph(r)
		r.IsPartial = true
		c.runGraph(r)
		c.recv(soon(), 7, c.key(cpu0, cpu1, "edge_y"), 515151)
		c.recv(within(c), 7, c.key(cpu0, cpu1, "edge_y"), 616161)
		c.recv(soon(), 7, c.key(cpu0, cpu1, "edge_y"), 616161)
		c.cleanup(7)
	})},
	{name: "worker/receive of strangers", run: func(c *caller) {
		inc := c.incarnation(0)
		for _, key := range []string{
			"", "nonsense", ";;;;",
			fmt.Sprintf("%s;%016x;%s;e;0:0", cpu1, c.incarnation(1), cpu0),
			fmt.Sprintf("%s;%016x;%s;e;0:0", cpu0, inc+1, cpu1),
			fmt.Sprintf("%s;%016x;%s;e;0:0", task0+"/device:CPU:7", inc, cpu1),
			fmt.Sprintf("%s;%016x;%s;e;0:0", "nonsense", inc, cpu1),
			fmt.Sprintf("%s;%016x;%s;e;0:0", cpu0, inc, "nonsense"),
			fmt.Sprintf("%s;%s;%s;e;0:0", cpu0, "xyz", cpu1),
			fmt.Sprintf("%s;%016x;%s;;0:0", cpu0, inc, cpu1),
			fmt.Sprintf("%s;%016x;%s;e;0:0;more", cpu0, inc, cpu1),
		} {
			c.note("key", key)
			c.recv(soon(), 41, key, 0)
		}
		c.cleanup(41)
	}},
	{name: "worker/receive under a frame that is none", run: func(c *caller) {
		for _, frame := range []string{"0", "x:y"} {
			c.recv(soon(), 42, fmt.Sprintf("%s;%016x;%s;e;%s", cpu0, c.incarnation(0), cpu1, frame), 0)
		}
		c.cleanup(42)
	}},
	{name: "worker/cleanup of nothing", run: func(c *caller) { c.cleanup(123456); c.cleanup(-1); c.cleanup(0) }},
	{name: "worker/cleanup of containers", run: func(c *caller) {
		for _, names := range [][]string{nil, {""}, {"a", "a", "x/y"}} {
			_, err := c.workers[0].CleanupAll(within(c), &pb.CleanupAllRequest{Container: names})
			c.ended("CleanupAll", err)
		}
	}},
	{name: "worker/negative steps", run: atWorker("ns", func(c *caller, req func() *pb.RunGraphRequest) {
		r := req()
		r.StepId, r.Send, r.RecvKey = -3, c.send(2.0), c.fetchY()
		c.runGraph(r)
		c.cleanup(-3)
	})},
	{name: "worker/partial", run: atWorker("pa", func(c *caller, req func() *pb.RunGraphRequest) {
		r := req()
		r.IsPartial = true
		c.runGraph(r)
		r.Send = c.send(2.0)
		c.runGraph(r)
		r.Send, r.RecvKey, r.IsLastPartialRun = nil, c.fetchY(), true
		c.runGraph(r)
		c.cleanup(7)
	})},
	{name: "worker/partial of a session that ends", run: func(c *caller) {
		c.openAt(0, &pb.CreateWorkerSessionRequest{SessionHandle: "pe"})
		h := c.register("pe", true, c.negation())
		r := &pb.RunGraphRequest{SessionHandle: "pe", CreateWorkerSessionCalled: true, GraphHandle: h, StepId: 51, IsPartial: true}
		c.runGraph(r)
		c.cleanup(51)
		c.deleteAt(0, "pe")
		c.runGraph(r)
	}},
	{name: "worker/marks", run: func(c *caller) {
		_, err := c.workers[0].MarkRecvFinished(within(c), &pb.MarkRecvFinishedRequest{RequestId: 5})
		c.ended("MarkRecvFinished", err)
	}},
	{name: "worker/tracing", run: func(c *caller) {
		_, err := c.workers[0].Tracing(within(c), &pb.TracingRequest{})
		c.ended("Tracing", err)
	}},
	{name: "worker/logging", run: func(c *caller) {
		for _, req := range []*pb.LoggingRequest{{EnableRpcLogging: true}, {FetchStepId: []int64{1}}, {}, {Clear: true}, {DisableRpcLogging: true}} {
			resp, err := c.workers[0].Logging(within(c), req)
			c.ended("Logging", err, fmt.Sprint(len(resp.GetStep())))
		}
	}},
	{name: "worker/groups", run: func(c *caller) {
		dev := &pb.DeviceAttributes{Name: cpu0, DeviceType: "CPU"}
		for _, req := range []*pb.CompleteGroupRequest{
			{}, {GroupKey: 9001, GroupSize: 1, DeviceType: "CPU"}, {GroupKey: 9002, GroupSize: 1, DeviceType: "CPU", DeviceAttributes: dev},
			{GroupKey: 9002, GroupSize: 2, DeviceType: "CPU", DeviceAttributes: dev}, {GroupKey: 9005, GroupSize: 1, DeviceType: "GPU", DeviceAttributes: dev},
		} {
			resp, err := c.workers[0].CompleteGroup(soon(), req)
			c.ended("CompleteGroup", err, fmt.Sprint(len(resp.GetDeviceAttributes()), " of ", resp.GetGroupSize()))
		}
	}},
	{name: "worker/groups of no size", run: func(c *caller) {
		for _, size := range []int32{0, -1} {
			dev := &pb.DeviceAttributes{Name: cpu0, DeviceType: "CPU"}
			_, err := c.workers[0].CompleteGroup(soon(), &pb.CompleteGroupRequest{GroupKey: 9003 + size, GroupSize: size, DeviceType: "CPU", DeviceAttributes: dev})
			c.ended("CompleteGroup", err)
		}
	}},
	{name: "worker/instances", run: func(c *caller) {
		group := &pb.CompleteGroupRequest{GroupKey: 9006, GroupSize: 1, DeviceType: "CPU", DeviceAttributes: &pb.DeviceAttributes{Name: cpu0, DeviceType: "CPU"}}
		_, err := c.workers[0].CompleteGroup(soon(), group)
		c.ended("CompleteGroup", err)
		for _, req := range []*pb.CompleteInstanceRequest{{}, {GroupKey: 9999, GroupSize: 1, InstanceKey: 1, Device: cpu0, DeviceType: "CPU"}, {Name: "x", GroupKey: 9006, GroupSize: 1, InstanceKey: -1, Device: cpu0, DeviceType: "CPU", DataType: 1}} {
			resp, err := c.workers[0].CompleteInstance(soon(), req)
			c.ended("CompleteInstance", err, fmt.Sprint(resp.GetSourceRank()))
		}
	}},
	{name: "worker/sequences", run: func(c *caller) {
		resp, err := c.workers[0].GetStepSequence(within(c), &pb.GetStepSequenceRequest{GraphKey: []int64{5, 5, -1}})
		c.ended("GetStepSequence", err, fmt.Sprint(len(resp.GetStepSequence())))
	}},
	{name: "worker/buffers", run: func(c *caller) {
		inc := c.incarnation(0)
		for _, req := range []*pb.RecvBufRequest{
			{}, {BufRendezvousKey: "k", SrcDevice: cpu0, SrcIncarnation: inc + 1, NumBytes: 4}, {BufRendezvousKey: "k", SrcDevice: cpu1, SrcIncarnation: inc, NumBytes: 4},
			{BufRendezvousKey: "k", SrcDevice: "nonsense", NumBytes: 4},
		} {
			err := c.workers[0].RecvBuf(soon(), req, make([]byte, 4))
			c.ended("RecvBuf", err)
		}
	}},
}

func (c *caller) deregister(session string, opened bool, graph string) {
	_, err := c.workers[0].DeregisterGraph(within(c), &pb.DeregisterGraphRequest{SessionHandle: session, CreateWorkerSessionCalled: opened, GraphHandle: graph})
	c.ended("DeregisterGraph", err)
}
