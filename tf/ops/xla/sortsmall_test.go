package xla

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
)

// TestSmallFloatsSorted: floating-point numbers of 8 bits are put in order.
func TestSmallFloatsSorted(t *testing.T) {
	for _, e := range []stablehlo.Elem{"f8E5M2", "f8E4M3FN"} {
		region := &stablehlo.Block{Args: []*stablehlo.Value{{Type: tensorOf(e)}, {Type: tensorOf(e), Index: 1}}}
		r := writer{region}
		r.ends(r.op("compare", tensorOf("i1"), attrs{"comparison_direction": stablehlo.Enum("LT"), "compare_type": stablehlo.Enum("TOTALORDER")}, region.Args...))
		for name, want := range map[string]string{"sort": "float32[4]{-1.5, 0, 3, NaN}", "top_k": "float32[2]{NaN, 3}"} {
			got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
				x := w.op("convert", tensorOf(e, 4), nil, in[0])
				op := &stablehlo.Op{Name: name, Operands: []*stablehlo.Value{x}}
				if name == "sort" {
					op.Attrs, op.Regions = attrs{"dimension": intAttr(0)}, []*stablehlo.Block{region}
					op.Results = []*stablehlo.Value{{Type: x.Type, Def: op}}
				} else {
					op.Attrs = attrs{"k": intAttr(2)}
					op.Results = []*stablehlo.Value{{Type: tensorOf(e, 2), Def: op}, {Type: tensorOf("i32", 2), Def: op, Index: 1}}
				}
				w.b.Ops = append(w.b.Ops, op)
				return w.op("convert", tensorOf("f32", op.Results[0].Type.Shape...), nil, op.Results[0])
			}, []float32{3, float32(math.NaN()), -1.5, 0})
			if got.String() != want {
				t.Errorf("%s of %s: want %s, got %s", name, e, want, got)
			}
		}
	}
}
