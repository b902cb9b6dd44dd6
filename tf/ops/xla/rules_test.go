package xla

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// A builds adds operations on arguments to a block.
type builds func(w writer, in []*stablehlo.Value) *stablehlo.Value

// result runs operations, and returns the tensor of the value that build returns.
func result(t *testing.T, build builds, in ...any) *tf.Tensor {
	t.Helper()
	return resultOf(t, build, func(x tf.Output) tf.Output { return x }, in...)
}

// resultOfOpen is result for arguments of sizes that only the step knows.
func resultOfOpen(t *testing.T, build builds, in ...any) *tf.Tensor {
	t.Helper()
	return resultOf(t, build, func(x tf.Output) tf.Output {
		return ops.PlaceholderWithDefault(x, unknowns(len(x.Shape())))
	}, in...)
}

func resultOf(t *testing.T, build builds, argument func(tf.Output) tf.Output, in ...any) *tf.Tensor {
	t.Helper()
	l, b := newLowering(&stablehlo.Module{}, tf.NewGraph(), func(int) error { return nil }), &stablehlo.Block{}
	xs := make([]tf.Output, len(in))
	for i, v := range in {
		xs[i] = argument(ops.Constant(l.g, v))
		typ := tensorOf(elems[xs[i].DType()])
		for _, d := range xs[i].Shape() {
			typ.Shape = append(typ.Shape, int64(d))
		}
		b.Args = append(b.Args, &stablehlo.Value{Type: typ, Index: i})
	}
	w := writer{b}
	w.ends(build(w, b.Args))
	out, err := l.block(b, xs)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(l.g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := s.Run(context.Background(), nil, out[0])
	if err != nil {
		t.Fatal(err)
	}
	return got[0]
}

// TestNormalizeVectors: where a tensor has no dimension but that of features, each element is
// its own mean.
func TestNormalizeVectors(t *testing.T) {
	got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		op := &stablehlo.Op{Name: "batch_norm_training", Operands: in, Attrs: attrs{"feature_index": intAttr(0), "epsilon": stablehlo.Float{Value: 1}}}
		for range 3 {
			op.Results = append(op.Results, &stablehlo.Value{Type: in[0].Type, Def: op})
		}
		w.b.Ops = append(w.b.Ops, op)
		return op.Results[1]
	}, []float32{1, 2, 4}, []float32{1, 1, 1}, []float32{0, 0, 0})
	if want := "float32[3]{1, 2, 4}"; got.String() != want {
		t.Errorf("means: want %s, got %s", want, got)
	}
}

// TestReduceKeepsOrder composes the functions x·a + b, which do not commute, along both
// dimensions: the results are those of XLA.
func TestReduceKeepsOrder(t *testing.T) {
	scalar := tensorOf("f32")
	region := &stablehlo.Block{}
	for i := range 4 {
		region.Args = append(region.Args, &stablehlo.Value{Type: scalar, Index: i})
	}
	r, x := writer{region}, region.Args
	r.ends(r.op("multiply", scalar, nil, x[0], x[2]), r.op("add", scalar, nil, r.op("multiply", scalar, nil, x[1], x[2]), x[3]))
	build := func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		op := &stablehlo.Op{Name: "reduce", Operands: in, Attrs: attrs{"dimensions": intsAttr([]int{1, 0})}, Regions: []*stablehlo.Block{region}}
		for range 2 {
			op.Results = append(op.Results, &stablehlo.Value{Type: scalar, Def: op})
		}
		w.b.Ops = append(w.b.Ops, op)
		return op.Results[1]
	}
	in := []any{[][]float32{{2, 3, 1}, {5, 1, 2}}, [][]float32{{1, 2, 3}, {4, 5, 6}}, float32(3), float32(7)}
	const want = "float32[]{524}"
	if got := result(t, build, in...); got.String() != want {
		t.Errorf("want %s, got %s", want, got)
	}
	if got := resultOfOpen(t, build, in...); got.String() != want {
		t.Errorf("in a loop: want %s, got %s", want, got)
	}
}

// TestReduceAlongNothing: XLA leaves elements that nothing is combined with as they are,
// whatever the initial value.
func TestReduceAlongNothing(t *testing.T) {
	region := &stablehlo.Block{Args: []*stablehlo.Value{{Type: tensorOf("f32")}, {Type: tensorOf("f32"), Index: 1}}}
	r := writer{region}
	r.ends(r.op("add", tensorOf("f32"), nil, region.Args...))
	got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		op := &stablehlo.Op{Name: "reduce", Operands: in, Regions: []*stablehlo.Block{region}, Attrs: attrs{"dimensions": intsAttr(nil)}}
		op.Results = []*stablehlo.Value{{Type: in[0].Type, Def: op}}
		w.b.Ops = append(w.b.Ops, op)
		return op.Results[0]
	}, []float32{1, 2, 3}, float32(5))
	if want := "float32[3]{1, 2, 3}"; got.String() != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

