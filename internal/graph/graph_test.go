package graph_test

import (
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/graph/graphtext"
	"github.com/gorge-tf/gorge/internal/graph/source"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
)

const diamond = `a = Const[dtype=float32, value=float32[2]{1, 2}] @/job:ps/task:1
b = Neg(a)
c = Identity(a, ^b)
d = AddV2(c, b)
`

func parse(t *testing.T, text string) *graph.Graph {
	t.Helper()
	g, err := graphtext.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestProtoRoundTrip(t *testing.T) {
	def, err := parse(t, diamond).Proto()
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(def.Node) // nodes may stand in any order
	data, err := proto.Marshal(def)
	if err != nil {
		t.Fatal(err)
	}
	again := &pb.GraphDef{}
	if err := proto.Unmarshal(data, again); err != nil {
		t.Fatal(err)
	}
	g, err := graph.FromProto(again)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(graphtext.Print(g)), "\n")
	slices.Reverse(lines)
	if got := strings.Join(lines, "\n") + "\n"; got != diamond {
		t.Errorf("got\n%s", got)
	}
}

func TestFromProtoErrors(t *testing.T) {
	node := func(name, op string, in ...string) *pb.NodeDef {
		return &pb.NodeDef{Name: name, Op: op, Input: in, Attr: map[string]*pb.AttrValue{"T": {Value: &pb.AttrValue_Type{Type: pb.DataType(core.Float32)}}}}
	}
	noop := func(name string, in ...string) *pb.NodeDef { return &pb.NodeDef{Name: name, Op: "NoOp", Input: in} }
	arg := node("x", "_Arg")
	arg.Attr["index"] = &pb.AttrValue{Value: &pb.AttrValue_I{I: 0}}
	for name, c := range map[string]struct {
		nodes []*pb.NodeDef
		want  string
	}{
		"op":       {[]*pb.NodeDef{node("a", "Nop")}, "Op type not registered 'Nop'"},
		"attr":     {[]*pb.NodeDef{{Name: "a", Op: "Neg"}}, "NodeDef missing attr 'T' from Op<name=Neg>"},
		"twice":    {[]*pb.NodeDef{noop("a"), noop("a")}, "Node 'a' is not unique"},
		"input":    {[]*pb.NodeDef{node("a", "Neg", "b")}, "Node 'a': Unknown input node 'b'"},
		"output":   {[]*pb.NodeDef{arg, node("a", "Neg", "x:1")}, "Node 'a': Connecting to invalid output 1 of source node x which has 1 outputs."},
		"control":  {[]*pb.NodeDef{noop("a", "^b")}, "Node 'a': Unknown input node '^b'"},
		"number":   {[]*pb.NodeDef{node("a", "Neg", "b:c")}, `a tensor's name has the form node:number, got "b:c"`},
		"too many": {[]*pb.NodeDef{arg, node("a", "Neg", "x", "x")}, "Node 'a': Neg takes 1 inputs, got 2"},
		"type":     {[]*pb.NodeDef{arg, {Name: "a", Op: "LogicalNot", Input: []string{"x"}}}, "Input 0 of node a was passed float from x:0 incompatible with expected bool."},
		"reference": {[]*pb.NodeDef{arg, node("a", "Assign", "x", "x")},
			"Input 0 of node a was passed float from x:0 incompatible with expected float_ref."},
	} {
		_, err := graph.FromProto(&pb.GraphDef{Node: c.nodes})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

func TestFromOperations(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, core.Float32, core.Shape{-1, 2}, tf.Name("x"))
	ops.Neg(x, tf.Name("y"), tf.After(ops.NoOp(g, tf.Name("n"))), tf.OnDevice("/device:CPU:1"))
	got := source.Graph(g.Operations(), nil, 12)
	if got.Producer != 12 || !got.Node("y").OutShape(0).Equal(core.Shape{-1, 2}) {
		t.Errorf("producer %d, shape %v", got.Producer, got.Node("y").OutShape(0))
	}
	want := "x = Placeholder[dtype=float32, shape=[?,2]]\nn = NoOp\ny = Neg(x, ^n) @/device:CPU:1\n"
	if text := graphtext.Print(got); text != want {
		t.Errorf("got\n%s", text)
	}
}

// TestClone: a clone has nodes of its own.
func TestClone(t *testing.T) {
	g := parse(t, diamond)
	c := g.Clone()
	c.Node("d").Device = "/device:CPU:9"
	c.Node("d").In[0] = graph.Edge{Node: c.Node("a")}
	c.Keep(func(n *graph.Node) bool { return n.Name != "c" })
	if c.Node("c") != nil || len(c.Nodes) != 3 || c.Node("d").ID != 2 {
		t.Errorf("got\n%s", graphtext.Print(c))
	}
	if got := graphtext.Print(g); got != diamond {
		t.Errorf("the original has become\n%s", got)
	}
}

func TestSorted(t *testing.T) {
	g := parse(t, "d = AddV2(c, b)\nc = Identity(a, ^b)\nb = Neg(a)\na = Const[dtype=float32, value=float32[]{1}]")
	order, err := g.Sorted()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range order {
		names = append(names, n.Name)
	}
	if got := strings.Join(names, " "); got != "a b c d" {
		t.Errorf("got %s", got)
	}
	g.Node("a").AddControl(g.Node("c"))
	if _, err := g.Sorted(); err == nil || !strings.Contains(err.Error(), "contains a cycle with 4 nodes, including: d") {
		t.Errorf("got %v", err)
	}
}

func TestAddNewMakesNamesUnique(t *testing.T) {
	g := parse(t, "a = NoOp\na_1 = NoOp")
	n, err := g.AddNew("a", "NoOp", nil, "/device:CPU:0")
	if err != nil || n.Name != "a_2" || n.Device != "/device:CPU:0" {
		t.Errorf("got %v, %v", n, err)
	}
	if err := g.Add(&graph.Node{Node: n.Node}); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("a second a_2: %v", err)
	}
}

