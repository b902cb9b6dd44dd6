package xla

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// Sizes that the step knows may be smaller than windows, or 0. Results then have no elements,
// or are sums of none.

const openSize = stablehlo.Dynamic

// TestOpenSizesBelowWindows: there is no window where it is greater than the dimension.
func TestOpenSizesBelowWindows(t *testing.T) {
	for _, how := range []string{"add", "maximum", "minimum", "multiply"} {
		for _, c := range []struct {
			size, pads []int
			want       string
		}{
			{[]int{3, 3}, []int{0, 0, 0, 0}, "float32[0,0]{}"},
			{[]int{2, 4}, []int{0, 0, 0, 0}, "float32[1,0]{}"},
			{[]int{5, 2}, []int{1, 1, 0, 0}, "float32[0,1]{}"},
			{[]int{9, 1}, []int{0, 0, 0, 0}, "float32[0,2]{}"},
		} {
			got := resultOfOpen(t, windowsOf(how, 0, tensorOf("f32", openSize, openSize), c.size, c.pads), [][]float32{{1, 2}, {3, 4}})
			if got.String() != c.want {
				t.Errorf("%s of windows %v: want %s, got %s", how, c.size, c.want, got)
			}
		}
	}
}

// TestOpenPoolingGradients: the gradient of windows of which there are none is 0.
func TestOpenPoolingGradients(t *testing.T) {
	scalar := tensorOf("f32")
	region := func(name string, a attrs, e stablehlo.Elem) *stablehlo.Block {
		b := &stablehlo.Block{Args: []*stablehlo.Value{{Type: scalar}, {Type: scalar, Index: 1}}}
		w := writer{b}
		w.ends(w.op(name, tensorOf(e), a, b.Args...))
		return b
	}
	got := resultOfOpen(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		source := w.op("reshape", tensorOf("f32", 1, 0, 1, 1), nil, in[1])
		op := &stablehlo.Op{Name: "select_and_scatter", Operands: []*stablehlo.Value{in[0], source, in[2]}, Attrs: attrs{"window_dimensions": intsAttr([]int{1, 3, 2, 1}), "window_strides": intsAttr([]int{1, 1, 2, 1})},
			Regions: []*stablehlo.Block{region("compare", attrs{"comparison_direction": stablehlo.Enum("GE")}, "i1"), region("add", nil, "f32")}}
		op.Results = []*stablehlo.Value{{Type: in[0].Type, Def: op}}
		w.b.Ops = append(w.b.Ops, op)
		return op.Results[0]
	}, [][][][]float32{{{{5}, {6}, {7}}}}, []float32{}, float32(0))
	if want := "float32[1,1,3,1]{0, 0, 0}"; got.String() != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

// convolutionOf is one of images [batch height width features] by a kernel in the same order.
func convolutionOf(a attrs) builds {
	all := attrs{
		"input_batch_dimension": intAttr(0), "input_feature_dimension": intAttr(3), "input_spatial_dimensions": intsAttr([]int{1, 2}),
		"kernel_input_feature_dimension": intAttr(2), "kernel_output_feature_dimension": intAttr(3), "kernel_spatial_dimensions": intsAttr([]int{0, 1}),
		"output_batch_dimension": intAttr(0), "output_feature_dimension": intAttr(3), "output_spatial_dimensions": intsAttr([]int{1, 2}),
	}
	for name, v := range a {
		all[name] = v
	}
	return func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		return w.op("convolution", tensorOf("f32", openSize, openSize, openSize, 2), all, in...)
	}
}

