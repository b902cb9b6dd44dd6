package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// function is the text of a function of one float, a, whose result is given.
func function(name, ret string, nodes ...string) string {
	return fmt.Sprintf(`function { signature { name: "%s" input_arg { name: "a" type: DT_FLOAT } output_arg { name: "o" type: DT_FLOAT } } %s ret { key: "o" value: "%s" } }
`, name, strings.Join(nodes, "\n"), ret)
}

// calling is a node of a function that calls another one.
func calling(node, f, x string) string {
	return fmt.Sprintf(`node_def { name: "%s" op: "PartitionedCall" input: "%s" attr { key: "f" value { func { name: "%s" } } }
		attr { key: "Tin" value { list { type: DT_FLOAT } } } attr { key: "Tout" value { list { type: DT_FLOAT } } } }`, node, x, f)
}

// branch is a node of a function that calls one of two, by whether a is less than
// 0.
func branch(node, then, other, x string, lowered bool) string {
	return fmt.Sprintf(`node_def { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 0 } } } }
		node_def { name: "less" op: "Less" input: "a" input: "zero:output:0" attr { key: "T" value { type: DT_FLOAT } } }
		node_def { name: "%s" op: "StatelessIf" input: "less:z:0" input: "%s" attr { key: "Tcond" value { type: DT_BOOL } } attr { key: "then_branch" value { func { name: "%s" } } } attr { key: "else_branch" value { func { name: "%s" } } }
		attr { key: "Tin" value { list { type: DT_FLOAT } } } attr { key: "Tout" value { list { type: DT_FLOAT } } } attr { key: "_lower_using_switch_merge" value { b: %v } } }`, node, x, then, other, lowered)
}

// lessOne is a node of a function: a - 1.
const lessOne = `node_def { name: "one" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 1 } } } }
	node_def { name: "sub" op: "Sub" input: "a" input: "one:output:0" attr { key: "T" value { type: DT_FLOAT } } }`

// twice is a nest of functions of which each calls the one before twice.
func twice(depth int, call func(node, f, x string) string) string {
	text := function("E0", "a")
	for i := 1; i <= depth; i++ {
		f := fmt.Sprintf("E%d", i-1)
		text += function(fmt.Sprintf("E%d", i), "d:output:0", call("c", f, "a"), call("d", f, "c:output:0"))
	}
	return text
}

// countdown calls itself until a is less than 0.
func countdown(lowered bool) string {
	return function("same", "a") + function("down", "if:output:0", branch("if", "same", "next", "a", lowered)) + function("next", "c:output:0", lessOne, calling("c", "down", "sub:z:0"))
}

