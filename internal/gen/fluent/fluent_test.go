package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestCurrent fails when the methods were not written anew after a change.
func TestCurrent(t *testing.T) {
	want, err := source()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../../tf/zz_fluent.go")
	if err != nil || string(got) != string(want) {
		t.Errorf("tf/zz_fluent.go is stale (%v): run go run ./internal/gen/fluent > tf/zz_fluent.go", err)
	}
}

// TestMethods compares what the list promises with the ops' signatures.
func TestMethods(t *testing.T) {
	inputs := map[form]int{unary: 1, binary: 2, product: 2, reduction: 2, position: 2, vector: 2, conversion: 1}
	for _, m := range methods {
		op := m.op
		if op == "" {
			op = m.name
		}
		d := core.Lookup(op)
		if d == nil {
			t.Errorf("%s: there is no op %s", m.name, op)
			continue
		}
		if len(d.Inputs) != inputs[m.form] || len(d.Outputs) != 1 {
			t.Errorf("%s: op %s has %d inputs and %d outputs", m.name, op, len(d.Inputs), len(d.Outputs))
		}
	}
	if !slices.IsSortedFunc(methods, func(a, b method) int { return strings.Compare(a.name, b.name) }) {
		t.Error("methods are not in the order of their names")
	}
}

func TestChains(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float32{1, -2, 3, 4}, 2, 2)
	for _, c := range []struct {
		what string
		got  tf.Output
		want []float32
	}{
		{"unary", x.Relu().Neg(), []float32{-1, 0, -3, -4}},
		{"binary", x.Add(x).Mul(x), []float32{2, 8, 18, 32}},
		{"product", x.MatMul(x), []float32{-5, -10, 15, 10}},
		{"reduction of all", x.Sum(), []float32{6}},
		{"reduction along an axis", x.Max(0), []float32{3, 4}},
		{"reshape", x.Reshape(-1).ExpandDims(0).Max(0), []float32{1, -2, 3, 4}},
		{"transpose", x.Transpose(1, 0), []float32{1, 3, -2, 4}},
		{"reversed dimensions", x.Transpose(), []float32{1, 3, -2, 4}},
		{"conversion", x.Cast(tf.Int32).Cast(tf.Float32), []float32{1, -2, 3, 4}},
		{"reduction of a scalar", x.Mean().Sum(), []float32{1.5}},
	} {
		v, err := c.got.Value()
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
		} else if got := tf.Data[float32](v); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.what, got, c.want)
		}
	}
	at, err := x.ArgMax(-1).Value()
	if err != nil || !slices.Equal(tf.Data[int64](at), []int64{0, 1}) {
		t.Errorf("ArgMax: %v %v", at, err)
	}
}

// TestUnknownRank: all axes are known at run time only.
func TestUnknownRank(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, nil)
	if y := x.Sum(); y.Err() != nil || g.Operation("Range") == nil {
		t.Errorf("sum over an unknown rank: %v, operations %v", y.Err(), g.Operations())
	}
}

// TestTransposeReverses: without axes all dimensions are reversed, of whatever rank.
func TestTransposeReverses(t *testing.T) {
	g := eager.New()
	for _, s := range []tf.Shape{{}, {3}, {2, 3}, {2, 3, 4}} {
		x, err := tf.NewTensor(tf.Float32, s)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(s)
		slices.Reverse(want)
		if y := ops.ConstTensor(g, x).Transpose(); y.Err() != nil || !slices.Equal(y.Shape(), want) {
			t.Errorf("the transpose of %v has shape %v, want %v (%v)", s, y.Shape(), want, y.Err())
		}
	}
	h := tf.NewGraph()
	any := ops.Placeholder(h, tf.Float32, nil)
	s, err := session.New(h)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x, err := tf.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	got, err := session.Fetch[float32](t.Context(), s, session.Feeds{any: x}, any.Transpose())
	if want := []float32{1, 4, 2, 5, 3, 6}; err != nil || !slices.Equal(got, want) {
		t.Errorf("a transpose of unknown rank: %v, want %v (%v)", got, want, err)
	}
	if y := (tf.Output{}).Transpose(); y.Err() == nil {
		t.Error("the transpose of no output must be an error")
	}
}

// TestZeroOutput: methods of an Output that is none give an error.
func TestZeroOutput(t *testing.T) {
	var none tf.Output
	for _, y := range []tf.Output{none.Neg(), none.Add(none), none.Sum(), none.ArgMax(0), none.Reshape(1), none.Cast(tf.Int32)} {
		if y.Err() == nil {
			t.Error("a method of the zero Output gives no error")
		}
	}
}