// TestReducePrecisionOfHalf has subnormal numbers: the results are those of XLA.
func TestReducePrecisionOfHalf(t *testing.T) {
	for _, c := range []struct {
		exponent, mantissa int
		want               string
	}{
		{5, 10, "float16[6]{5.9604645e-08, 1.013279e-06, 2.9981136e-05, NaN, -Inf, 65504}"},
		{5, 3, "float16[6]{0, 0, 3.0517578e-05, NaN, -Inf, +Inf}"},
		{4, 3, "float16[6]{0, 0, 0, NaN, -Inf, +Inf}"},
		{8, 10, "float16[6]{5.9604645e-08, 1.013279e-06, 2.9981136e-05, NaN, -Inf, 65504}"},
	} {
		got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
			return w.op("reduce_precision", in[0].Type, attrs{"exponent_bits": intAttr(c.exponent), "mantissa_bits": intAttr(c.mantissa)}, in[0])
		}, []tf.Half{0x0001, 0x0011, 0x01f7, 0x7e00, 0xfc00, 0x7bff})
		if got.String() != c.want {
			t.Errorf("%d and %d bits: want %s, got %s", c.exponent, c.mantissa, c.want, got)
		}
	}
}

// TestSignsOfZero: -0 rounds to -0, and 0 is negated to -0.
func TestSignsOfZero(t *testing.T) {
	got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		return w.op("round_nearest_afz", in[0].Type, nil, in[0])
	}, []float32{float32(math.Copysign(0, -1)), 0, -0.3, 0.5, -2.5})
	if want := "float32[5]{-0, 0, -0, 1, -3}"; got.String() != want {
		t.Errorf("want %s, got %s", want, got)
	}
	got = result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		small := tensorOf("f8E5M2", 2)
		return w.op("convert", in[0].Type, nil, w.op("negate", small, nil, w.op("convert", small, nil, in[0])))
	}, []float32{0, 2})
	if want := "float32[2]{-0, -2}"; got.String() != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

// TestSizesBeyondInt32: a size that int32 does not hold is kept or refused, but never cut.
func TestSizesBeyondInt32(t *testing.T) {
	const n = 1<<32 + 2
	l, b := newLowering(&stablehlo.Module{}, tf.NewGraph(), func(int) error { return nil }), &stablehlo.Block{}
	b.Args = []*stablehlo.Value{{Type: tensorOf("i8")}}
	w := writer{b}
	w.ends(w.op("broadcast_in_dim", tensorOf("i8", n), nil, b.Args[0]))
	out, err := l.block(b, []tf.Output{ops.Scalar(l.g, int8(1))})
	if err != nil || out[0].Shape().String() != "[4294967298]" {
		t.Errorf("a broadcast must have the shape of its type, got %v, %v", out, err)
	}
	known(n).in(l.g)
	if err := l.g.Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("a size as int32 must be refused, got %v", err)
	}
}

// TestSizesOfStepBeyondInt32 is about sizes that only the step knows.
func TestSizesOfStepBeyondInt32(t *testing.T) {
	l, b := newLowering(&stablehlo.Module{}, tf.NewGraph(), func(int) error { return nil }), &stablehlo.Block{}
	b.Args = []*stablehlo.Value{{Type: tensorOf("i8", 2, 2)}, {Type: tensorOf("i64", 2), Index: 1}}
	w := writer{b}
	w.ends(w.op("dynamic_reshape", tensorOf("i8", stablehlo.Dynamic, stablehlo.Dynamic), nil, b.Args...))
	out, err := l.block(b, []tf.Output{ops.Const(l.g, make([]int8, 4), 2, 2), ops.Const(l.g, []int64{1<<32 + 2, 2}, 2)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(l.g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, err := s.Run(t.Context(), nil, out[0]); err == nil {
		t.Errorf("4 elements must not fit a size beyond int32, got shape %v", got[0].Shape())
	}
}

// TestLuOfSingularMatrices: LAPACK factors matrices without inverse, whose determinant is 0.
func TestLuOfSingularMatrices(t *testing.T) {
	for i, want := range []string{"float32[2,2,2]{2, 4, 0.5, 0, 0, 0, 0, 0}", "int32[2,2]{2, 2, 1, 2}"} {
		got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
			op := &stablehlo.Op{Name: "custom_call", Operands: in, Attrs: attrs{"call_target_name": stablehlo.String("lapack_sgetrf_ffi")}}
			for _, r := range []stablehlo.Type{in[0].Type, tensorOf("i32", 2, 2), tensorOf("i32", 2)} {
				op.Results = append(op.Results, &stablehlo.Value{Type: r, Def: op})
			}
			w.b.Ops = append(w.b.Ops, op)
			return op.Results[i]
		}, [][][]float32{{{1, 2}, {2, 4}}, {{0, 0}, {0, 0}}})
		if got.String() != want {
			t.Errorf("result %d: want %s, got %s", i, want, got)
		}
	}
}

// TestEigenvaluesOfNaN: a matrix without eigenvalues does not fail the step, and leaves the
// others of its batch alone.
func TestEigenvaluesOfNaN(t *testing.T) {
	got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		op := &stablehlo.Op{Name: "custom_call", Operands: in, Attrs: attrs{"call_target_name": stablehlo.String("lapack_ssyevd_ffi")}}
		for _, r := range []stablehlo.Type{in[0].Type, tensorOf("f32", 2, 1), tensorOf("i32", 2)} {
			op.Results = append(op.Results, &stablehlo.Value{Type: r, Def: op})
		}
		w.b.Ops = append(w.b.Ops, op)
		return op.Results[1]
	}, [][][]float32{{{float32(math.NaN())}}, {{3}}})
	if want := "float32[2,1]{NaN, 3}"; got.String() != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

