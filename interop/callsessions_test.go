package interop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// sessionCalls open, extend, list, reset and close sessions.
var sessionCalls = []sequence{
	{name: "session/empty graph", run: func(c *caller) { c.create(); c.step(nil); c.close() }},
	{name: "session/no graph at all", run: func(c *caller) { c.createWith(nil, nil); c.step(nil, "a:0"); c.close() }},
	{name: "session/closed twice", run: func(c *caller) { c.create(abc()...); c.close(); c.close() }},
	{name: "session/used after close", run: func(c *caller) {
		c.create(abc()...)
		c.close()
		c.step(nil, "c:0")
		c.extend(constant("k", 1.0))
		c.setUp(nil, []string{"c:0"}, nil)
		c.makeCallable(&pb.CallableOptions{Fetch: []string{"c:0"}})
		c.runCallable(0)
		c.release(0)
		c.listDevices(c.session)
	}},
	{name: "session/unknown handle", run: func(c *caller) {
		c.session = "no such session"
		c.step(nil, "c:0")
		c.extend()
		c.close()
		c.listDevices(c.session)
	}},
	{name: "session/empty handle", run: func(c *caller) {
		c.runStep(&pb.RunStepRequest{})
		c.extend()
		c.close()
		c.setUp(nil, nil, nil)
		c.makeCallable(nil)
		c.runCallable(0)
		c.release(0)
	}},
	{name: "session/thread pools", run: func(c *caller) {
		c.createWith(&pb.ConfigProto{UsePerSessionThreads: true}, graphOf(abc()...))
		c.createWith(&pb.ConfigProto{SessionInterOpThreadPool: []*pb.ThreadPoolOptionProto{{NumThreads: 1}}}, graphOf(abc()...))
		c.createWith(&pb.ConfigProto{InterOpParallelismThreads: -1, IntraOpParallelismThreads: -3}, graphOf(abc()...))
		c.step(nil, "c:0")
	}},
	{name: "session/placement period and counts", run: func(c *caller) {
		c.createWith(&pb.ConfigProto{PlacementPeriod: -1, DeviceCount: map[string]int32{"CPU": 7, "GPU": -1, "": 3}}, graphOf(abc()...))
		c.step(nil, "c:0")
		c.listDevices(c.session)
	}},
	{name: "session/filters", run: func(c *caller) {
		for _, f := range []string{"/job:worker/task:1", "/job:worker/task:0", "/job:ps", "/task:1", "/job:worker/task:9"} {
			c.note("filter", f)
			c.createWith(&pb.ConfigProto{DeviceFilters: []string{f}}, graphOf(across()...))
			c.listDevices(c.session)
			c.step([]any{"a:0", 2.0}, "y:0")
		}
	}},
	{name: "session/filters of devices", run: func(c *caller) {
		for _, f := range []string{"/device:CPU:0", "/job:worker/device:GPU:0", "/job:worker/replica:0/task:1/device:CPU:5"} {
			c.note("filter", f)
			c.createWith(&pb.ConfigProto{DeviceFilters: []string{f}}, graphOf(abc()...))
			c.listDevices(c.session)
		}
	}},
	{name: "session/filter that is none", run: func(c *caller) {
		c.createWith(&pb.ConfigProto{DeviceFilters: []string{"nonsense"}}, graphOf(abc()...))
	}},
	{name: "session/cluster without jobs", run: func(c *caller) {
		c.createWith(&pb.ConfigProto{ClusterDef: &pb.ClusterDef{}}, graphOf(abc()...))
		c.step(nil, "c:0")
		c.listDevices(c.session)
	}},
	{name: "session/cluster under the same names", run: func(c *caller) {
		c.createWith(&pb.ConfigProto{ClusterDef: c.cluster("worker", c.addr...)}, graphOf(abc()...))
	}},
	{name: "session/cluster that names it twice", run: func(c *caller) {
		c.createWith(&pb.ConfigProto{ClusterDef: c.cluster("other", c.addr[0], c.addr[0])}, graphOf(abc()...))
	}},
	{name: "session/cluster of others", run: func(c *caller) {
		c.createWith(&pb.ConfigProto{ClusterDef: c.cluster("other", c.addr[1])}, graphOf(abc()...))
	}},
	{name: "session/cluster under other names", run: func(c *caller) {
		c.createWith(&pb.ConfigProto{ClusterDef: c.cluster("other", c.addr...)}, graphOf(abc()...))
		c.listDevices(c.session)
		c.step(nil, "c:0")
		c.extend(at("/job:other/task:1", simple("far", "Neg", "c")))
		c.step(nil, "far:0")
		c.extend(at("/job:worker/task:1", simple("lost", "Neg", "c")))
		c.close()
	}},
	{name: "session/clusters keep their state apart", run: func(c *caller) {
		own := &pb.ConfigProto{ClusterDef: c.cluster("other", c.addr...)}
		c.createWith(own, graphOf(counter("apart", "")...))
		c.runStep(&pb.RunStepRequest{Target: []string{"apart/init"}})
		c.step(nil, "apart/read:0")
		c.createWith(own, graphOf(counter("apart", "")...))
		c.step(nil, "apart/read:0")
	}},
	{name: "session/isolated", run: func(c *caller) {
		g := graphOf(counter("isolated", task1)...)
		c.createWith(nil, g)
		c.runStep(&pb.RunStepRequest{Target: []string{"isolated/init"}})
		c.createWith(&pb.ConfigProto{IsolateSessionState: true}, g)
		c.step(nil, "isolated/read:0")
		c.runStep(&pb.RunStepRequest{Target: []string{"isolated/init"}})
		c.runStep(&pb.RunStepRequest{Target: []string{"isolated/add"}})
		c.step(nil, "isolated/read:0")
		c.createWith(nil, g)
		c.step(nil, "isolated/read:0")
	}},
	{name: "session/shared devices", run: func(c *caller) {
		c.createWith(&pb.ConfigProto{ShareClusterDevicesInSession: true}, graphOf(across()...))
		c.step([]any{"a", 3.0}, "y")
	}},
	{name: "session/operation timeout", run: func(c *caller) {
		c.createWith(&pb.ConfigProto{OperationTimeoutInMs: 3000}, graphOf(append(abc(), waits("opq", task0)...)...))
		c.step(nil, "c")
		c.runStep(&pb.RunStepRequest{Fetch: []string{"opq/take"}, Options: &pb.RunOptions{TimeoutInMs: 300}})
		c.runStep(&pb.RunStepRequest{Fetch: []string{"opq/take"}})
	}},
	{name: "session/target is anything", run: func(c *caller) {
		for _, target := range []string{"", "local", "grpc://nowhere:0", strings.Repeat("x", 1000)} {
			c.open(&pb.CreateSessionRequest{GraphDef: graphOf(abc()...), Target: target})
			c.step(nil, "c:0")
		}
	}},

	{name: "extend/versions", run: func(c *caller) {
		c.create(abc()...)
		c.extend(constant("k", 1.0))
		c.extend()
		c.version = 0
		c.extend(constant("l", 1.0))
		c.version = 99
		c.extend(constant("l", 1.0))
		c.version = -1
		c.extend(constant("l", 1.0))
		c.step(nil, "k:0")
		c.step(nil, "l:0")
	}},
	{name: "extend/same node", run: func(c *caller) {
		c.create(abc()...)
		c.extend(constant("c", 2.0))
		c.extend(constant("k", 2.0))
		c.extend(constant("k", 2.0), constant("m", 1.0))
		c.step(nil, "m:0")
		c.extend(constant("m", 5.0), constant("m", 5.0))
	}},
	{name: "extend/uses old nodes", run: func(c *caller) {
		c.create(abc()...)
		c.step([]any{"a", 1.0, "b", 2.0}, "r1")
		c.extend(simple("r4", "Neg", "r1"), simple("r5", "Neg", "r4:0"))
		c.step([]any{"a", 1.0, "b", 2.0}, "r5", "r1")
		c.extend(simple("bad", "Neg", "missing"))
		c.extend(simple("bad", "Neg", "r1:7"))
		c.extend(simple("bad", "Neg", "r1:-1"))
		c.extend(simple("bad", "Nag", "r1"))
		c.extend(simple("bad", "Neg", "nothing"))
		c.extend(simple("bad", "Neg", "r5"))
		c.step([]any{"a", 1.0, "b", 2.0}, "bad")
	}},
	{name: "extend/order of nodes", run: func(c *caller) {
		c.create()
		c.extend(simple("later", "Neg", "first"), constant("first", 4.0))
		c.step(nil, "later")
	}},
	{name: "extend/old node by new", run: func(c *caller) {
		c.create(simple("x", "Neg", "y"))
		c.extend(constant("y", 4.0))
		c.step(nil, "x")
	}},
	{name: "extend/producers", run: func(c *caller) {
		c.createWith(nil, &pb.GraphDef{Node: abc(), Versions: &pb.VersionDef{Producer: 27}})
		for _, v := range []*pb.VersionDef{nil, {Producer: 26}, {Producer: 1 << 30}, {Producer: 27, MinConsumer: 1 << 30}, {Producer: 27, BadConsumers: []int32{1}}} {
			c.extendBy(&pb.GraphDef{Node: []*pb.NodeDef{constant(fmt.Sprint("p", len(c.lines)), 1.0)}, Versions: v})
		}
	}},
	{name: "extend/empty session's producer", run: func(c *caller) {
		c.createWith(nil, &pb.GraphDef{Versions: &pb.VersionDef{Producer: 21}})
		c.extendBy(&pb.GraphDef{Node: abc(), Versions: &pb.VersionDef{Producer: 27}})
		c.step(nil, "c")
	}},
	{name: "extend/no versions", run: func(c *caller) {
		c.createWith(nil, &pb.GraphDef{Node: abc()})
		c.extendBy(&pb.GraphDef{Node: []*pb.NodeDef{constant("k", 1.0)}})
		c.step(nil, "k")
		c.extendBy(&pb.GraphDef{Node: []*pb.NodeDef{constant("l", 1.0)}, Versions: &pb.VersionDef{Producer: 27}})
		c.step(nil, "l")
	}},
	{name: "extend/functions", run: func(c *caller) {
		c.createWith(nil, &pb.GraphDef{Versions: &pb.VersionDef{Producer: 27}, Library: library(function("F", "Neg"))})
		c.extendBy(&pb.GraphDef{Node: []*pb.NodeDef{constant("k", 1.0), nodeOf("f", "F", ins{"k"})}, Versions: &pb.VersionDef{Producer: 27}, Library: library(function("F", "Neg"))})
		c.step(nil, "f")
		c.extendBy(&pb.GraphDef{Node: []*pb.NodeDef{nodeOf("g", "G", ins{"k"})}, Versions: &pb.VersionDef{Producer: 27}, Library: library(function("G", "Square"))})
		c.step(nil, "g")
		c.extendBy(&pb.GraphDef{Node: []*pb.NodeDef{nodeOf("h", "F", ins{"k"})}, Versions: &pb.VersionDef{Producer: 27}, Library: library(function("F", "Square"))})
		c.step(nil, "h:0")
		c.step(nil, "f")
	}},
	{name: "extend/after a failed one", run: func(c *caller) {
		c.create(abc()...)
		c.extend(at("/job:nowhere/task:0", constant("k", 1.0)))
		c.extend(constant("k", 1.0))
		c.step(nil, "k")
	}},
	{name: "extend/huge version", run: func(c *caller) {
		c.create(abc()...)
		c.version = 1<<63 - 1
		c.extend(constant("k", 1.0))
	}},

	{name: "devices/all", run: func(c *caller) { c.listDevices("") }},
	{name: "devices/of a session", run: func(c *caller) { c.create(); c.listDevices(c.session) }},

	{name: "reset/nothing named", run: func(c *caller) {
		c.create(counter("kept", task0)...)
		c.runStep(&pb.RunStepRequest{Target: []string{"kept/init"}})
		c.reset(nil, nil)
		c.step(nil, "kept/read")
		c.create(counter("kept", task0)...)
		c.step(nil, "kept/read")
	}},
	{name: "reset/other container", run: func(c *caller) {
		c.create(counter("other", task1)...)
		c.runStep(&pb.RunStepRequest{Target: []string{"other/init"}})
		c.reset([]string{"unknown", "", "x/y"}, nil)
		c.create(counter("other", task1)...)
		c.step(nil, "other/read")
	}},
	{name: "reset/filtered", run: func(c *caller) {
		c.create(append(counter("f0", task0), counter("f1", task1)...)...)
		c.runStep(&pb.RunStepRequest{Target: []string{"f0/init", "f1/init"}})
		c.reset(nil, []string{"/job:worker/task:1"})
		c.create(append(counter("f0", task0), counter("f1", task1)...)...)
		c.step(nil, "f0/read")
		c.step(nil, "f1/read")
	}},
}

