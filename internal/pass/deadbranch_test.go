package pass

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestVectorPredicate: a Switch whose predicate is no scalar fails, so that it stays.
func TestVectorPredicate(t *testing.T) {
	g := parse(t, `x = _Arg[T=float32, index=0] @/device:CPU:0
p = Const[dtype=bool, value=bool[]{true}] @/device:CPU:0
s = Switch(x, p) @/device:CPU:0
y = Neg(s:1) @/device:CPU:0`)
	v := core.NewTensor(core.Bool, core.Shape{1})
	core.Data[bool](v)[0] = true
	g.Node("p").Attrs["value"] = v
	if err := Optimize(g, Options{Disabled: only("dead_branch_removal")}); err != nil {
		t.Fatal(err)
	}
	if g.Node("s") == nil {
		t.Error("the Switch is gone")
	}
}

// TestLargeDeadBranch: a branch that is followed ends with the planning.
func TestLargeDeadBranch(t *testing.T) {
	const n = 5000
	text, all := `x = _Arg[T=float32, index=0] @/device:CPU:0
p = Const[dtype=bool, value=bool[]{true}] @/device:CPU:0
s = Switch(x, p) @/device:CPU:0
`, make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint("n", i)
		text += all[i] + " = Neg(s) @/device:CPU:0\n"
	}
	g := parse(t, text+"m = Merge("+strings.Join(all, ", ")+", s:1) @/device:CPU:0\ny = Neg(m) @/device:CPU:0")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := &editor{Graph: g.Within(graph.NewBudget(ctx, graph.Limits{})), roots: map[*graph.Node]bool{}}
	b := branch{
		e: e, uses: e.Uses(), off: graph.Edge{Node: e.Node("s")}, gone: map[*graph.Node]bool{},
		dead: map[*graph.Node]bool{}, live: map[*graph.Node]graph.Edge{}, deadOf: map[*graph.Node]int{},
	}
	if _, err := b.follow(); core.CodeOf(err) != core.Canceled {
		t.Errorf("in an ended context: %v", err)
	}
	e.Budget = nil
	if ok, err := b.follow(); err != nil || !ok || b.live[e.Node("m")] != (graph.Edge{Node: e.Node("s"), Out: 1}) {
		t.Errorf("follow: %v, %v, %v", ok, err, b.live)
	}
}