// TestOpenSizesBelowKernels: images are of 1 by 1, and kernels of 2 by 2.
func TestOpenSizesBelowKernels(t *testing.T) {
	image := [][][][]float32{{{{3, 4}}}}
	full := [][][][]float32{{{{1, 0}, {0, 1}}, {{1, 0}, {0, 1}}}, {{{1, 0}, {0, 1}}, {{1, 0}, {0, 1}}}}
	each := [][][][]float32{{{{1, 2}}, {{1, 2}}}, {{{1, 2}}, {{1, 2}}}}
	for _, c := range []struct {
		name, want string
		kernel     any
		a          attrs
	}{
		{"plain", "float32[1,0,0,2]{}", full, nil},
		{"padded", "float32[1,0,1,2]{}", full, attrs{"padding": intsAttr([]int{0, 0, 1, 0})}},
		{"depthwise", "float32[1,0,0,2]{}", each, attrs{"feature_group_count": intAttr(2)}},
		{"dilated", "float32[1,0,0,2]{}", full, attrs{"rhs_dilation": intsAttr([]int{3, 3})}},
		{"dilated images", "float32[1,0,0,2]{}", full, attrs{"lhs_dilation": intsAttr([]int{2, 2})}},
		{"reaching", "float32[1,1,1,2]{3, 4}", full, attrs{"lhs_dilation": intsAttr([]int{2, 2}), "padding": intsAttr([]int{1, 0, 0, 1})}},
	} {
		argument := func(x tf.Output) tf.Output {
			if x.Shape()[0] != 1 {
				return x
			}
			return ops.PlaceholderWithDefault(x, tf.Shape{-1, -1, -1, 2})
		}
		if got := resultOf(t, convolutionOf(c.a), argument, image, c.kernel); got.String() != c.want {
			t.Errorf("%s: want %s, got %s", c.name, c.want, got)
		}
	}
}

// TestOpenGatherFromNothing: empty windows may be taken from tensors without elements.
func TestOpenGatherFromNothing(t *testing.T) {
	got := resultOf(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		one := w.op("reshape", tensorOf("i32", 1), nil, w.int(1))
		sizes := w.op("concatenate", tensorOf("i32", 3), attrs{"dimension": intAttr(0)}, one, one, in[2])
		return w.op("dynamic_gather", tensorOf("f32", 2, openSize), attrs{
			"offset_dims": intsAttr([]int{1}), "collapsed_slice_dims": intsAttr([]int{0, 1}), "start_index_map": intsAttr([]int{0, 1}), "index_vector_dim": intAttr(1),
		}, in[0], in[1], sizes)
	}, func(x tf.Output) tf.Output {
		if len(x.Shape()) == 3 {
			return ops.PlaceholderWithDefault(x, tf.Shape{2, 2, -1})
		}
		return ops.PlaceholderWithDefault(x, x.Shape())
	}, [][][]float32{{{}, {}}, {{}, {}}}, [][]int32{{0, 1}, {1, 0}}, []int32{0})
	if want := "float32[2,0]{}"; got.String() != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

// TestOpenScatterToNothing: what goes beyond a tensor without elements goes nowhere.
func TestOpenScatterToNothing(t *testing.T) {
	for _, how := range []string{"add", "multiply", "maximum"} {
		region := &stablehlo.Block{Args: []*stablehlo.Value{{Type: tensorOf("f32")}, {Type: tensorOf("f32"), Index: 1}}}
		r := writer{region}
		r.ends(r.op(how, tensorOf("f32"), nil, region.Args...))
		got := resultOf(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
			op := &stablehlo.Op{Name: "scatter", Operands: in, Regions: []*stablehlo.Block{region}, Attrs: attrs{
				"update_window_dims": intsAttr(nil), "inserted_window_dims": intsAttr([]int{0}), "scatter_dims_to_operand_dims": intsAttr([]int{0}), "index_vector_dim": intAttr(1),
			}}
			op.Results = []*stablehlo.Value{{Type: in[0].Type, Def: op}}
			w.b.Ops = append(w.b.Ops, op)
			return op.Results[0]
		}, func(x tf.Output) tf.Output {
			if len(x.Shape()) == 1 {
				return ops.PlaceholderWithDefault(x, tf.Shape{-1})
			}
			return x
		}, []float32{}, [][]int32{{0}, {-1}, {5}}, []float32{1, 2, 3})
		if want := "float32[0]{}"; got.String() != want {
			t.Errorf("%s: want %s, got %s", how, want, got)
		}
	}
}
