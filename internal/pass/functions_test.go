package pass

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/graph/graphtext"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// functions makes a library of bodies by name: graphs with arguments and results. Nodes
// with attribute _listed are control outputs.
func functions(t *testing.T, bodies map[string]string) *core.Library {
	t.Helper()
	lib := &pb.FunctionDefLibrary{}
	for name, text := range bodies {
		lib.Function = append(lib.Function, functionOf(t, name, text))
	}
	l, err := core.NewLibrary(lib)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func functionOf(t *testing.T, name, text string) *pb.FunctionDef {
	t.Helper()
	g := parse(t, text)
	nodes, err := g.Proto()
	if err != nil {
		t.Fatal(err)
	}
	def := &pb.FunctionDef{Signature: &pb.OpDef{Name: name}, Ret: map[string]string{}, ControlRet: map[string]string{}}
	from := func(e graph.Edge) string {
		if e.Node.Role() == core.Argument {
			return e.Node.Name
		}
		return e.Node.InBody(e.Out)
	}
	for i, n := range g.Nodes {
		switch n.Role() {
		case core.Argument:
			def.Signature.InputArg = append(def.Signature.InputArg, &pb.OpDef_ArgDef{Name: n.Name, Type: pb.DataType(n.OutTypes[0])})
			continue
		case core.Result:
			def.Signature.OutputArg = append(def.Signature.OutputArg, &pb.OpDef_ArgDef{Name: n.Name, Type: pb.DataType(n.InTypes[0])})
			def.Ret[n.Name] = from(n.In[0])
			continue
		}
		d := nodes.GetNode()[i]
		d.Input = nil
		for _, e := range n.In {
			d.Input = append(d.Input, from(e))
		}
		for _, c := range n.Control {
			d.Input = append(d.Input, "^"+c.Name)
		}
		if n.Bool("_listed") {
			def.Signature.ControlOutput = append(def.Signature.ControlOutput, n.Name)
			def.ControlRet[n.Name] = n.Name
		}
		def.NodeDef = append(def.NodeDef, d)
	}
	return def
}

// calling returns a graph with a library. Nodes of op Neg whose names begin with "by_"
// call the function of the rest of the name by name.
func calling(t *testing.T, text string, l *core.Library) *graph.Graph {
	t.Helper()
	def, err := parse(t, text).Proto()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range def.GetNode() {
		if f, ok := strings.CutPrefix(n.GetName(), "by_"); ok {
			n.Op, n.Attr = f, nil
		}
	}
	g, err := graph.Read(graph.NewBudget(context.Background(), graph.Limits{}), def, l)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

const arg = "x = _Arg[T=float32, index=0]\n"

// lowered returns what Lower makes of a graph that calls functions.
func lowered(t *testing.T, text string, bodies map[string]string) string {
	t.Helper()
	g := calling(t, text, functions(t, bodies))
	if err := Lower(g, nil); err != nil {
		t.Fatal(err)
	}
	return graphtext.Print(g)
}

const callers = "h = VarHandleOp[dtype=float32, shape=[]]\na = Placeholder[dtype=float32, shape=[]]\n"

// An effect that a function does not list happens if it is called by name, as in
// TensorFlow 1, and is left out of the result's conditions if not.
func TestUnlistedEffects(t *testing.T) {
	const body = "h = _Arg[T=resource, index=0]\nx = _Arg[T=float32, index=1]\nadd = AssignAddVariableOp[dtype=float32](h, x)\ny = Neg(x)\nr = _Retval[index=0](y)\n"
	const call = "c = PartitionedCall[f=\"f\", Tout=(float32)](h, a)\n"
	got := lowered(t, callers+call, map[string]string{"f": body})
	if !strings.Contains(got, "c = IdentityN(c/y)") {
		t.Errorf("a call does not wait for what its function does not list, got\n%s", got)
	}
	listed := strings.Replace(body, "dtype=float32](h, x)", "_listed=true, dtype=float32](h, x)", 1)
	got = lowered(t, callers+call, map[string]string{"f": listed})
	if !strings.Contains(got, "(c/y, ^c/add)") {
		t.Errorf("a call waits for what its function lists, got\n%s", got)
	}
	byName := "x = _Arg[T=float32, index=0]\nh = VarHandleOp[dtype=float32, shape=[]]\nadd = AssignAddVariableOp[dtype=float32](h, x)\ny = Neg(x)\nr = _Retval[index=0](y)\n"
	got = lowered(t, callers+"by_f = Neg(a)\n", map[string]string{"f": byName})
	if !strings.Contains(got, "(by_f/y, ") || !strings.Contains(got, "^by_f/add") {
		t.Errorf("a call by name waits for all effects, got\n%s", got)
	}
}

// TestOrigins: all that becomes of a function's nodes (parts of a conditional and of a
// loop, constants, transfers to another device) knows the function, also when it has
// crossed a wire.
func TestOrigins(t *testing.T) {
	g := calling(t, "a = Placeholder[dtype=float32, shape=[]]\nc = PartitionedCall[f=\"outer\", Tout=(float32, float32)](a)\nd = AddV2(c, c:1)\n", functions(t, map[string]string{
		"outer": arg + `p = Const[dtype=float32, value=float32[]{1}]
			i = If[Tout=(float32), then_branch="f", else_branch="f", _lower_using_switch_merge=true](x, x)
			k = AddV2(p, p)
			e = Exp(k) @/device:CPU:1
			w = While[T=(float32), cond="positive", body="f", _lower_using_switch_merge=true](x)
			m = Mul(i, e)
			r = _Retval[index=0](m)
			s = _Retval[index=1](w)
			`,
		"f":        arg + "y = Neg(x)\nr = _Retval[index=0](y)\n",
		"positive": arg + "z = Const[dtype=float32, value=float32[]{0}]\ny = Greater(x, z)\nr = _Retval[index=0](y)\n",
	}))
	if err := Lower(g, nil); err != nil {
		t.Fatal(err)
	}
	for _, n := range g.Nodes {
		if n.Device == "" {
			n.Device = "/device:CPU:0"
		}
	}
	if err := Optimize(g, Options{Eval: evaluate}); err != nil {
		t.Fatal(err)
	}
	parts, err := Partition(g, PartitionOptions{NodeToLoc: func(n *graph.Node) string { return n.Device }, NewName: Names("G"), Incarnation: func(string) uint64 { return 1 }})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[core.Origin]bool{}
	for _, part := range parts {
		def, err := part.Proto()
		if err != nil {
			t.Fatal(err)
		}
		read, err := graph.FromProto(def)
		if err != nil {
			t.Fatal(err)
		}
		for i, n := range read.Nodes {
			if o := n.Origin(); o != part.Nodes[i].Origin() || strings.HasPrefix(n.Name, "c/") != (o.Function != "") {
				t.Errorf("%s is from %q, was from %q", n.Name, o, part.Nodes[i].Origin())
			}
			seen[n.Origin()] = true
		}
	}
	for _, o := range []core.Origin{{Function: "f", Node: "y"}, {Function: "outer", Node: "i"}, {Function: "outer", Node: "w"}, {Function: "outer", Node: "e"}, {Function: "positive", Node: "y"}} {
		if !seen[o] {
			t.Errorf("nothing is from %v", o)
		}
	}
}

// TestRecursionStays: a function is not expanded within itself, nor are two that call
// each other.
func TestRecursionStays(t *testing.T) {
	again := func(f string) string {
		return arg + fmt.Sprintf("y = PartitionedCall[f=%q, Tout=(float32)](x)\nr = _Retval[index=0](y)\n", f)
	}
	for name, bodies := range map[string]map[string]string{
		"one": {"f": again("f")}, "two": {"f": again("g"), "g": again("f")},
	} {
		got := lowered(t, "a = Placeholder[dtype=float32, shape=[]]\nc = PartitionedCall[f=\"f\", Tout=(float32)](a)\n", bodies)
		if n := strings.Count(got, "PartitionedCall"); n != 1 || strings.Count(got, "\n") > 5 {
			t.Errorf("%s: one call has to be left of few nodes, got\n%s", name, got)
		}
	}
}

// A node of a body that has no inputs runs only if the call does, which waits for all
// of its inputs.
func TestBodiesWaitForTheCall(t *testing.T) {
	body := arg + "z = _Arg[T=float32, index=1]\nk = Const[dtype=float32, value=float32[]{1}]\ny = AddV2(x, k)\nr = _Retval[index=0](y)\n"
	got := lowered(t, "a = Placeholder[dtype=float32, shape=[]]\nb = Placeholder[dtype=float32, shape=[]]\nc = PartitionedCall[f=\"f\", Tout=(float32)](a, b)\n", map[string]string{"f": body})
	for _, want := range []string{"c/input_control = NoOp(^a, ^b)", "value=float32[]{1}](^c/input_control)"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %s in\n%s", want, got)
		}
	}
}

// TestEndlessCalls: what never ends is refused, and says by which way.
func TestEndlessCalls(t *testing.T) {
	ring := func(n int) map[string]string {
		out := map[string]string{}
		for i := range n {
			out[fmt.Sprintf("f%d", i)] = arg + fmt.Sprintf("w = Neg(x)\ny = PartitionedCall[f=\"f%d\", Tout=(float32)](w)\nz = Neg(y)\nr = _Retval[index=0](z)\n", (i+1)%n)
		}
		return out
	}
	const call = "a = Placeholder[dtype=float32, shape=[]]\nc = PartitionedCall[f=\"f0\", Tout=(float32)](a)\n"
	for n, path := range map[int]string{
		1:  "f0 -> f0",
		3:  "f0 -> f1 -> f2 -> f0",
		7:  "f0 -> f1 -> f2 -> f3 -> f4 -> f5 -> f6 -> f0",
		12: "f0 -> f1 -> f2 -> f3 -> f4 -> f5 -> ... -> f0",
	} {
		g := calling(t, call, functions(t, ring(n)))
		want := "INVALID_ARGUMENT: a function must be able to end without calling itself: f0 calls itself whatever its arguments are (" + path + ")"
		if got := message(CheckCalls(g)); got != want {
			t.Errorf("a ring of %d:\ngot  %s\nwant %s", n, got, want)
		}
		if got := message(CheckCall(g.Budget, g.Library, core.Func{Name: "f0"})); got != want {
			t.Errorf("a ring of %d, when called:\ngot  %s\nwant %s", n, got, want)
		}
	}
	if err := CheckCall(nil, nil, core.Func{Name: "f"}); err != nil {
		t.Errorf("without functions: %v", err)
	}
}

// TestSkippedCalls: a call that may be skipped, or whose result nothing needs, is no
// reason to refuse a graph.
func TestSkippedCalls(t *testing.T) {
	endless := arg + "y = PartitionedCall[f=\"f\", Tout=(float32)](x)\nr = _Retval[index=0](y)\n"
	idle := arg + "w = PartitionedCall[f=\"f\", Tout=(float32)](x)\ny = Neg(x)\nr = _Retval[index=0](y)\n"
	ends := arg + "y = Neg(x)\nr = _Retval[index=0](y)\n"
	l := functions(t, map[string]string{"f": endless, "idle": idle, "ends": ends})
	const a = "a = Placeholder[dtype=float32, shape=[]]\np = Placeholder[dtype=bool, shape=[]]\n"
	for name, c := range map[string]struct {
		text    string
		refused bool
	}{
		"plain":   {a + "c = PartitionedCall[f=\"f\", Tout=(float32)](a)", true},
		"by name": {a + "by_f = Neg(a)", true},
		"skipped": {a + "s = Switch(a, p)\nc = PartitionedCall[f=\"f\", Tout=(float32)](s:1)", false},
		"idle":    {a + "c = PartitionedCall[f=\"idle\", Tout=(float32)](a)", false},
		"a way":   {a + "c = If[then_branch=\"f\", else_branch=\"ends\", Tout=(float32), output_shapes=()](p, a)", false},
		"no way":  {a + "c = If[then_branch=\"f\", else_branch=\"f\", Tout=(float32), output_shapes=()](p, a)", true},
	} {
		if err := CheckCalls(calling(t, c.text, l)); (err != nil) != c.refused {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestExponentialCalls: each function calls the next one twice.
func TestExponentialCalls(t *testing.T) {
	chain := func(n int) map[string]string {
		out := map[string]string{fmt.Sprintf("f%d", n): arg + "y = Neg(x)\nr = _Retval[index=0](y)\n"}
		for i := range n {
			call := fmt.Sprintf("PartitionedCall[f=\"f%d\", Tout=(float32)]", i+1)
			out[fmt.Sprintf("f%d", i)] = arg + "w = " + call + "(x)\ny = " + call + "(w)\nr = _Retval[index=0](y)\n"
		}
		return out
	}
	budget := graph.NewBudget(context.Background(), graph.Limits{Nodes: 1000})
	for n, least := range map[int]string{5: "", 20: "3145726", 80: "2^63"} {
		want := ""
		if least != "" {
			want = "RESOURCE_EXHAUSTED: a call of a function must run at most 1000 nodes (limit max_nodes): one of f0 runs at least " + least
		}
		if got := message(CheckCall(budget, functions(t, chain(n)), core.Func{Name: "f0"})); got != want {
			t.Errorf("%d levels:\ngot  %s\nwant %s", n, got, want)
		}
	}
}

// TestFetchLateLeavesUsedTerminals: a fetch that others wait for stays where it is.
func TestFetchLateLeavesUsedTerminals(t *testing.T) {
	const cpu = " @/job:localhost/replica:0/task:0/device:CPU:0\n"
	text := "v = VariableV2[dtype=float32, shape=[]]" + cpu + "r = _Retval[index=0](v)" + cpu
	for more, late := range map[string]bool{"": true, "n = NoOp(^r)" + cpu: false} {
		g := parse(t, text+more)
		if err := FetchLate(g); err != nil {
			t.Fatal(err)
		}
		if IsLate(g.Node("r")) != late {
			t.Errorf("late has to be %v:\n%s", late, graphtext.Print(g))
		}
	}
}

// TestConnectedGraphsAreSorted: what is connected may come from further down.
func TestConnectedGraphsAreSorted(t *testing.T) {
	g := parse(t, "x = Placeholder[dtype=float32, shape=[]]\ny = Neg(x)\na = Const[dtype=float32, value=float32[]{1}]\nb = Neg(a)\n")
	pruned, err := ClientGraph(g, signature("; y:0; ; b:0>x:0"), Terminals{Frame: true, ClientDevice: "/client"})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[*graph.Node]bool{}
	for _, n := range pruned.Nodes {
		for _, e := range n.In {
			if !seen[e.Node] {
				t.Errorf("%s stands before its input:\n%s", n.Name, graphtext.Print(pruned))
			}
		}
		seen[n] = true
	}
}
