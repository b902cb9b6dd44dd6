package pass

import (
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/graph/graphtext"
	"github.com/gorge-tf/gorge/tf/core"
)

// evaluate computes a node whose kernel does not wait.
func evaluate(n *core.Node, in []*core.Tensor) ([]*core.Tensor, error) {
	make, err := core.FindKernel("CPU", n)
	if err != nil {
		return nil, err
	}
	k, err := make(n)
	if err != nil {
		return nil, err
	}
	c := &core.OpContext{Step: &core.Step{}, Node: n, Out: slices.Repeat([]core.Slot{{}}, len(n.OutTypes))}
	for _, t := range in {
		c.In = append(c.In, core.Slot{T: t})
	}
	compute, _ := core.AsCompute(k)
	if err := compute(c); err != nil {
		return nil, err
	}
	var out []*core.Tensor
	for _, s := range c.Out {
		out = append(out, s.T)
	}
	return out, nil
}

// only leaves out all passes but one; "all" none. Shapes are always inferred.
func only(pass string) []string {
	return slices.DeleteFunc(PassNames(), func(p string) bool { return pass == "all" || p == pass || p == "shape_inference" })
}

func TestOptimize(t *testing.T) {
	for _, c := range readCases(t, "optimize.txt") {
		t.Run(c.name, func(t *testing.T) {
			pass, _, _ := strings.Cut(c.name, ":")
			g := parse(t, c.sections[0])
			if err := Optimize(g, Options{Disabled: only(pass), Eval: evaluate}); err != nil {
				t.Fatal(err)
			}
			same(t, graphtext.Print(g), c.sections[1])
		})
	}
}

func TestPreserve(t *testing.T) {
	const text = `a = Const[dtype=float32, value=float32[]{1}] @/device:CPU:0
		b = Neg(a) @/device:CPU:0
		c = Neg(a) @/device:CPU:0
		d = Identity(c, ^a) @/device:CPU:0
		e = AddV2(b, d) @/device:CPU:0`
	g := parse(t, text)
	keep := map[string]bool{"b": true, "c": true, "d": true}
	if err := Optimize(g, Options{Eval: evaluate, Preserve: keep}); err != nil {
		t.Fatal(err)
	}
	for name := range keep {
		if g.Node(name) == nil {
			t.Errorf("%s is gone", name)
		}
	}
	if d := g.Node("d"); len(d.Control) != 1 || d.In[0].Node.Name != "c" {
		t.Errorf("d has changed:\n%s", graphtext.Print(g))
	}
}

func TestDisabledPasses(t *testing.T) {
	const text = "a = Const[dtype=float32, value=float32[]{1}] @/device:CPU:0\nb = Identity(a) @/device:CPU:0\nc = Identity(b) @/device:CPU:0\n"
	for _, off := range [][]string{PassNames(), {"all"}} {
		g := parse(t, text)
		if err := Optimize(g, Options{Disabled: off, Eval: evaluate}); err != nil {
			t.Fatal(err)
		}
		same(t, graphtext.Print(g), text)
	}
	if err := CheckPassNames(append(PassNames(), "all")); err != nil {
		t.Error(err)
	}
	if err := CheckPassNames([]string{"folding"}); err == nil || !strings.Contains(err.Error(), `"folding"`) {
		t.Errorf("got %v", err)
	}
}

// TestOrder: every pass comes after those that it names.
func TestOrder(t *testing.T) {
	names := PassNames()
	for i, p := range optimizers {
		for _, before := range p.after {
			if k := slices.Index(names, before); k < 0 || k >= slices.Index(names, optimizers[i].name) {
				t.Errorf("%s has to come after %s", p.name, before)
			}
		}
	}
}

func TestOptimizeBadGraphs(t *testing.T) {
	g := parse(t, "a = NoOp")
	if got := message(Optimize(g, Options{})); got != "INTERNAL: node a must be placed" {
		t.Errorf("got %s", got)
	}
	g = parse(t, "a = NoOp @/device:CPU:0\nb = NoOp(^a) @/device:CPU:0")
	g.Node("a").AddControl(g.Node("b"))
	if got := message(Optimize(g, Options{})); !strings.HasPrefix(got, "INVALID_ARGUMENT: Graph is invalid, contains a cycle") {
		t.Errorf("got %s", got)
	}
}

func TestCheck(t *testing.T) {
	const text = "a = Const[dtype=float32, value=float32[]{1}]\nb = AddV2(a, a)\nc = NoOp(^a)"
	for name, c := range map[string]struct {
		damage func(g *graph.Graph)
		want   string
	}{
		"sound":   {func(*graph.Graph) {}, ""},
		"input":   {func(g *graph.Graph) { g.Node("b").In[1].Node = parse(t, text).Node("a") }, "input 1 of b must be in the graph, a is not"},
		"control": {func(g *graph.Graph) { g.Node("c").Control[0] = &graph.Node{Node: core.Node{Name: "q"}} }, "control inputs of c must be in the graph, q is not"},
		"output":  {func(g *graph.Graph) { g.Node("b").In[0].Out = 1 }, "input 0 of b must exist, a has 1 outputs"},
		"count":   {func(g *graph.Graph) { g.Node("b").In = g.Node("b").In[:1] }, "node b must have 2 inputs, it has 1"},
		"type":    {func(g *graph.Graph) { g.Node("b").InTypes = []core.DType{core.Float32, core.Int32} }, "input 1 of b must be of type int32, a:0 is float32"},
		"cycle":   {func(g *graph.Graph) { g.Node("a").AddControl(g.Node("b")) }, "contains a cycle"},
		"names":   {func(g *graph.Graph) { g.Nodes = append(g.Nodes, g.Nodes[0]) }, "two nodes are called a"},
	} {
		g := parse(t, text)
		c.damage(g)
		if err := Check(g); (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}