// graphOf is a graph that calls a function with what is fed to x.
func graphOf(t testing.TB, functions, f string) (*tf.Graph, tf.Output, tf.Output) {
	t.Helper()
	def := &pb.GraphDef{}
	text := fmt.Sprintf(`node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } attr { key: "shape" value { shape {} } } }
		node { name: "y" op: "PartitionedCall" input: "x" attr { key: "f" value { func { name: "%s" } } }
		attr { key: "Tin" value { list { type: DT_FLOAT } } } attr { key: "Tout" value { list { type: DT_FLOAT } } } } library { %s }`, f, functions)
	if err := prototext.Unmarshal([]byte(text), def); err != nil {
		t.Fatal(err)
	}
	data, err := proto.Marshal(def)
	if err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	if err := g.ImportGraphDef(data, tf.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	return g, g.Operation("x").Output(0), g.Operation("y").Output(0)
}

// TestRunawayFunctions: functions that never end, or come to more than can be run,
// fail at once, and say which and how far.
func TestRunawayFunctions(t *testing.T) {
	for _, c := range []struct {
		name, functions, f string
		code               tf.Code
		want               string
	}{
		{"itself", function("R", "c:output:0", calling("c", "R", "a")), "R", tf.InvalidArgument, "R calls itself whatever its arguments are (R -> R)"},
		{"by name", function("R", "c:o:0", `node_def { name: "c" op: "R" input: "a" }`), "R", tf.InvalidArgument, "(R -> R)"},
		{"one another", function("F", "c:output:0", calling("c", "G", "a")) + function("G", "c:output:0", calling("c", "F", "a")), "F", tf.InvalidArgument, "(G -> F -> G)"},
		{"either branch", function("R", "if:output:0", branch("if", "R", "R", "a", true)), "R", tf.InvalidArgument, "(R -> R)"},
		{"its own gradient", function("R", "c:output:0", `node_def { name: "c" op: "SymbolicGradient" input: "a" input: "a" attr { key: "f" value { func { name: "R" } } }
			attr { key: "Tin" value { list { type: DT_FLOAT type: DT_FLOAT } } } attr { key: "Tout" value { list { type: DT_FLOAT } } } }`), "R", tf.InvalidArgument, "gradient of R calls itself"},
		{"40 deep, each twice", twice(40, calling), "E40", tf.ResourceExhausted, "a call of a function must run at most 10000000 nodes (limit max_nodes): one of E40 runs at least 2199023255550"},
		{"too deep a recursion", countdown(true), "down", tf.ResourceExhausted, "calls of functions must be at most 5000 deep (limit max_function_depth)"},
		{"too deep a recursion by kernels", countdown(false), "down", tf.ResourceExhausted, "calls of functions must be at most 5000 deep (limit max_function_depth)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, x, y := graphOf(t, c.functions, c.f)
			start := time.Now()
			_, err := open(t, g).Run(t.Context(), session.Feeds{x: tf.Scalar(float32(1e9))}, y)
			if tf.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %v: %s", err, c.code, c.want)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestRecursionThatEnds: what calls itself a number of times that depends on
// values works, as do nests of which little is run.
func TestRecursionThatEnds(t *testing.T) {
	skipped := twice(40, func(node, f, x string) string {
		return strings.NewReplacer(`"zero"`, `"zero`+node+`"`, `"less"`, `"less`+node+`"`, `"zero:`, `"zero`+node+`:`, `"less:`, `"less`+node+`:`).Replace(branch(node, "E0", f, x, true))
	})
	for _, c := range []struct {
		name, functions, f string
		x, want            float32
	}{
		{"lowered", countdown(true), "down", 2000, -1},
		{"by kernels", countdown(false), "down", 1000, -1},
		{"one branch never ends", countdown(true) + function("R", "c:output:0", calling("c", "R", "a")) + function("top", "if:output:0", branch("if", "R", "down", "a", true)), "top", 3, -1},
		{"20 deep, each twice", twice(20, calling), "E20", 7, 7},
		{"40 deep, nothing run", skipped, "E40", -3, -3},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, x, y := graphOf(t, c.functions, c.f)
			got, err := session.Fetch[float32](t.Context(), open(t, g), session.Feeds{x: tf.Scalar(c.x)}, y)
			if err != nil || got[0] != c.want {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

// TestLimits: the limits of a session count.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits session.Limits
		want   string
	}{
		{"depth", session.Limits{FunctionDepth: 30}, "RESOURCE_EXHAUSTED: calls of functions must be at most 30 deep"},
		{"calls", session.Limits{FunctionCalls: 20}, "RESOURCE_EXHAUSTED: a step must have at most 20 calls of functions under way"},
		{"nodes", session.Limits{Nodes: 1}, "RESOURCE_EXHAUSTED: a graph must have at most 1 nodes (limit max_nodes), this one has 2"},
		{"time", session.Limits{PlanTime: 1}, "DEADLINE_EXCEEDED: the planning of a graph must take at most 1ns (limit plan_time)"},
	} {
		g, x, y := graphOf(t, countdown(true), "down")
		_, err := open(t, g, session.With(session.Config{Limits: c.limits})).Run(t.Context(), session.Feeds{x: tf.Scalar(float32(100))}, y)
		if err == nil || !strings.Contains(fmt.Sprintf("%v: %v", tf.CodeOf(err), tf.AsError(err).Message()), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	g, x, y := graphOf(t, countdown(true), "down")
	s := open(t, g, session.With(session.Config{Limits: session.Limits{Nodes: -1, FunctionDepth: -1, FunctionCalls: -1, PlanTime: -1}}))
	if got, err := session.Fetch[float32](t.Context(), s, session.Feeds{x: tf.Scalar(float32(6000))}, y); err != nil || got[0] != -1 {
		t.Errorf("without limits: %v, %v", got, err)
	}
}

// TestPlanningEnds: a step that is being planned ends with its context, and with
// its session, and another can take its place.
func TestPlanningEnds(t *testing.T) {
	g, x, y := bigGraph(200_000)
	s := open(t, g)
	feeds := session.Feeds{x: tf.Scalar(float32(1))}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Run(ctx, feeds, y); tf.CodeOf(err) != tf.DeadlineExceeded {
		t.Errorf("at the deadline: %v", err)
	}
	ended := make(chan error, 1)
	go func() { _, err := s.Run(t.Context(), feeds, y); ended <- err }()
	time.Sleep(20 * time.Millisecond)
	start := time.Now()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("the session took %v to close", took)
	}
	if err := within(t, ended); tf.CodeOf(err) != tf.Canceled {
		t.Errorf("the session was closed: %v", err)
	}
}

// bigGraph is a chain of n nodes.
func bigGraph(n int) (g *tf.Graph, x, y tf.Output) {
	g = tf.NewGraph()
	x = ops.Placeholder(g, tf.Float32, tf.Shape{})
	y = x
	for range n {
		y = ops.Sin(y)
	}
	return g, x, y
}
