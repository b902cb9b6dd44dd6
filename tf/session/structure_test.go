package session_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

func TestFetchAs(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 2})
	type fetches struct {
		Loss   tf.Output
		Train  *tf.Operation
		Layers []layer
		Named  map[string]tf.Output
		Same   *tf.Output
		Pair   [2]tf.Output
		hidden int
	}
	type results struct {
		Loss   float32
		Train  struct{}
		Layers []struct{ W [][]float32 }
		Named  map[string]int32
		Same   *[]float32
		Pair   [2]*tf.Tensor
		More   string
	}
	sum := ops.Sum(x, ops.Const(g, []int32{0, 1}))
	two := ops.Scalar(g, int32(2))
	f := fetches{
		Loss: sum, Train: sum.Operation(), Layers: []layer{{x.Square()}, {x.Neg()}},
		Named: map[string]tf.Output{"two": two, "four": two.Mul(two)}, Same: &x, Pair: [2]tf.Output{sum, two}, hidden: 1,
	}
	s := open(t, g)
	in, err := tf.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	got, err := session.FetchAs[results](t.Context(), s, session.Feeds{x: in}, f)
	if err != nil {
		t.Fatal(err)
	}
	if got.Pair[0].At(0) != float32(10) || got.Pair[1].At(0) != int32(2) {
		t.Errorf("pair %v", got.Pair)
	}
	got.Pair = [2]*tf.Tensor{}
	want := results{
		Loss: 10, Layers: []struct{ W [][]float32 }{{[][]float32{{1, 4}, {9, 16}}}, {[][]float32{{-1, -2}, {-3, -4}}}},
		Named: map[string]int32{"two": 2, "four": 4}, Same: &[]float32{1, 2, 3, 4},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if one, err := session.FetchAs[int32](t.Context(), s, nil, two); err != nil || one != 2 {
		t.Errorf("one output: %v, %v", one, err)
	}
}

type layer struct{ W tf.Output }

func TestFetchAsRefuses(t *testing.T) {
	g := tf.NewGraph()
	v := ops.Const(g, []float32{1, 2})
	s := open(t, g)
	fetch := map[string]func() error{
		"a float32[2], its place string":         func() error { return as[string](t, s, v) },
		"fetches is float32[2], its place int64": func() error { return as[int64](t, s, v) },
		"is float32[2], its place [][]float32":   func() error { return as[[][]float32](t, s, v) },
		"has no field W for fetches[0].W":        func() error { return as[[]struct{ X float32 }](t, s, []layer{{v}}) },
		"fetches is a []session_test.layer":      func() error { return as[float32](t, s, []layer{{v}}) },
		"is a map[string]tf.Output":              func() error { return as[map[int]float32](t, s, map[string]tf.Output{"v": v}) },
		"fetches.W is a":                         func() error { return as[float32](t, s, struct{ W []int }{[]int{1}}) },
		"got nil":                                func() error { return as[float32](t, s, nil) },
		"got string":                             func() error { return as[string](t, s, "v:0") },
		"must be an output or operation":         func() error { return as[float32](t, s, tf.Output{}) },
		"Must specify at least one target":       func() error { return as[[]float32](t, s, []tf.Output{}) },
	}
	for want, f := range fetch {
		err := f()
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), strings.TrimPrefix(want, "a float32[2], ")) && !strings.Contains(err.Error(), "must have the structure") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func as[R any](t *testing.T, s *session.Session, f any) error {
	_, err := session.FetchAs[R](t.Context(), s, nil, f)
	return err
}

func TestSparse(t *testing.T) {
	g := tf.NewGraph()
	x := session.SparseTensor{
		Indices: ops.Placeholder(g, tf.Int64, tf.Shape{-1, 2}), Values: ops.Placeholder(g, tf.Float32, tf.Shape{-1}),
		DenseShape: ops.Placeholder(g, tf.Int64, tf.Shape{2}),
	}
	y := session.SparseTensor{Indices: x.Indices, Values: x.Values.Square(), DenseShape: x.DenseShape}
	slices := tf.IndexedSlices{Values: x.Values.Neg(), Indices: ops.Const(g, []int32{3, 1})}
	s := open(t, g)
	indices, _ := tf.FromSlice([]int64{0, 1, 2, 0}, 2, 2)
	shape, _ := tf.FromSlice([]int64{3, 4})
	v := session.SparseTensorValue{Indices: indices, Values: vector(t, 2, 3), DenseShape: shape}
	type result struct {
		Sparse session.SparseTensorValue
		Slices session.IndexedSlicesValue
	}
	got, err := session.FetchAs[result](t.Context(), s, session.Feeds{}.AddSparse(x, v), struct {
		Sparse session.SparseTensor
		Slices tf.IndexedSlices
	}{y, slices})
	if err != nil {
		t.Fatal(err)
	}
	if tftest.Diff(indices, got.Sparse.Indices) != "" || got.Sparse.Values.String() != "float32[2]{4, 9}" || tftest.Diff(shape, got.Sparse.DenseShape) != "" {
		t.Errorf("sparse: %v", got.Sparse)
	}
	if got.Slices.Values.String() != "float32[2]{-2, -3}" || got.Slices.Indices.String() != "int32[2]{3, 1}" || got.Slices.DenseShape != nil {
		t.Errorf("slices: %v", got.Slices)
	}
	fed := tf.IndexedSlices{Values: slices.Values, Indices: slices.Indices}
	out, err := s.Run(t.Context(), session.Feeds{}.AddSlices(fed, got.Slices), fed.Values.Neg(), fed.Indices)
	if err != nil || out[0].String() != "float32[2]{2, 3}" || tftest.Diff(got.Slices.Indices, out[1]) != "" {
		t.Errorf("fed slices: %v, %v", out, err)
	}
}

func TestFeedsOf(t *testing.T) {
	g := tf.NewGraph()
	x, y := ops.Placeholder(g, tf.Float32, tf.Shape{}), ops.Placeholder(g, tf.Float32, tf.Shape{})
	type pair struct{ A, B any }
	f, err := session.FeedsOf(pair{x, []tf.Output{y}}, pair{tf.Scalar(float32(2)), []*tf.Tensor{tf.Scalar(float32(5))}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := session.Fetch[float32](t.Context(), open(t, g), f, x.Sub(y)); err != nil || got[0] != -3 {
		t.Errorf("got %v, %v", got, err)
	}
	m, err := session.FeedsOf(map[string]tf.Output{"x": x}, map[string]tf.Value{"x": tf.Scalar(float32(1))})
	if err != nil || len(m) != 1 {
		t.Errorf("map: %v, %v", m, err)
	}
	for _, c := range []struct {
		out, v any
		want   string
	}{
		{x, 3, "must be a tf.Value"},
		{x, nil, "one is nil"},
		{[]tf.Output{x, y}, []*tf.Tensor{tf.Scalar(float32(1))}, "must have the structure of the outputs"},
		{map[string]tf.Output{"x": x}, map[string]*tf.Tensor{}, "feeds[x] must have an output and a value"},
		{pair{x, y}, struct{ A *tf.Tensor }{tf.Scalar(float32(1))}, "feeds.B"},
	} {
		if _, err := session.FeedsOf(c.out, c.v); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
