package pass

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestMarkConstantFilters: filters that are constant and of more than one tap are marked, the small ones first, whatever the graph
// said before.
func TestMarkConstantFilters(t *testing.T) {
	const conv = ` = Conv2D[T=float32, strides=(1, 1, 1, 1), padding="SAME"`
	g := parse(t, `x = Placeholder[dtype=float32]
w = Placeholder[dtype=float32]
large = Placeholder[dtype=float32]
small = Placeholder[dtype=float32]
point = Placeholder[dtype=float32]
variable`+conv+`, _is_filter_const=true](x, w)
ofLarge`+conv+`](x, large)
ofSmall`+conv+`](x, small)
ofSmallToo`+conv+`](x, small)
ofPoint`+conv+`](x, point)`)
	for name, s := range map[string]core.Shape{"large": {3, 3, 700, maxKeptFilters/9/700/4 + 1}, "small": {3, 3, 16, 16}, "point": {1, 1, 64, 64}} {
		constantAt(t, g, name, s)
	}
	if err := MarkConstantFilters(g); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"variable": false, "ofLarge": false, "ofSmall": true, "ofSmallToo": true, "ofPoint": false} {
		if n := g.Node(name); n.Bool(core.ConstantFilter) != want {
			t.Errorf("%s is marked %v, want %v", name, !want, want)
		}
	}
}

// TestMarkFiltersOfVariables: filters that are the value of a variable are marked if nothing in the graph may
// write variables, unless variables that are read take much memory.
func TestMarkFiltersOfVariables(t *testing.T) {
	const graphText = `x = Placeholder[dtype=float32]
h = VarHandleOp[dtype=float32, shape=[3,3,16,16]]
w = ReadVariableOp[dtype=float32](h)
same = Identity[T=float32](w)
v = VariableV2[dtype=float32, shape=[3,3,16,16]]
ofReference = Conv2D[T=float32, strides=(1, 1, 1, 1), padding="SAME"](x, v)
unshaped = VarHandleOp[dtype=float32, shape=<unknown>]
u = ReadVariableOp[dtype=float32](unshaped)
read = Conv2D[T=float32, strides=(1, 1, 1, 1), padding="SAME"](x, w)
passed = Conv2D[T=float32, strides=(1, 1, 1, 1), padding="SAME"](x, same)
unknown = Conv2D[T=float32, strides=(1, 1, 1, 1), padding="SAME"](x, u)`
	marked := func(text string) (names []string) {
		g := parse(t, text)
		if err := MarkConstantFilters(g); err != nil {
			t.Fatal(err)
		}
		for _, n := range g.Nodes {
			if n.Bool(core.ConstantFilter) {
				names = append(names, n.Name)
			}
		}
		return names
	}
	if got := marked(graphText); !slices.Equal(got, []string{"ofReference", "read", "passed"}) {
		t.Errorf("%v are marked", got)
	}
	if got := marked(graphText + "\nd = AssignAddVariableOp[dtype=float32](h, x)"); got != nil {
		t.Errorf("%v are marked in a graph that writes variables", got)
	}
	defer memory.SetMuch(memory.SetMuch(1 << 10))
	if got := marked(graphText); got != nil {
		t.Errorf("%v are marked where variables take much memory", got)
	}
}

// TestKeptFilters: up to memory.Much nothing is taken away, larger models keep less and at last nothing.
func TestKeptFilters(t *testing.T) {
	const mib = 1 << 20
	for size, want := range map[int]int{0: 18 * mib, 64 * mib: 18 * mib, 80 * mib: 9 * mib, 96 * mib: 0, 1 << 40: 0} {
		if got := keptFilters(size); got != want {
			t.Errorf("constants of %d bytes leave %d, want %d", size, got, want)
		}
	}
	defer memory.SetMuch(memory.SetMuch(1))
	if got := keptFilters(1 << 10); got != 0 {
		t.Errorf("constants of a KiB leave %d where that is much", got)
	}
}

// constantAt makes a node of g a constant of zeros.
func constantAt(t *testing.T, g *graph.Graph, name string, s core.Shape) {
	t.Helper()
	d, err := core.NewNode(name, "Const", core.Attrs{"dtype": core.Float32, "value": core.NewTensor(core.Float32, s)})
	if err != nil {
		t.Fatal(err)
	}
	g.Node(name).Node = *d
}
