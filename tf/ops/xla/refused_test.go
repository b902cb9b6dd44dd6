package xla

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
)

// TestRefused changes modules into ones that have no translation, which errors name.
func TestRefused(t *testing.T) {
	modules := familyModules(t)
	for _, c := range []struct {
		module, op string
		change     func(op *stablehlo.Op)
		code       tf.Code
		want       string
	}{
		{"text_descending", "sort", func(op *stablehlo.Op) {
			for _, x := range op.Regions[0].Ops {
				if x.Name == "compare" {
					x.Attrs["comparison_direction"] = stablehlo.Enum("NE")
				}
			}
		}, tf.Unimplemented, "sort: its comparator"},
		{"text_two_scattered", "scatter", func(op *stablehlo.Op) { op.Regions[0].Ops[0].Name = "reverse" }, tf.Unimplemented, "scatter: a region with"},
		{"text_last_least", "select_and_scatter", func(op *stablehlo.Op) { op.Regions[1].Ops[0].Name = "power" }, tf.Unimplemented, "select_and_scatter: it must add"},
		{"model_sums", "reduce_window", func(op *stablehlo.Op) {
			op.Attrs["window_dimensions"] = stablehlo.Array{stablehlo.Int{Value: 0}, stablehlo.Int{Value: 1}}
		}, tf.InvalidArgument, "reduce_window: attribute window_dimensions"},
		{"text_reversal", "convolution", func(op *stablehlo.Op) { op.Attrs["output_feature_dimension"] = stablehlo.Int{Value: 9} }, tf.InvalidArgument, "convolution: dimensions must be 0 to 3"},
		{"text_reversal", "convolution", func(op *stablehlo.Op) { op.Attrs["feature_group_count"] = stablehlo.Int{Value: 5} }, tf.InvalidArgument, "convolution: the features"},
		{"text_real_slice", "real_dynamic_slice", func(op *stablehlo.Op) {
			op.Name, op.Operands = "custom_call", op.Operands[:1]
			op.Attrs = map[string]stablehlo.Attr{"call_target_name": stablehlo.String("lapack_sgees_ffi")}
		}, tf.Unimplemented, `"lapack_sgees_ffi"`},
		{"model_embedding", "gather", func(op *stablehlo.Op) { op.Attrs["index_vector_dim"] = stablehlo.Int{Value: -3} }, tf.InvalidArgument, "gather: index_vector_dim must be"},
	} {
		m, err := stablehlo.Read(modules[c.module+".pb"])
		if err != nil {
			t.Fatal(c.module, err)
		}
		for _, f := range m.Funcs {
			for _, op := range opsOf(f.Body) {
				if op.Name == c.op {
					c.change(op)
				}
			}
		}
		if _, err := lowered(m); tf.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: want %v with %q, got %v", c.module, c.code, c.want, err)
		}
	}
}
