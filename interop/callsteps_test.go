package interop

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/pb"
)

// stepped is a sequence of one step on a graph.
func stepped(name string, nodes []*pb.NodeDef, feeds []any, fetches ...string) sequence {
	return sequence{name: "step/" + name, run: func(c *caller) { c.create(nodes...); c.step(feeds, fetches...) }}
}

// asked is a sequence of one step with more than feeds and fetches.
func asked(name string, nodes []*pb.NodeDef, reqs ...*pb.RunStepRequest) sequence {
	return sequence{name: "step/" + name, run: func(c *caller) {
		c.create(nodes...)
		for _, r := range reqs {
			r.SessionHandle = ""
			c.runStep(r)
		}
	}}
}

func fetching(o *pb.RunOptions, names ...string) *pb.RunStepRequest {
	return &pb.RunStepRequest{Fetch: names, Options: o}
}

func aiming(targets ...string) *pb.RunStepRequest { return &pb.RunStepRequest{Target: targets} }

var ab = []any{"a:0", 1.0, "b:0", 2.0}

// stepCalls run steps, right and wrong.
var stepCalls = []sequence{
	stepped("fetch", abc(), ab, "r2:0"),
	stepped("fetches twice", abc(), ab, "r2:0", "r2:0", "r1:0"),
	stepped("short names", abc(), []any{"a", 1.0, "b", 2.0}, "r2", "r2:0"),
	stepped("nothing", abc(), nil),
	stepped("feeds only", abc(), ab),
	stepped("feed that nobody needs", abc(), []any{"a:0", 1.0}, "c:0"),
	stepped("feed what is fetched", abc(), ab, "a:0"),
	stepped("feed all that is fetched", abc(), []any{"r1:0", 5.0}, "r1:0", "r2:0"),
	stepped("feed between", abc(), []any{"r1:0", 5.0}, "r2:0"),
	stepped("feed twice", abc(), []any{"a:0", 1.0, "a:0", 3.0, "b:0", 2.0}, "r1:0"),
	stepped("feed twice by two names", abc(), []any{"a:0", 1.0, "a", 3.0, "b:0", 2.0}, "r1:0"),
	stepped("feed missing", abc(), []any{"a:0", 1.0}, "r1:0"),
	stepped("feed of unknown", abc(), []any{"q:0", 1.0}, "c:0"),
	stepped("feed of unknown output", abc(), []any{"a:1", 1.0}, "c:0"),
	stepped("feed of control", abc(), []any{"^a", 1.0}, "c:0"),
	stepped("feed of no name", abc(), []any{"", 1.0}, "c:0"),
	stepped("feed of what has no output", abc(), []any{"nothing:0", 1.0}, "c:0"),
	stepped("feed of other type", abc(), []any{"a:0", 1, "b:0", 2.0}, "r1:0"),
	stepped("feed of other type between", abc(), []any{"r1:0", "text"}, "r2:0"),
	stepped("feed of other shape", append(abc(), nodeOf("v", "Placeholder", nil, "dtype", tf.Float32, "shape", []int64{3}), simple("w", "Neg", "v")), []any{"v:0", []float32{1, 2}}, "w:0"),
	stepped("feed without tensor", abc(), []any{"a:0", nil, "b:0", 2.0}, "r1:0"),
	stepped("feed of empty tensor", abc(), []any{"a:0", &pb.TensorProto{}, "b:0", 2.0}, "r1:0"),
	stepped("feed of unknown type", abc(), []any{"a:0", &pb.TensorProto{Dtype: 9999}, "b:0", 2.0}, "r1:0"),
	stepped("feed of negative shape", abc(), []any{"a:0", &pb.TensorProto{Dtype: 1, TensorShape: shapeOf([]int64{-1})}, "b:0", 2.0}, "r1:0"),
	stepped("feed of huge shape", abc(), []any{"a:0", &pb.TensorProto{Dtype: 1, TensorShape: shapeOf([]int64{1 << 40, 1 << 40})}, "b:0", 2.0}, "r1:0"),
	stepped("feed of unknown rank", abc(), []any{"a:0", &pb.TensorProto{Dtype: 1, TensorShape: &pb.TensorShapeProto{UnknownRank: true}}, "b:0", 2.0}, "r1:0"),
	stepped("feed of short content", abc(), []any{"a:0", &pb.TensorProto{Dtype: 1, TensorShape: shapeOf([]int64{2}), TensorContent: []byte{1, 2, 3}}, "b:0", 2.0}, "r1:0"),
	stepped("feed of long content", abc(), []any{"a:0", &pb.TensorProto{Dtype: 1, TensorShape: shapeOf([]int64{1}), TensorContent: make([]byte, 8)}, "b:0", 2.0}, "r1:0"),
	stepped("feed of too many values", abc(), []any{"a:0", &pb.TensorProto{Dtype: 1, TensorShape: shapeOf([]int64{1}), FloatVal: []float32{1, 2, 3}}, "b:0", 2.0}, "r1:0"),
	stepped("feed of too few values", abc(), []any{"a:0", &pb.TensorProto{Dtype: 1, TensorShape: shapeOf([]int64{3}), FloatVal: []float32{1, 2}}, "b:0", 2.0}, "r1:0"),
	stepped("feed of no values", abc(), []any{"a:0", &pb.TensorProto{Dtype: 1, TensorShape: shapeOf([]int64{2})}, "b:0", 2.0}, "r1:0"),
	stepped("feed of reference type", abc(), []any{"a:0", &pb.TensorProto{Dtype: 101, TensorShape: shapeOf(nil), FloatVal: []float32{1}}, "b:0", 2.0}, "r1:0"),
	stepped("fetch of unknown", abc(), nil, "q:0"),
	stepped("fetch of unknown output", abc(), nil, "c:1"),
	stepped("fetch of what has no output", abc(), nil, "nothing:0"),
	stepped("fetch of control", abc(), nil, "^c"),
	stepped("fetch of no name", abc(), nil, ""),
	stepped("fetch of odd names", abc(), nil, ":0"),
	stepped("fetch of letters for an index", abc(), nil, "c:x"),
	stepped("fetch of negative index", abc(), nil, "c:-1"),
	stepped("fetch of large index", abc(), nil, "c:99999999999999999999"),
	stepped("fetch of index with zeros", abc(), nil, "c:00"),
	stepped("fetch of two colons", abc(), nil, "c:0:0"),
	stepped("fetch with blanks", abc(), nil, " c:0"),
	stepped("fetch with a line's end", abc(), nil, "c:0\n"),
	stepped("fetch of a long name", abc(), nil, strings.Repeat("long", 2000)),
	stepped("fetch of source and sink", abc(), nil, "_SOURCE:0", "_SINK:0"),
	asked("target", abc(), aiming("c"), aiming("nothing"), aiming("nothing", "nothing", "c")),
	asked("target of unknown", abc(), aiming("q"), aiming(""), aiming("c", "q")),
	asked("target with output", abc(), aiming("c:0"), aiming("^c"), aiming("c:7")),
	asked("target that is fed", abc(), &pb.RunStepRequest{Feed: feedsOf([]any{"a:0", 1.0}), Target: []string{"a"}}),
	asked("target behind feeds", abc(), &pb.RunStepRequest{Feed: feedsOf([]any{"r1:0", 1.0, "b:0", 1.0}), Target: []string{"after"}}),
	asked("target and fetch", abc(), &pb.RunStepRequest{Feed: feedsOf(ab), Fetch: []string{"r1"}, Target: []string{"r2", "after"}}),
	asked("timeout", waits("tq", task0), fetching(&pb.RunOptions{TimeoutInMs: 200}, "tq/take")),
	asked("timeout elsewhere", waits("tq1", task1), fetching(&pb.RunOptions{TimeoutInMs: 200}, "tq1/take")),
	asked("timeout is negative", abc(), fetching(&pb.RunOptions{TimeoutInMs: -5}, "c")),
	asked("timeout is long", abc(), fetching(&pb.RunOptions{TimeoutInMs: 1 << 62}, "c")),
	asked("thread pools", abc(), fetching(&pb.RunOptions{InterOpThreadPool: -1}, "c"), fetching(&pb.RunOptions{InterOpThreadPool: 3}, "c"), fetching(&pb.RunOptions{InterOpThreadPool: -7}, "c")),
	asked("run handler pools", abc(), fetching(&pb.RunOptions{Experimental: &pb.RunOptions_Experimental{UseRunHandlerPool: true}}, "c")),
	asked("traces", across(),
		&pb.RunStepRequest{Feed: feedsOf([]any{"a", 1.0}), Fetch: []string{"y"}, Options: &pb.RunOptions{TraceLevel: 1}},
		&pb.RunStepRequest{Feed: feedsOf([]any{"a", 1.0}), Fetch: []string{"y"}, Options: &pb.RunOptions{TraceLevel: 2}},
		&pb.RunStepRequest{Feed: feedsOf([]any{"a", 1.0}), Fetch: []string{"y"}, Options: &pb.RunOptions{TraceLevel: 3}},
		&pb.RunStepRequest{Feed: feedsOf([]any{"a", 1.0}), Fetch: []string{"y"}, Options: &pb.RunOptions{TraceLevel: 77}}),
	asked("partitions", across(), &pb.RunStepRequest{Feed: feedsOf([]any{"a", 1.0}), Fetch: []string{"y"}, Options: &pb.RunOptions{OutputPartitionGraphs: true}}),
	{name: "step/partitions that the session does without", run: func(c *caller) {
		c.createWith(&pb.ConfigProto{Experimental: &pb.ConfigProto_Experimental{DisableOutputPartitionGraphs: true}}, graphOf(abc()...))
		c.runStep(fetching(&pb.RunOptions{OutputPartitionGraphs: true}, "c"))
		c.step(nil, "c")
	}},
	{name: "step/costs", run: func(c *caller) {
		for _, every := range []int64{0, 1, 2, -1} {
			c.createWith(&pb.ConfigProto{GraphOptions: &pb.GraphOptions{BuildCostModel: every}}, graphOf(abc()...))
			for range 3 {
				c.step(nil, "c")
			}
		}
	}},
	asked("collective key", abc(), fetching(&pb.RunOptions{Experimental: &pb.RunOptions_Experimental{CollectiveGraphKey: 17}}, "c")),
	asked("report of allocations", abc(), fetching(&pb.RunOptions{ReportTensorAllocationsUponOom: true}, "c")),
	asked("fails", fails("f", task0), fetching(nil, "f"), &pb.RunStepRequest{Fetch: []string{"f"}, StoreErrorsInResponseBody: true}),
	asked("fails elsewhere", fails("f", task1), fetching(nil, "f"), &pb.RunStepRequest{Fetch: []string{"f"}, StoreErrorsInResponseBody: true}),
	asked("errors in the response", abc(), &pb.RunStepRequest{Fetch: []string{"q:0"}, StoreErrorsInResponseBody: true}, &pb.RunStepRequest{Fetch: []string{"c"}, StoreErrorsInResponseBody: true}),
	{name: "step/errors in the response without a session", run: func(c *caller) {
		c.session = "none"
		c.runStep(&pb.RunStepRequest{Fetch: []string{"q:0"}, StoreErrorsInResponseBody: true})
	}},
	stepped("across tasks", across(), []any{"a:0", 2.0}, "y:0", "x:0", "z:0"),
	stepped("across tasks, fed between", across(), []any{"x:0", 2.0}, "z:0"),
	stepped("across tasks, fed and fetched", across(), []any{"x:0", 2.0, "a:0", 1.0}, "x:0", "a:0"),
	asked("target elsewhere", across(), &pb.RunStepRequest{Feed: feedsOf([]any{"a", 1.0}), Target: []string{"x"}}),
	stepped("unused value elsewhere waits for nobody", append(across(), at(task1, constant("k", 1.0))), nil, "k"),
	{name: "step/request twice", run: func(c *caller) {
		c.create(abc()...)
		c.runStep(&pb.RunStepRequest{Fetch: []string{"c"}, RequestId: 4242})
		c.runStep(&pb.RunStepRequest{Fetch: []string{"c"}, RequestId: 4242})
		c.runStep(&pb.RunStepRequest{Fetch: []string{"c"}, RequestId: -4242})
		c.runStep(&pb.RunStepRequest{Fetch: []string{"c"}, RequestId: 0})
		c.runStep(&pb.RunStepRequest{Fetch: []string{"c"}, RequestId: 0})
		_, err := c.master.PartialRunSetup(within(c), &pb.PartialRunSetupRequest{SessionHandle: c.session, Fetch: []string{"c"}, RequestId: 4242})
		c.ended("PartialRunSetup", err)
		_, err = c.master.MakeCallable(within(c), &pb.MakeCallableRequest{SessionHandle: c.session, RequestId: 4242})
		c.ended("MakeCallable", err)
		_, err = c.master.RunCallable(within(c), &pb.RunCallableRequest{SessionHandle: c.session, RequestId: 4242})
		c.ended("RunCallable", err)
	}},
	{name: "step/request twice without a session", run: func(c *caller) {
		c.runStep(&pb.RunStepRequest{SessionHandle: "none", RequestId: 777})
		c.runStep(&pb.RunStepRequest{SessionHandle: "none", RequestId: 777})
	}},
	{name: "step/uninitialized", run: func(c *caller) {
		c.create(slices.Concat(counter("never", task0), counter("never1", task1), counter("ever", task0), counter("ever1", task1))...)
		c.runStep(aiming("ever/init", "ever1/init")) // containers are there
		c.step(nil, "never/read")
		c.step(nil, "never1/read")
		c.runStep(aiming("never/add"))
	}},
	{name: "step/handles", run: func(c *caller) {
		c.create(counter("h", task0)...)
		c.step(nil, "h:0")
	}},
	{name: "step/dead value", run: func(c *caller) {
		c.create(constant("x", 1.0), constant("p", false), nodeOf("s", "Switch", ins{"x", "p"}, "T", tf.Float32), simple("dead", "Neg", "s:1"), simple("live", "Neg", "s:0"))
		c.step(nil, "s:0")
		c.step(nil, "dead:0")
		c.step(nil, "s:1")
		c.step(nil, "live:0")
		c.runStep(aiming("dead"))
	}},
	{name: "step/reads and writes", run: func(c *caller) {
		c.create(slices.Concat(counter("rw", task1), counter("here", task0))...)
		c.runStep(aiming("rw/init", "here/init"))
		c.runStep(aiming("rw/add"))
		c.runStep(&pb.RunStepRequest{Fetch: []string{"rw/read:0", "here/read:0"}, Target: []string{"nothing"}})
		c.step(nil, "rw/read:0", "here/read:0")
	}},
	{name: "step/dead value elsewhere", run: func(c *caller) {
		c.create(at(task1, constant("x", 1.0)), at(task1, constant("p", false)), at(task1, nodeOf("s", "Switch", ins{"x", "p"}, "T", tf.Float32)), at(task0, simple("dead", "Neg", "s:1")))
		c.step(nil, "dead:0")
	}},
	{name: "step/after a failure", run: func(c *caller) {
		c.create(append(append(abc(), fails("f", task0)...), fails("f1", task1)...)...)
		c.step(nil, "f")
		c.step(nil, "c")
		c.step(nil, "f1")
		c.step(nil, "c")
	}},
	{name: "step/many fetches", run: func(c *caller) {
		var nodes []*pb.NodeDef
		var names []string
		for i := range 200 {
			nodes = append(nodes, at([]string{task0, task1}[i%2], constant(fmt.Sprint("k", i), float64(i))))
			names = append(names, fmt.Sprintf("k%d:0", i))
		}
		c.create(nodes...)
		c.step(nil, names...)
	}},
}
