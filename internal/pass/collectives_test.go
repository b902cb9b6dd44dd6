package pass

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/graph/graphtext"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops/collective"
)

// reduce is a line of a graph's text: a CollectiveReduce.
func reduce(name string, instance int, from, device string) string {
	return fmt.Sprintf("%s = CollectiveReduce[final_op=\"Id\", group_key=1, group_size=2, instance_key=%d, merge_op=\"Add\", subdiv_offsets=(0)](%s) @%s\n", name, instance, from, device)
}

const cpu0, cpu1 = "/device:CPU:0", "/device:CPU:1"

// The edges are those that TensorFlow adds, as long as its graphs can run.
func TestOrderCollectives(t *testing.T) {
	const x = "x = Placeholder[dtype=float32, shape=[1]] @" + cpu0 + "\n"
	const flow = "p = Placeholder[dtype=bool, shape=[]] @" + cpu0 + "\ns = Switch(x, p) @" + cpu0 + "\n"
	for name, c := range map[string]struct{ graph, want string }{
		"concurrent": {
			x + reduce("a", 1, "x", cpu0) + reduce("b", 3, "x", cpu0) + reduce("c", 2, "x", cpu0),
			x + reduce("a", 1, "x, ^c", cpu0) + reduce("b", 3, "x", cpu0) + reduce("c", 2, "x, ^b", cpu0),
		},
		"devices apart": {
			x + reduce("a", 1, "x", cpu0) + reduce("b", 2, "x", cpu0) + reduce("c", 1, "x", cpu1) + reduce("d", 2, "x", cpu1),
			x + reduce("a", 1, "x, ^b", cpu0) + reduce("b", 2, "x", cpu0) + reduce("c", 1, "x, ^d", cpu1) + reduce("d", 2, "x", cpu1),
		},
		"dependent": {
			x + reduce("a", 1, "x", cpu0) + reduce("b", 2, "a", cpu0) + reduce("c", 3, "x, ^b", cpu0),
			x + reduce("a", 1, "x", cpu0) + reduce("b", 2, "a", cpu0) + reduce("c", 3, "x, ^b", cpu0),
		},
		"by another device": { // what waits for an instance anywhere waits for it everywhere
			x + reduce("a", 1, "x", cpu0) + reduce("b", 2, "c", cpu0) + reduce("c", 1, "x", cpu1),
			x + reduce("a", 1, "x", cpu0) + reduce("b", 2, "c", cpu0) + reduce("c", 1, "x", cpu1),
		},
		"no cycle": { // TensorFlow adds b -> c and a -> b
			x + reduce("c", 1, "x", cpu0) + reduce("a", 3, "c", cpu0) + reduce("b", 2, "x", cpu0),
			x + reduce("c", 1, "x, ^b", cpu0) + reduce("a", 3, "c, ^b", cpu0) + reduce("b", 2, "x", cpu0),
		},
		"conditional": { // b may not run
			x + flow + reduce("b", 3, "s", cpu0) + "m = Merge(b, s:1) @" + cpu0 + "\n" + reduce("a", 2, "x", cpu0) + reduce("c", 1, "m", cpu0),
			x + flow + reduce("b", 3, "s", cpu0) + "m = Merge(b, s:1) @" + cpu0 + "\n" + reduce("a", 2, "x", cpu0) + reduce("c", 1, "m, ^a", cpu0),
		},
		"other collectives": {
			x + "s = CollectiveBcastSend[group_key=1, group_size=2, instance_key=7, shape=[1]](x) @" + cpu0 + "\n" + reduce("a", 1, "x", cpu0),
			x + "s = CollectiveBcastSend[group_key=1, group_size=2, instance_key=7, shape=[1]](x) @" + cpu0 + "\n" + reduce("a", 1, "x", cpu0),
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := parse(t, c.graph)
			if err := OrderCollectives(g); err != nil {
				t.Fatal(err)
			}
			same(t, sorted(graphtext.Print(g)), sorted(c.want))
		})
	}
}

// A reduction in a loop is not made to wait for one outside, nor the reverse.
func TestOrderLeavesLoopsAlone(t *testing.T) {
	text := `x = Placeholder[dtype=float32, shape=[1]] @` + cpu0 + `
p = Placeholder[dtype=bool, shape=[]] @` + cpu0 + `
e = Enter[frame_name="f"](x) @` + cpu0 + `
m = Merge(e, n) @` + cpu0 + `
q = Enter[frame_name="f", is_constant=true](p) @` + cpu0 + `
c = LoopCond(q) @` + cpu0 + `
s = Switch(m, c) @` + cpu0 + `
` + reduce("r", 3, "s:1", cpu0) + `n = NextIteration(r) @` + cpu0 + `
o = Exit(s) @` + cpu0 + "\n"
	g := parse(t, text+reduce("a", 2, "x", cpu0)+reduce("b", 1, "o", cpu0))
	if err := OrderCollectives(g); err != nil {
		t.Fatal(err)
	}
	same(t, sorted(graphtext.Print(g)), sorted(text+reduce("a", 2, "x", cpu0)+reduce("b", 1, "o, ^a", cpu0)))
}

func TestOrderRefusesEqualInstances(t *testing.T) {
	g := parse(t, "x = Placeholder[dtype=float32, shape=[1]] @"+cpu0+"\n"+reduce("a", 4, "x", cpu0)+reduce("b", 4, "x", cpu0))
	const want = "Unexpected same instance_key 4 on 2 nodes with the same device " + cpu0
	if err := OrderCollectives(g); core.CodeOf(err) != core.Internal || core.AsError(err).Message() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

// Whatever depends on what, no two reductions of a device can run at once
// afterwards, and the graph has no cycle.
func TestOrderIsTotal(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var b strings.Builder
		b.WriteString("n0 = Placeholder[dtype=float32, shape=[1]] @" + cpu0 + "\n")
		keys := r.Perm(12)
		for i := 1; i <= 12; i++ {
			b.WriteString(reduce(fmt.Sprintf("n%d", i), keys[i-1], fmt.Sprintf("n%d", max(0, i-1-r.IntN(9))*r.IntN(2)), cpu0))
		}
		g := parse(t, b.String())
		if err := OrderCollectives(g); err != nil {
			t.Fatal(err)
		}
		order, err := g.Sorted()
		if err != nil {
			t.Fatal(err)
		}
		checkChain(t, order, b.String())
	}
}

// checkChain checks that each of some nodes depends on all before it.
func checkChain(t *testing.T, order []*graph.Node, text string) {
	t.Helper()
	before := make([]map[int]bool, len(order))
	for i, n := range order {
		before[n.ID] = map[int]bool{}
		for _, p := range inputs(n) {
			before[n.ID][p.ID] = true
			for k := range before[p.ID] {
				before[n.ID][k] = true
			}
		}
		if len(before[n.ID]) != i {
			t.Fatalf("%s depends on %d of the %d nodes before it in\n%s", n.Name, len(before[n.ID]), i, text)
		}
	}
}
