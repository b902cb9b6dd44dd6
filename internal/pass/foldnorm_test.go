package pass

import (
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/graph/graphtext"
	"github.com/gorge-tf/gorge/tf/core"
)

// convolutions are two networks of a convolution and its normalization each, the second
// with weights of four times the size, and one whose normalization trains.
const convolutions = `x = Placeholder[dtype=float32, shape=[1,4,4,2]] @/device:CPU:0
	w = Const[dtype=float32, value=float32[1,1,2,2]{1, 2, 3, 4}] @/device:CPU:0
	w2 = Const[dtype=float32, value=float32[2,2,2,2]{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}] @/device:CPU:0
	s = Const[dtype=float32, value=float32[2]{2, 4}] @/device:CPU:0
	o = Const[dtype=float32, value=float32[2]{1, -1}] @/device:CPU:0
	m = Const[dtype=float32, value=float32[2]{0.5, 3}] @/device:CPU:0
	v = Const[dtype=float32, value=float32[2]{0.75, 3.75}] @/device:CPU:0
	c = Conv2D[strides=(1, 1, 1, 1), padding="SAME"](x, w) @/device:CPU:0
	b = BiasAdd(c, o) @/device:CPU:0
	n = FusedBatchNormV3[U=float32, is_training=false, epsilon=0.25](b, s, o, m, v) @/device:CPU:0
	r = Relu(n) @/device:CPU:0
	c2 = Conv2D[strides=(1, 1, 1, 1), padding="SAME"](x, w2) @/device:CPU:0
	n2 = FusedBatchNormV3[U=float32, is_training=false, epsilon=0.25](c2, s, o, m, v) @/device:CPU:0
	r2 = Relu(n2) @/device:CPU:0
	c3 = Conv2D[strides=(1, 1, 1, 1), padding="VALID"](x, w) @/device:CPU:0
	n3 = FusedBatchNormV3[U=float32, is_training=true, epsilon=0.25](c3, s, o, m, v) @/device:CPU:0
	r3 = Relu(n3) @/device:CPU:0`

