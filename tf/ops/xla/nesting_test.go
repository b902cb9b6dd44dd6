package xla

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
)

// TestCallsNestDeep is about modules whose functions call each other in a row, each of
// which takes stack while it is lowered: without a bound the stack ends the process.
func TestCallsNestDeep(t *testing.T) {
	const n = 1 << 13
	x := stablehlo.Type{Kind: stablehlo.Tensor, Elem: "f32"}
	m := &stablehlo.Module{}
	for i := range n {
		a := &stablehlo.Value{Type: x}
		ret := &stablehlo.Op{Name: "return", Operands: []*stablehlo.Value{a}}
		b := &stablehlo.Block{Args: []*stablehlo.Value{a}, Ops: []*stablehlo.Op{ret}}
		if i < n-1 {
			call := &stablehlo.Op{Name: "call", Operands: []*stablehlo.Value{a}, Attrs: map[string]stablehlo.Attr{"callee": stablehlo.Symbol(calledName(i + 1))}}
			call.Results = []*stablehlo.Value{{Type: x, Def: call}}
			ret.Operands = call.Results
			b.Ops = []*stablehlo.Op{call, ret}
		}
		m.Funcs = append(m.Funcs, &stablehlo.Func{Name: calledName(i), Args: []stablehlo.Type{x}, Results: []stablehlo.Type{x}, Body: b})
	}
	if err := lowerAll(m); tf.CodeOf(err) != tf.ResourceExhausted {
		t.Errorf("%d calls within each other must be refused, got %v", n, err)
	}
	last := m.Funcs[n-200:]
	last[0].Name = "main"
	if err := lowerAll(&stablehlo.Module{Funcs: last}); err != nil {
		t.Errorf("200 calls within each other must be taken, got %v", err)
	}
}

func calledName(i int) string {
	if i == 0 {
		return "main"
	}
	return fmt.Sprintf("f%d", i)
}
