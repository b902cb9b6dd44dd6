package pass

import (
	"testing"

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