// TestInferShapes adds to what is known, through constants.
func TestInferShapes(t *testing.T) {
	def, err := parse(t, `x = Placeholder[dtype=float32, shape=[?,6]]
		s = Const[dtype=int32, value=int32[3]{2, -1, 3}]
		i = Identity(s)
		r = Reshape(x, i)
		n = Neg(r)`).Proto()
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.FromProto(def)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.InferShapes(); err != nil {
		t.Fatal(err)
	}
	if got := g.Node("n").OutShape(0); !got.Equal(core.Shape{2, -1, 3}) {
		t.Errorf("got %v", got)
	}
}

// TestNodesOfManyTensors: an attribute says how many inputs and outputs a node has. A
// message of nodes that claim many takes no memory for them.
func TestNodesOfManyTensors(t *testing.T) {
	many := func(op, attr string, in ...string) *pb.GraphDef {
		def := &pb.GraphDef{Node: []*pb.NodeDef{}}
		for i := range 2000 {
			def.Node = append(def.Node, &pb.NodeDef{Name: strconv.Itoa(i), Op: op, Input: in, Attr: map[string]*pb.AttrValue{
				"T": {Value: &pb.AttrValue_Type{Type: pb.DataType_DT_FLOAT}}, attr: {Value: &pb.AttrValue_I{I: 1 << 16}},
			}})
		}
		return def
	}
	b := graph.NewBudget(t.Context(), graph.Limits{Nodes: 100_000})
	for want, def := range map[core.Code]*pb.GraphDef{core.InvalidArgument: many("AddN", "N"), core.ResourceExhausted: many("Split", "num_split", "0", "0")} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := graph.Read(b, def, nil)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; core.CodeOf(err) != want || took > 50<<20 {
			t.Errorf("%v, %d bytes", err, took)
		}
	}
}
