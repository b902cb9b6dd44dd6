package xla

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// scattersBy adds a scattering of rows, or of elements, by a region that body writes.
func scattersBy(w writer, in []*stablehlo.Value, unique bool, body func(r writer, old, update *stablehlo.Value) *stablehlo.Value) *stablehlo.Value {
	e := tensorOf(in[0].Type.Elem)
	r := writer{&stablehlo.Block{Args: []*stablehlo.Value{{Type: e}, {Type: e, Index: 1}}}}
	r.ends(body(r, r.b.Args[0], r.b.Args[1]))
	window := make([]int, len(in[0].Type.Shape)-1)
	for i := range window {
		window[i] = len(in[1].Type.Shape) - 1 + i
	}
	op := &stablehlo.Op{Name: "scatter", Operands: in, Regions: []*stablehlo.Block{r.b}, Attrs: attrs{
		"update_window_dims": intsAttr(window), "inserted_window_dims": intsAttr([]int{0}), "scatter_dims_to_operand_dims": intsAttr([]int{0}),
		"index_vector_dim": intAttr(len(in[1].Type.Shape) - 1), "unique_indices": stablehlo.Bool(unique),
	}}
	op.Results = []*stablehlo.Value{{Type: in[0].Type, Def: op}}
	w.b.Ops = append(w.b.Ops, op)
	return op.Results[0]
}

// TestScatterByRegion: a region sees what the updates before have made of an element, in
// their order; updates out of range are none.
func TestScatterByRegion(t *testing.T) {
	steps := func(r writer, old, update *stablehlo.Value) *stablehlo.Value { // 2·old + update
		return r.op("add", old.Type, nil, r.op("add", old.Type, nil, old, old), update)
	}
	constant := func(r writer, _, _ *stablehlo.Value) *stablehlo.Value { return r.int(7) }
	for _, c := range []struct {
		name   string
		unique bool
		body   func(r writer, old, update *stablehlo.Value) *stablehlo.Value
		in     []any
		want   string
	}{
		{"elements", false, steps, []any{[]int32{1, 2, 3, 4}, [][]int32{{1}, {9}, {1}, {-1}, {3}}, []int32{1, 5, 3, 5, 0}}, "int32[4]{1, 13, 3, 8}"},
		{"batches", false, steps, []any{[]int32{1, 2}, [][][]int32{{{0}, {1}}, {{0}, {0}}}, [][]int32{{1, 2}, {3, 4}}}, "int32[2]{22, 6}"},
		{"rows", false, steps, []any{[][]int32{{1, 2}, {3, 4}}, [][]int32{{1}, {1}}, [][]int32{{0, 1}, {1, 0}}}, "int32[2,2]{1, 2, 13, 18}"},
		{"unique", true, steps, []any{[]int32{1, 2, 3}, [][]int32{{2}, {0}, {3}}, []int32{1, 2, 3}}, "int32[3]{4, 2, 7}"},
		{"constant", false, constant, []any{[]int32{1, 2, 3}, [][]int32{{2}, {0}, {3}}, []int32{1, 2, 3}}, "int32[3]{7, 2, 7}"},
		{"no updates", false, steps, []any{[]int32{1, 2, 3}, must(tf.FromSlice([]int32{}, 0, 1)), []int32{}}, "int32[3]{1, 2, 3}"},
		{"one index", false, steps, []any{[]int32{1, 2, 3}, []int32{1}, int32(5)}, "int32[3]{1, 9, 3}"},
		{"one update", false, steps, []any{[]int32{1, 2, 3}, [][]int32{{1}}, []int32{5}}, "int32[3]{1, 9, 3}"},
	} {
		for how, argument := range map[string]func(tf.Output) tf.Output{"known": func(x tf.Output) tf.Output { return x }, "open": openButLast} {
			t.Run(c.name+"/"+how, func(t *testing.T) {
				got := resultOf(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value { return scattersBy(w, in, c.unique, c.body) }, argument, c.in...)
				if got.String() != c.want {
					t.Errorf("want %s, got %s", c.want, got)
				}
			})
		}
	}
}

// openButLast hides the first size of x, but not the size of one vector of indices.
func openButLast(x tf.Output) tf.Output {
	shape := x.Shape()
	if len(shape) == 0 || len(shape) == 1 && shape[0] == 1 {
		return x
	}
	shape = slices.Clone(shape)
	shape[0] = -1
	return ops.PlaceholderWithDefault(x, shape)
}

// TestScatterByCalls: the region may call functions, as JAX's of x.at[i].apply(f) does, and
// functions that call themselves are refused.
func TestScatterByCalls(t *testing.T) {
	e := tensorOf("f32")
	f := writer{&stablehlo.Block{Args: []*stablehlo.Value{{Type: e}}}}
	f.ends(f.op("negate", e, nil, f.b.Args[0]))
	loop := writer{&stablehlo.Block{Args: []*stablehlo.Value{{Type: e}}}}
	loop.ends(loop.op("call", e, attrs{"callee": stablehlo.Symbol("loop")}, loop.b.Args[0]))
	m := &stablehlo.Module{Funcs: []*stablehlo.Func{{Name: "f", Body: f.b}, {Name: "loop", Body: loop.b}}}
	for name, code := range map[string]tf.Code{"f": tf.OK, "loop": tf.InvalidArgument, "none": tf.Unimplemented} {
		l := newLowering(m, tf.NewGraph(), func(int) error { return nil })
		xs := []tf.Output{ops.Constant(l.g, []float32{1, 2}), ops.Constant(l.g, [][]int32{{1}, {1}}), ops.Constant(l.g, []float32{0, 0})}
		w := writer{&stablehlo.Block{Args: []*stablehlo.Value{{Type: tensorOf("f32", 2)}, {Type: tensorOf("i32", 2, 1), Index: 1}, {Type: tensorOf("f32", 2), Index: 2}}}}
		w.ends(scattersBy(w, w.b.Args, false, func(r writer, old, _ *stablehlo.Value) *stablehlo.Value {
			return r.op("call", e, attrs{"callee": stablehlo.Symbol(name)}, old)
		}))
		if _, err := l.block(w.b, xs); tf.CodeOf(err) != code {
			t.Errorf("%s: want %v, got %v", name, code, err)
		}
	}
}
