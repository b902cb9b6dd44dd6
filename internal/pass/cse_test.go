package pass

import (
	"hash/maphash"
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestLargeConstantsMerge: large constants are one if they are equal, and only then,
// though few of their bytes are hashed.
func TestLargeConstantsMerge(t *testing.T) {
	const n = 1 << 20
	constant := func(at int) *core.Tensor {
		v := core.NewTensor(core.Float32, core.Shape{n})
		core.Data[float32](v)[at] = 1
		return v
	}
	g := graph.New()
	var sum []graph.Edge
	for _, at := range []int{77777, 77777, 77778, 0} {
		c, err := g.AddNew("c", "Const", core.Attrs{"dtype": core.Float32, "value": constant(at)}, "/device:CPU:0")
		if err != nil {
			t.Fatal(err)
		}
		sum = append(sum, graph.Edge{Node: c})
	}
	out, err := g.AddNew("out", "AddN", core.Attrs{"N": len(sum), "T": core.Float32}, "/device:CPU:0", sum...)
	if err != nil {
		t.Fatal(err)
	}
	if err := Optimize(g, Options{}); err != nil {
		t.Fatal(err)
	}
	if in := out.In; in[0] != in[1] || in[0] == in[2] || in[0] == in[3] || in[2] == in[3] {
		t.Errorf("of four constants the first two must be one, and no others: %v", in)
	}
}

// TestDigestsAgree: nodes that compute the same have one digest, whatever the order of
// what has none; those that differ in any one thing are not merged.
func TestDigestsAgree(t *testing.T) {
	g := graph.New()
	add := func(op string, attrs core.Attrs, in ...graph.Edge) *graph.Node {
		n, err := g.AddNew("n", op, attrs, "/device:CPU:0", in...)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	constant := func(v *core.Tensor) *graph.Node { return add("Const", core.Attrs{"dtype": v.DType(), "value": v}) }
	a, b := constant(core.Scalar(float32(0))), constant(core.Scalar(float32(math.Copysign(0, -1))))
	x, y := graph.Edge{Node: a}, graph.Edge{Node: b}
	elu := func(alpha float32) *graph.Node {
		return add("LeakyRelu", core.Attrs{"alpha": alpha, "T": core.Float32}, x)
	}
	controlled := func(after ...*graph.Node) *graph.Node {
		n := add("Neg", core.Attrs{"T": core.Float32}, x)
		n.Control = after
		return n
	}
	hinted := controlled()
	hinted.Attrs["_class"] = []string{"loc:@a"}
	// Nodes of one group compute the same.
	groups := [][]*graph.Node{
		{a, constant(core.Scalar(float32(0)))}, {b}, {constant(core.Scalar("0")), constant(core.Scalar("0"))}, {constant(core.Scalar(int32(0)))},
		{elu(0), elu(0)}, {elu(float32(math.Copysign(0, -1)))}, {elu(1)},
		{controlled(), hinted}, {controlled(a, b), controlled(b, a)}, {controlled(a)},
		{add("Sub", core.Attrs{"T": core.Float32}, x, y), add("Sub", core.Attrs{"T": core.Float32}, x, y)}, {add("Sub", core.Attrs{"T": core.Float32}, y, x)},
	}
	g.Renumber()
	seed := maphash.MakeSeed()
	same := func(n, m *graph.Node) bool { return digest(n, seed) == digest(m, seed) && computesSame(n, m) }
	for i, group := range groups {
		for j, other := range groups {
			for _, n := range group {
				for _, m := range other {
					if same(n, m) != (i == j) {
						t.Errorf("%s%v and %s%v, of groups %d and %d: same = %v", n.OpName(), n.Attrs, m.OpName(), m.Attrs, i, j, same(n, m))
					}
				}
			}
		}
	}
}

// TestManyAlike: of nodes whose digests are equal and that do not compute the same each is
// compared with few.
func TestManyAlike(t *testing.T) {
	const n = 2000
	g := graph.New()
	var sum []graph.Edge
	for i := range 4 * maxAlike {
		v := core.NewTensor(core.Float32, core.Shape{n})
		core.Data[float32](v)[77] = float32(i % (3 * maxAlike)) // where nothing is hashed
		c, err := g.AddNew("c", "Const", core.Attrs{"dtype": core.Float32, "value": v}, "/device:CPU:0")
		if err != nil {
			t.Fatal(err)
		}
		sum = append(sum, graph.Edge{Node: c})
	}
	out, err := g.AddNew("out", "AddN", core.Attrs{"N": len(sum), "T": core.Float32}, "/device:CPU:0", slices.Clone(sum)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := Optimize(g, Options{}); err != nil {
		t.Fatal(err)
	}
	for i, x := range out.In {
		if x != sum[i] {
			t.Fatalf("constant %d has been compared with one of %d before", i, 3*maxAlike)
		}
	}
}

// TestManyControls: nodes that wait for very many others are compared in a time that grows with
// their number, not with its square.
func TestManyControls(t *testing.T) {
	const n = 300_000
	a, b := make([]*graph.Node, n), make([]*graph.Node, n)
	for i := range a {
		a[i] = &graph.Node{}
		b[n-1-i] = a[i]
	}
	if !sameNodes(a, b) || sameNodes(a, b[1:]) {
		t.Error("the order counts, or the number does not")
	}
	if b[n/2] = (&graph.Node{}); sameNodes(a, b) {
		t.Error("one is another")
	}
}
