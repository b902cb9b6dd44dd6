package xla

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
)

// TestComparatorOfManySelects is about comparators that make zeros one very often, each of
// which a small part of a module has: they must not be followed again from each select on.
func TestComparatorOfManySelects(t *testing.T) {
	x := stablehlo.Type{Kind: stablehlo.Tensor, Elem: "f32"}
	bit := stablehlo.Type{Kind: stablehlo.Tensor, Elem: "i1"}
	result := func(t stablehlo.Type, op *stablehlo.Op) *stablehlo.Value {
		op.Results = []*stablehlo.Value{{Type: t, Def: op}}
		return op.Results[0]
	}
	compared := func(a, b *stablehlo.Value, dir stablehlo.Enum) *stablehlo.Value {
		return result(bit, &stablehlo.Op{Name: "compare", Operands: []*stablehlo.Value{a, b}, Attrs: map[string]stablehlo.Attr{"comparison_direction": dir}})
	}
	a, b := &stablehlo.Value{Type: x}, &stablehlo.Value{Type: x, Index: 1}
	zero := result(x, &stablehlo.Op{Name: "constant", Attrs: map[string]stablehlo.Attr{"value": stablehlo.Dense{Type: x, Data: make([]byte, 4)}}})
	keysOf := func(selects int) ([]sortKey, bool) {
		v, isZero := a, compared(a, zero, "EQ")
		for range selects {
			v = result(x, &stablehlo.Op{Name: "select", Operands: []*stablehlo.Value{isZero, zero, v}})
		}
		less := compared(v, result(x, &stablehlo.Op{Name: "select", Operands: []*stablehlo.Value{compared(b, zero, "EQ"), zero, b}}), "LT")
		ret := &stablehlo.Op{Name: "return", Operands: []*stablehlo.Value{less}}
		return comparator(&stablehlo.Block{Args: []*stablehlo.Value{a, b}, Ops: []*stablehlo.Op{ret}}, 1)
	}
	if keys, ok := keysOf(1); !ok || len(keys) != 1 || !keys[0].zeros {
		t.Errorf("a comparator that makes zeros one must be recognized, got %v, %v", keys, ok)
	}
	for _, n := range []int{2, 1 << 15} {
		if keys, ok := keysOf(n); ok {
			t.Errorf("a comparator of %d selects must not be followed, got %v", n, keys)
		}
	}
}