func (c *caller) listDevices(session string) {
	resp, err := c.master.ListDevices(within(c), &pb.ListDevicesRequest{SessionHandle: session})
	c.ended("ListDevices", err, describeDevices("local", resp.GetLocalDevice()), describeDevices("remote", resp.GetRemoteDevice()))
}

func describeDevices(what string, all []*pb.DeviceAttributes) string {
	var out []string
	for _, d := range all {
		out = append(out, d.GetName())
	}
	slices.Sort(out)
	return what + fmt.Sprint(out)
}

func (c *caller) reset(containers, filters []string) {
	_, err := c.master.Reset(within(c), &pb.ResetRequest{Container: containers, DeviceFilters: filters})
	c.ended("Reset", err)
}

// cluster is one that a session brings along.
func (c *caller) cluster(job string, addr ...string) *pb.ClusterDef {
	tasks := map[int32]string{}
	for i, a := range addr {
		tasks[int32(i)] = a
	}
	return &pb.ClusterDef{Job: []*pb.JobDef{{Name: job, Tasks: tasks}}}
}

func library(f ...*pb.FunctionDef) *pb.FunctionDefLibrary {
	return &pb.FunctionDefLibrary{Function: f}
}

// function applies a unary op.
func function(name, op string) *pb.FunctionDef {
	return &pb.FunctionDef{
		Signature: &pb.OpDef{Name: name, InputArg: []*pb.OpDef_ArgDef{{Name: "x", Type: pb.DataType(tf.Float32)}}, OutputArg: []*pb.OpDef_ArgDef{{Name: "y", Type: pb.DataType(tf.Float32)}}},
		NodeDef:   []*pb.NodeDef{simple("n", op, "x")},
		Ret:       map[string]string{"y": "n:y:0"},
	}
}
