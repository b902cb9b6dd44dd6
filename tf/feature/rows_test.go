package feature_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestRowsOfUnknownWidth: where only the step knows how many numbers an example has,
// other ones than the column's fail it, and do not become those of further examples.
func TestRowsOfUnknownWidth(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, -1})
	y := feature.InputLayer(feature.Features{"x": x}, &feature.NumericColumn{Key: "x", Shape: []int{2}})
	if v, err := fetched(t, g, y, session.Feeds{x: tensorOf(t, []float32{1, 2, 3, 4, 5, 6}, 3, 2)}); err != nil || v.Dim(0) != 3 {
		t.Errorf("three examples: %v, %v", v, err)
	}
	if v, err := fetched(t, g, y, session.Feeds{x: tensorOf(t, []float32{}, 0, 2)}); err != nil || v.Dim(0) != 0 {
		t.Errorf("no examples: %v, %v", v, err)
	}
	v, err := fetched(t, g, y, session.Feeds{x: tensorOf(t, []float32{1, 2, 3, 4, 5, 6}, 2, 3)})
	if err == nil || !strings.Contains(err.Error(), "Input to reshape is a tensor with 6 values") {
		t.Errorf("two examples of three numbers: %v, %v", v, err)
	}
}

// TestNormalizedDigits: numbers are normalized before they become float32, in which
// seconds since 1970 are all alike. The values are TensorFlow's.
func TestNormalizedDigits(t *testing.T) {
	since := func(x tf.Output) tf.Output { return x.Sub(1700000000).Div(2) }
	g := tf.NewGraph()
	f := feature.Features{
		"int64":   ops.Const(g, []int64{1700000001, 1700000002}),
		"float64": ops.Const(g, []float64{1700000001.5, 1700000002}),
	}
	for key, want := range map[string][]float64{"int64": {0.5, 1}, "float64": {0.75, 1}} {
		y := feature.InputLayer(f, &feature.NumericColumn{Key: key, Normalize: since})
		v, err := fetched(t, g, y, nil)
		if err != nil {
			t.Fatal(err)
		}
		near(t, key, v, want)
	}
}

// TestNormalizedSequence: what is behind the end of a sequence is the default as it is.
// The values are TensorFlow's.
func TestNormalizedSequence(t *testing.T) {
	g := tf.NewGraph()
	x := sparse.Tensor{Indices: ops.Const(g, []int64{0, 0, 0, 1, 1, 0}, 3, 2), Values: ops.Const(g, []int64{1700000003, 1700000005, 1700000007}), DenseShape: ops.Const(g, []int64{2, 2})}
	c := &feature.SequenceNumericColumn{Key: "x", Default: -9, Normalize: func(x tf.Output) tf.Output { return x.Sub(1700000001) }}
	y, _ := feature.SequenceInputLayer(feature.Features{"x": x}, c)
	v, err := fetched(t, g, y, nil)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "steps", v, []float64{2, 4, 6, -9})
}

// TestSequencesOfRank3: steps that have several ids or numbers are as long as
// TensorFlow says, which these values are from.
func TestSequencesOfRank3(t *testing.T) {
	g := tf.NewGraph()
	at := func(values tf.Output) sparse.Tensor {
		return sparse.Tensor{Indices: ops.Const(g, []int64{0, 0, 0, 0, 0, 1, 1, 1, 0}, 3, 3), Values: values, DenseShape: ops.Const(g, []int64{2, 2, 2})}
	}
	f := feature.Features{"id": at(ops.Const(g, []int64{0, 1, 2})), "x": at(ops.Const(g, []float32{3, 5, 7}))}
	ids := feature.Indicator(feature.Sequence(feature.Identity("id", 3)))
	y, lengths := feature.SequenceInputLayer(f, ids, &feature.SequenceNumericColumn{Key: "x", Size: 2})
	for x, want := range map[tf.Output][]float64{
		y:       {1, 1, 0, 3, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 7, 0},
		lengths: {1, 2},
	} {
		v, err := fetched(t, g, x.Cast(tf.Float32), nil)
		if err != nil {
			t.Fatal(err)
		}
		near(t, x.String(), v, want)
	}
}

// TestCrossedNumbers: numbers that are no integers are crossed, too. The ids are
// TensorFlow's.
func TestCrossedNumbers(t *testing.T) {
	g := tf.NewGraph()
	letters := ops.Const(g, []string{"a", "b", "c", "d"}, 4, 1)
	for x, want := range map[tf.Output][]float64{
		ops.Const(g, []float32{1.5, 2.5, -0.5, 1e30}, 4, 1):  {0, 4, 1, 2},
		ops.Const(g, []float64{1.5, 2.5, -3.5, 1e30}, 4, 1):  {0, 4, 1, 2},
		ops.Const(g, []bool{true, false, true, false}, 4, 1): {0, 0, 1, 4},
	} {
		y := feature.InputLayer(feature.Features{"x": x, "letter": letters}, feature.Indicator(feature.Crossed(5, "x", "letter")))
		v, err := fetched(t, g, ops.ArgMax(y, 1).Cast(tf.Float32), nil)
		if err != nil {
			t.Fatal(err)
		}
		near(t, x.DType().String(), v, want)
	}
}
