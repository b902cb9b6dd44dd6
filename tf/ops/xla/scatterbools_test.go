package xla

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
)

// TestScatterBooleans: of booleans a sum and a maximum are "or", a product and a minimum "and".
func TestScatterBooleans(t *testing.T) {
	for how, want := range map[string]string{
		"add": "{0, 1, 1, 1}", "or": "{0, 1, 1, 1}", "maximum": "{0, 1, 1, 1}", "multiply": "{0, 0, 0, 1}", "and": "{0, 0, 0, 1}", "minimum": "{0, 0, 0, 1}",
	} {
		region := &stablehlo.Block{Args: []*stablehlo.Value{{Type: tensorOf("i1")}, {Type: tensorOf("i1"), Index: 1}}}
		r := writer{region}
		r.ends(r.op(how, tensorOf("i1"), nil, region.Args...))
		got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
			op := &stablehlo.Op{Name: "scatter", Operands: in, Regions: []*stablehlo.Block{region}, Attrs: attrs{
				"update_window_dims": intsAttr(nil), "inserted_window_dims": intsAttr([]int{0}), "scatter_dims_to_operand_dims": intsAttr([]int{0}), "index_vector_dim": intAttr(1),
			}}
			op.Results = []*stablehlo.Value{{Type: in[0].Type, Def: op}}
			w.b.Ops = append(w.b.Ops, op)
			return w.op("convert", tensorOf("i32", 4), nil, op.Results[0])
		}, []bool{false, false, true, true}, [][]int32{{0}, {1}, {2}, {3}, {2}, {9}}, []bool{false, true, false, true, true, false})
		if want = "int32[4]" + want; got.String() != want {
			t.Errorf("%s: want %s, got %s", how, want, got)
		}
	}
}
