package interop

import (
	"github.com/gorge-tf/gorge/tf/pb"
)

// calling is a sequence that makes a callable and runs it.
func calling(name string, o *pb.CallableOptions, feeds ...any) sequence {
	return sequence{name: "callable/" + name, run: func(c *caller) {
		c.create(abc()...)
		c.runCallable(c.makeCallable(o), feeds...)
	}}
}

func callable(feeds, fetches, targets []string) *pb.CallableOptions {
	return &pb.CallableOptions{Feed: feeds, Fetch: fetches, Target: targets}
}

// callableCalls make, run and release callables.
var callableCalls = []sequence{
	calling("fetch", callable([]string{"a:0", "b:0"}, []string{"r2:0", "r1:0"}, nil), 1.0, 2.0),
	calling("short names", callable([]string{"a", "b"}, []string{"r2", "r1"}, nil), 1.0, 2.0),
	calling("fetches twice", callable([]string{"a:0", "b:0"}, []string{"r2:0", "r1:0", "r2:0"}, nil), 1.0, 2.0),
	calling("feeds twice", callable([]string{"a:0", "a:0", "b:0"}, []string{"r1:0"}, nil), 1.0, 3.0, 2.0),
	calling("target", callable(nil, nil, []string{"nothing"})),
	calling("nothing", callable(nil, nil, nil)),
	calling("no options", nil),
	calling("fetch what is fed", callable([]string{"a:0"}, []string{"a:0"}, nil), 1.0),
	calling("feed that nobody needs", callable([]string{"a:0"}, []string{"c:0"}, nil), 1.0),
	calling("too few feeds", callable([]string{"a:0", "b:0"}, []string{"r1:0"}, nil), 1.0),
	calling("too many feeds", callable([]string{"a:0", "b:0"}, []string{"r1:0"}, nil), 1.0, 2.0, 3.0),
	calling("feed of other type", callable([]string{"a:0", "b:0"}, []string{"r1:0"}, nil), 1, 2.0),
	calling("feed without tensor", callable([]string{"a:0", "b:0"}, []string{"r1:0"}, nil), &pb.TensorProto{}, 2.0),
	calling("feed missing", callable([]string{"a:0"}, []string{"r1:0"}, nil), 1.0),
	calling("unknown feed", callable([]string{"q:0"}, []string{"r1:0"}, nil)),
	calling("unknown fetch", callable(nil, []string{"q:0"}, nil)),
	calling("unknown target", callable(nil, nil, []string{"q"})),
	calling("fetch of what has no output", callable(nil, []string{"nothing:0"}, nil)),
	calling("feed devices", &pb.CallableOptions{Feed: []string{"a:0"}, Fetch: []string{"a:0"}, FeedDevices: map[string]string{"a:0": task0 + "/device:CPU:0"}}, 1.0),
	calling("fetch devices", &pb.CallableOptions{Feed: []string{"a:0"}, Fetch: []string{"a:0"}, FetchDevices: map[string]string{"a:0": task0 + "/device:CPU:0"}}, 1.0),
	calling("fetch without waiting", &pb.CallableOptions{Fetch: []string{"c:0"}, FetchSkipSync: true}),
	calling("connection", &pb.CallableOptions{Feed: []string{"a:0", "b:0"}, Fetch: []string{"r3:0"}, TensorConnection: []*pb.TensorConnection{{FromTensor: "a:0", ToTensor: "c:0"}}}, 1.0, 2.0),
	calling("connection of a node", &pb.CallableOptions{Feed: []string{"a:0", "b:0"}, Fetch: []string{"r3:0"}, TensorConnection: []*pb.TensorConnection{{FromTensor: "r1:0", ToTensor: "c:0"}}}, 1.0, 2.0),
	calling("connection in a circle", &pb.CallableOptions{Feed: []string{"a:0", "b:0"}, Fetch: []string{"r3:0"}, TensorConnection: []*pb.TensorConnection{{FromTensor: "r3:0", ToTensor: "r1:0"}}}, 1.0, 2.0),
	calling("connection to what is fetched", &pb.CallableOptions{Feed: []string{"a:0", "b:0"}, Fetch: []string{"r1:0"}, TensorConnection: []*pb.TensorConnection{{FromTensor: "c:0", ToTensor: "r1:0"}}}, 1.0, 2.0),
	calling("connection from no output", &pb.CallableOptions{Fetch: []string{"r3:0"}, TensorConnection: []*pb.TensorConnection{{FromTensor: "a:7", ToTensor: "c:0"}}}),
	calling("connection twice", &pb.CallableOptions{Fetch: []string{"r3:0"}, TensorConnection: []*pb.TensorConnection{{FromTensor: "a:0", ToTensor: "c:0"}, {FromTensor: "b:0", ToTensor: "c:0"}}}),
	calling("connection and feed", &pb.CallableOptions{Feed: []string{"c:0"}, Fetch: []string{"r3:0"}, TensorConnection: []*pb.TensorConnection{{FromTensor: "a:0", ToTensor: "c:0"}}}, 1.0),
	calling("connection from unknown", &pb.CallableOptions{Fetch: []string{"r3:0"}, TensorConnection: []*pb.TensorConnection{{FromTensor: "q:0", ToTensor: "c:0"}}}),
	calling("connection to unknown", &pb.CallableOptions{Fetch: []string{"r3:0"}, TensorConnection: []*pb.TensorConnection{{FromTensor: "a:0", ToTensor: "q:0"}}}),
	calling("trace", &pb.CallableOptions{Fetch: []string{"c:0"}, RunOptions: &pb.RunOptions{TraceLevel: 3}}),
	calling("partitions", &pb.CallableOptions{Fetch: []string{"c:0"}, RunOptions: &pb.RunOptions{OutputPartitionGraphs: true}}),
	calling("thread pool", &pb.CallableOptions{Fetch: []string{"c:0"}, RunOptions: &pb.RunOptions{InterOpThreadPool: 5}}),
	{name: "callable/timeout", run: func(c *caller) {
		c.create(waits("cq", task0)...)
		c.runCallable(c.makeCallable(&pb.CallableOptions{Fetch: []string{"cq/take:0"}, RunOptions: &pb.RunOptions{TimeoutInMs: 200}}))
	}},
	{name: "callable/handles", run: func(c *caller) {
		c.create(abc()...)
		c.runCallable(0)
		c.runCallable(-1)
		c.runCallable(1 << 62)
		c.release(0)
		h := c.makeCallable(callable(nil, []string{"c:0"}, nil))
		c.makeCallable(callable(nil, []string{"c:0"}, nil))
		c.runCallable(h)
		c.release(h)
		c.release(h)
		c.release(-5)
		c.runCallable(h)
		c.runCallable(1)
		c.makeCallable(callable(nil, []string{"c:0"}, nil))
		c.runCallable(2)
	}},
	{name: "callable/of a session that is closed", run: func(c *caller) {
		c.create(abc()...)
		c.makeCallable(callable(nil, []string{"c:0"}, nil))
		c.close()
		c.runCallable(0)
	}},
	{name: "callable/of another session", run: func(c *caller) {
		c.create(abc()...)
		c.makeCallable(callable(nil, []string{"c:0"}, nil))
		c.create(abc()...)
		c.runCallable(0)
	}},
	{name: "callable/after an extension", run: func(c *caller) {
		c.create(abc()...)
		c.makeCallable(callable(nil, []string{"k:0"}, nil))
		c.extend(constant("k", 1.0))
		c.runCallable(c.makeCallable(callable(nil, []string{"k:0"}, nil)))
		c.extend(constant("l", 1.0))
		c.runCallable(0)
	}},
	{name: "callable/across tasks", run: func(c *caller) {
		c.create(across()...)
		h := c.makeCallable(callable([]string{"a:0"}, []string{"y:0", "x:0"}, []string{"z"}))
		c.runCallable(h, 2.0)
		c.runCallable(h, 3.0)
	}},
	{name: "callable/fails", run: func(c *caller) {
		c.create(fails("f", task1)...)
		h := c.makeCallable(callable(nil, []string{"f:0"}, nil))
		c.runCallable(h)
		c.runCallable(h)
	}},
	{name: "callable/costs", run: func(c *caller) {
		c.createWith(&pb.ConfigProto{GraphOptions: &pb.GraphOptions{BuildCostModel: 2}}, graphOf(abc()...))
		h := c.makeCallable(callable(nil, []string{"c:0"}, nil))
		c.runCallable(h)
		c.runCallable(h)
		h = c.makeCallable(callable(nil, []string{"c:0"}, nil))
		c.runCallable(h)
		c.step(nil, "c:0")
		c.runCallable(h)
	}},
}

