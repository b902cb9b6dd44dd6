package pass

import (
	"fmt"
	"strings"
	"testing"
)

// TestFoldedOrders: constants in the place of many that wait for many do not each wait for all.
func TestFoldedOrders(t *testing.T) {
	const n = 300
	var text strings.Builder
	var consts, results, chain []string
	for i := range n {
		fmt.Fprintf(&text, "x%d = _Arg[T=float32, index=%d] @/device:CPU:0\n", i, i)
		fmt.Fprintf(&text, "c%d = Const[dtype=float32, value=float32[]{1}](^x%d) @/device:CPU:0\n", i, i)
		consts, results = append(consts, fmt.Sprintf("c%d", i)), append(results, fmt.Sprintf("n:%d", i))
		if i > 0 {
			chain = append(chain, fmt.Sprintf("s%d = AddV2(s%d, c%d) @/device:CPU:0\n", i, i-1, i))
		}
	}
	text.WriteString("n = IdentityN(" + strings.Join(consts, ", ") + ") @/device:CPU:0\ny = IdentityN(" + strings.Join(results, ", ") + ") @/device:CPU:0\n")
	text.WriteString("s0 = Neg(c0) @/device:CPU:0\n" + strings.Join(chain, "") + fmt.Sprintf("z = Identity(s%d) @/device:CPU:0\n", n-1))
	g := parse(t, text.String())
	if err := Optimize(g, Options{Disabled: only("constant_folding"), Eval: evaluate}); err != nil {
		t.Fatal(err)
	}
	if g.Node("n") != nil || g.Node("z").In[0].Node.OpName() != "Const" {
		t.Error("not all is folded")
	}
	edges := 0
	for _, m := range g.Nodes {
		edges += len(m.Control)
	}
	if most := 4 * n; edges > most {
		t.Errorf("%d nodes wait for others %d times, want at most %d", len(g.Nodes), edges, most)
	}
}