// TestFoldNormsInBounds: small weights are folded first, and no more than there may be;
// names stay those of the graph, so that errors do.
func TestFoldNormsInBounds(t *testing.T) {
	for _, c := range []struct {
		spare, left int
		ops         string
	}{
		{0, 0, "FusedBatchNormV3 FusedBatchNormV3"}, {15, 15, "FusedBatchNormV3 FusedBatchNormV3"},
		{16, 0, "BiasAdd FusedBatchNormV3"}, {79, 63, "BiasAdd FusedBatchNormV3"}, {100, 20, "BiasAdd BiasAdd"},
	} {
		g, spare := parse(t, convolutions), c.spare
		if err := Optimize(g, Options{FoldNorms: true, Spare: &spare, Eval: evaluate}); err != nil {
			t.Fatal(err)
		}
		if ops := g.Node("n").OpName() + " " + g.Node("n2").OpName(); ops != c.ops || spare != c.left || g.Node("n3").OpName() != "FusedBatchNormV3" {
			t.Errorf("%d bytes: %s, %d left, want %s, %d:\n%s", c.spare, ops, spare, c.ops, c.left, graphtext.Print(g))
		}
	}
	g := parse(t, convolutions)
	if err := Optimize(g, Options{FoldNorms: true, Eval: evaluate}); err != nil {
		t.Fatal(err)
	}
	n, c := g.Node("n"), g.Node("c")
	if n.In[0] != (graph.Edge{Node: c}) || g.Node("b") != nil {
		t.Errorf("the normalization must read the convolution:\n%s", graphtext.Print(g))
	}
	text := graphtext.Print(g)
	for _, want := range []string{"float32[1,1,2,2]{2, 4, 6, 8}", "float32[2]{2, -9}"} { // factors are 2 and 2
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// TestFoldNormsOrders: what is folded waits for what its constants wait for, and a vector of
// another rank is left for the step to refuse.
func TestFoldNormsOrders(t *testing.T) {
	const waits = `
	z = Placeholder[dtype=float32, shape=[]] @/device:CPU:0
	late = Const[dtype=float32, value=float32[2]{0.5, 3}](^z) @/device:CPU:0`
	for from, to := range map[string]string{"(c, o)": "(c, late)", "(b, s, o, m, v)": "(b, s, o, late, v)"} {
		g := parse(t, strings.Replace(convolutions, from, to, 1)+waits)
		if err := Optimize(g, Options{FoldNorms: true, Eval: evaluate}); err != nil {
			t.Fatal(err)
		}
		if n := g.Node("n"); n.OpName() != "BiasAdd" || !slices.Contains(n.Control, g.Node("z")) {
			t.Errorf("with %s: %s waits for %d nodes, and not for what a constant has waited for", to, n.OpName(), len(n.Control))
		}
	}
	g := parse(t, strings.Replace(convolutions, "m = Const[dtype=float32, value=float32[2]", "m = Const[dtype=float32, value=float32[1,2]", 1))
	if err := Optimize(g, Options{FoldNorms: true, Eval: evaluate}); err != nil {
		t.Fatal(err)
	}
	if op := g.Node("n").OpName(); op != "FusedBatchNormV3" {
		t.Errorf("a mean of two dimensions: the node is %s", op)
	}
}

// TestFreezeLeavesWriters: variables are read as before where one might change, in a
// function perhaps, or where a branch decides whether they are read.
func TestFreezeLeavesWriters(t *testing.T) {
	const head = `h = VarHandleOp[dtype=float32, shape=[]] @/device:CPU:0
		i = Identity(h) @/device:CPU:0
		r = ReadVariableOp[dtype=float32](i) @/device:CPU:0
		n = Neg(r) @/device:CPU:0
		`
	for more, frozen := range map[string]bool{
		"": true, "s = VariableShape(h) @/device:CPU:0": true, "o = Print[U=(float32)](n, n) @/device:CPU:0": true,
		"a = AssignAddVariableOp[dtype=float32](h, n) @/device:CPU:0": false,
		"d = DestroyResourceOp(i) @/device:CPU:0":                     false,
	} {
		g := parse(t, head+more)
		one := parse(t, "k = Const[dtype=float32, value=float32[]{7}]").Node("k").TensorAttr("value")
		if err := Freeze(g, func(n *graph.Node) *core.Tensor { return one }); err != nil {
			t.Fatal(err)
		}
		if got := g.Node("r").OpName() == "Const"; got != frozen {
			t.Errorf("with %q the variable is a constant: %v", more, got)
		}
	}
}

// TestFoldNormsOfExpressions: parameters that follow from constants are computed for it,
// in a graph that is not placed; each norm is told of with the weights that it had.
func TestFoldNormsOfExpressions(t *testing.T) {
	g := parse(t, strings.NewReplacer(" @/device:CPU:0", "", "(b, s, o, m, v)", "(b, s, o, p, v)").Replace(convolutions)+`
	p = Neg(m)`)
	told := map[string]string{}
	if err := FoldNorms(g, evaluate, func(n, weights *graph.Node) { told[n.Name] = weights.Name }); err != nil {
		t.Fatal(err)
	}
	if len(told) != 2 || told["n"] != "w" || told["n2"] != "w2" || g.Node("n").OpName() != "BiasAdd" || g.Node("n3").OpName() != "FusedBatchNormV3" {
		t.Errorf("told of %v:\n%s", told, graphtext.Print(g))
	}
	if want := "float32[2]{4, 3}"; !strings.Contains(graphtext.Print(g), want) { // 1+(1+0.5)·2 and -1+(-1+3)·2
		t.Errorf("no %s in\n%s", want, graphtext.Print(g))
	}
}