// inPieces is a sequence that sets a partial run up.
func inPieces(name string, feeds, fetches, targets []string, run func(c *caller, handle string)) sequence {
	return sequence{name: "partial/" + name, run: func(c *caller) {
		c.create(abc()...)
		run(c, c.setUp(feeds, fetches, targets))
	}}
}

// partialCalls run steps in pieces.
var partialCalls = []sequence{
	inPieces("two", []string{"a:0", "b:0", "c:0"}, []string{"r1:0", "r2:0"}, nil, func(c *caller, h string) {
		c.piece(h, ab, "r1:0")
		c.piece(h, []any{"c:0", 3.0}, "r2:0")
		c.piece(h, nil, "r2:0")
	}),
	inPieces("fed and fetched again", []string{"a:0", "b:0", "c:0"}, []string{"r1:0", "r2:0"}, nil, func(c *caller, h string) {
		c.piece(h, ab, "r1:0")
		c.piece(h, []any{"a:0", 3.0}, "r2:0")
		c.piece(h, nil, "r1:0")
		c.piece(h, []any{"c:0", 3.0}, "r2:0")
	}),
	inPieces("not announced", []string{"a:0", "b:0"}, []string{"r1:0"}, nil, func(c *caller, h string) {
		c.piece(h, []any{"c:0", 3.0}, "r1:0")
		c.piece(h, ab, "r2:0")
		c.piece(h, ab, "r1:0")
	}),
	inPieces("too early", []string{"a:0", "b:0", "c:0"}, []string{"r1:0", "r2:0"}, nil, func(c *caller, h string) {
		c.piece(h, []any{"a:0", 1.0}, "r1:0")
		c.piece(h, ab, "r2:0")
	}),
	inPieces("nothing at all", []string{"a:0", "b:0"}, []string{"r1:0"}, nil, func(c *caller, h string) {
		c.piece(h, nil)
		c.piece(h, ab, "r1:0")
	}),
	inPieces("nothing announced", nil, nil, nil, func(c *caller, h string) { c.piece(h, nil) }),
	inPieces("targets only", nil, nil, []string{"nothing"}, func(c *caller, h string) { c.piece(h, nil) }),
	inPieces("unknown feed", []string{"q:0"}, []string{"r1:0"}, nil, func(c *caller, h string) {}),
	inPieces("unknown fetch", nil, []string{"q:0"}, nil, func(c *caller, h string) {}),
	inPieces("unknown target", nil, nil, []string{"q"}, func(c *caller, h string) {}),
	inPieces("feed announced twice", []string{"a:0", "a:0", "b:0"}, []string{"r1:0"}, nil, func(c *caller, h string) { c.piece(h, ab, "r1:0") }),
	inPieces("fetch announced twice", []string{"a:0", "b:0"}, []string{"r1:0", "r1:0"}, nil, func(c *caller, h string) { c.piece(h, ab, "r1:0") }),
	inPieces("short names", []string{"a", "b"}, []string{"r1"}, nil, func(c *caller, h string) { c.piece(h, []any{"a", 1.0, "b", 2.0}, "r1") }),
	inPieces("fetch twice in a piece", []string{"a:0", "b:0"}, []string{"r1:0"}, nil, func(c *caller, h string) { c.piece(h, ab, "r1:0", "r1:0") }),
	inPieces("feed twice in a piece", []string{"a:0", "b:0"}, []string{"r1:0"}, nil, func(c *caller, h string) {
		c.piece(h, []any{"a:0", 1.0, "a:0", 5.0, "b:0", 2.0}, "r1:0")
	}),
	inPieces("feed of other type", []string{"a:0", "b:0"}, []string{"r1:0"}, nil, func(c *caller, h string) {
		c.piece(h, []any{"a:0", 1, "b:0", 2.0}, "r1:0")
		c.piece(h, ab, "r1:0")
	}),
	inPieces("feed of nonsense", []string{"a:0", "b:0"}, []string{"r1:0"}, nil, func(c *caller, h string) {
		c.piece(h, []any{"a:0", &pb.TensorProto{Dtype: 1, TensorShape: shapeOf([]int64{-1})}, "b:0", 2.0}, "r1:0")
	}),
	inPieces("collective key", []string{"a:0", "b:0"}, []string{"r1:0"}, nil, func(c *caller, h string) {
		c.runStep(&pb.RunStepRequest{PartialRunHandle: h, Feed: feedsOf(ab), Fetch: []string{"r1:0"}, Options: &pb.RunOptions{Experimental: &pb.RunOptions_Experimental{CollectiveGraphKey: 3}}})
	}),
	inPieces("with options", []string{"a:0", "b:0"}, []string{"r1:0"}, nil, func(c *caller, h string) {
		c.runStep(&pb.RunStepRequest{PartialRunHandle: h, Feed: feedsOf(ab), Fetch: []string{"r1:0"}, Options: &pb.RunOptions{TraceLevel: 3, OutputPartitionGraphs: true}})
	}),
	inPieces("with targets in the piece", []string{"a:0", "b:0"}, []string{"r1:0"}, nil, func(c *caller, h string) {
		c.runStep(&pb.RunStepRequest{PartialRunHandle: h, Feed: feedsOf(ab), Fetch: []string{"r1:0"}, Target: []string{"nothing"}})
	}),
	{name: "partial/unknown handle", run: func(c *caller) {
		c.create(abc()...)
		c.piece("0", ab, "r1:0")
		c.piece("nonsense", ab, "r1:0")
	}},
	{name: "partial/two at once", run: func(c *caller) {
		c.create(abc()...)
		h := c.setUp([]string{"a:0", "b:0"}, []string{"r1:0"}, nil)
		i := c.setUp([]string{"a:0", "b:0"}, []string{"r1:0"}, nil)
		c.piece(h, []any{"a:0", 1.0})
		c.piece(i, []any{"a:0", 5.0})
		c.piece(i, []any{"b:0", 2.0}, "r1:0")
		c.piece(h, []any{"b:0", 2.0}, "r1:0")
	}},
	{name: "partial/session closes", run: func(c *caller) {
		c.create(abc()...)
		h := c.setUp([]string{"a:0", "b:0"}, []string{"r1:0"}, nil)
		c.piece(h, []any{"a:0", 1.0})
		c.close()
		c.piece(h, []any{"b:0", 1.0}, "r1:0")
	}},
	{name: "partial/across tasks", run: func(c *caller) {
		c.create(append(across(), at(task1, holder("b", 1)), at(task1, twofold("sum", "AddV2", "x", "b")))...)
		h := c.setUp([]string{"a:0", "b:0"}, []string{"x:0", "sum:0"}, nil)
		c.piece(h, []any{"a:0", 1.0}, "x:0")
		c.piece(h, []any{"b:0", 1.0}, "sum:0")
	}},
	{name: "partial/fails", run: func(c *caller) {
		c.create(append(fails("f", task1), holder("a", 1), simple("x", "Neg", "a"))...)
		h := c.setUp([]string{"a:0"}, []string{"x:0", "f:0"}, nil)
		c.piece(h, nil, "f:0")
		c.piece(h, []any{"a:0", 1.0}, "x:0")
	}},
}