// TestGatherFromNothing takes empty windows from a tensor without elements.
func TestGatherFromNothing(t *testing.T) {
	got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		return w.op("gather", tensorOf("f32", 2, 0), attrs{
			"offset_dims": intsAttr([]int{1}), "collapsed_slice_dims": intsAttr([]int{0, 1}), "start_index_map": intsAttr([]int{0, 1}),
			"index_vector_dim": intAttr(1), "slice_sizes": intsAttr([]int{1, 1, 0}),
		}, in...)
	}, [][][]float32{{{}, {}}, {{}, {}}}, [][]int32{{0, 1}, {1, 0}})
	if want := "float32[2,0]{}"; got.String() != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

// TestScatterToNothing: a tensor without elements stays so, whatever indices there are.
func TestScatterToNothing(t *testing.T) {
	region := &stablehlo.Block{Args: []*stablehlo.Value{{Type: tensorOf("f32")}, {Type: tensorOf("f32"), Index: 1}}}
	r := writer{region}
	r.ends(r.op("add", tensorOf("f32"), nil, region.Args...))
	got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		op := &stablehlo.Op{Name: "scatter", Operands: in, Regions: []*stablehlo.Block{region}, Attrs: attrs{
			"update_window_dims": intsAttr([]int{1}), "inserted_window_dims": intsAttr([]int{0}), "scatter_dims_to_operand_dims": intsAttr([]int{0}), "index_vector_dim": intAttr(1),
		}}
		op.Results = []*stablehlo.Value{{Type: in[0].Type, Def: op}}
		w.b.Ops = append(w.b.Ops, op)
		return op.Results[0]
	}, [][]float32{{}, {}}, [][]int32{{0}, {1}, {5}}, [][]float32{{}, {}, {}})
	if want := "float32[2,0]{}"; got.String() != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

// TestKnownSizesOfOpenType: a type may leave open what its operands know.
func TestKnownSizesOfOpenType(t *testing.T) {
	got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		x := w.op("broadcast_in_dim", tensorOf("f32", 3), nil, in[0])
		return w.op("add", tensorOf("f32", stablehlo.Dynamic), nil, x, x)
	}, float32(2))
	if want := "float32[3]{4, 4, 4}"; got.String() != want {
		t.Errorf("want %s, got %s", want, got)
	}
}

// TestLongRows is about values that very many operations in a row reshape or repeat: where
// each of these is asked about, none must be followed to the end.
func TestLongRows(t *testing.T) {
	row := func(name string, n int) *stablehlo.Value {
		w := writer{&stablehlo.Block{}}
		v := w.int(0)
		for range n {
			v = w.op(name, v.Type, nil, v)
		}
		return v
	}
	if !allZero(row("reshape", 3)) || changesNothing(constantOf(row("reshape", 3)), 0) == false {
		t.Error("a zero that is reshaped must be recognized")
	}
	if _, ok := constantShift(row("broadcast_in_dim", 3)); !ok {
		t.Error("a shift that is repeated must be recognized")
	}
	const many = 1 << 15
	if _, ok := constantShift(row("broadcast_in_dim", many)); ok {
		t.Error("a shift must not be followed to the end of a long row")
	}
	if allZero(row("reshape", many)) || changesNothing(constantOf(row("reshape", many)), 0) {
		t.Error("a zero must not be followed to the end of a long row")
	}
}

// TestCubeRoots: roots of float64 are exact to a unit in the last place, those of cubes exact.
func TestCubeRoots(t *testing.T) {
	x := []float64{0, 1, 8, 64, -1000, 1e300, 3, -1e-300, 5e-324, math.MaxFloat64, math.Inf(1), math.Inf(-1)}
	got := tf.Data[float64](result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		return w.op("cbrt", in[0].Type, nil, in[0])
	}, x))
	for i, y := range got {
		want := math.Cbrt(x[i])
		if n := math.Nextafter(want, y); y != want && (n != y || want == math.Round(want)) {
			t.Errorf("%v: want %v, got %v", x[i], want, y)
		}
	}
}

// TestErrorsOfBroadcastsNameOperations: what cannot be broadcast for an operation is the
// operation's error.
func TestErrorsOfBroadcastsNameOperations(t *testing.T) {
	l := newLowering(&stablehlo.Module{}, tf.NewGraph(), func(int) error { return nil })
	v := &stablehlo.Value{Type: tensorOf("f32", 3)}
	l.thin[v] = thin{x: ops.Const(l.g, []float32{1, 2}, 1, 2), shape: tf.Shape{3}}
	if _, err := l.whole(&stablehlo.Op{Name: "slice"}, v); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "StableHLO's operation slice: ") {
		t.Errorf("got %v", err)
	}
}
