package sparse_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
)

// TestUnusualValues: NaN passes, and a start far below 0 leaves nothing, as in
// TensorFlow 2.21, which refuses indices longer than the shape, too.
func TestUnusualValues(t *testing.T) {
	g := eager.New()
	nan := math.NaN()
	of := func(v ...float64) sparse.Tensor {
		at := ops.Const(g, []int64{0, 1, 2, 3}, 4, 1)
		return sparse.Tensor{Indices: at, Values: ops.Const(g, v, 4), DenseShape: ops.Const(g, []int64{4}, 1)}
	}
	a, b := of(1, nan, -1, nan), of(nan, 1, nan, -1)
	for name, x := range map[string]sparse.Tensor{"greater": sparse.SparseSparseMaximum(a, b), "lesser": sparse.SparseSparseMinimum(a, b)} {
		v, err := x.Values.Value()
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range tf.Data[float64](v) {
			if !math.IsNaN(got) {
				t.Errorf("the %s of element %d: got %v, want NaN", name, i, got)
			}
		}
	}
	cut := sparse.SparseSlice(a, ops.Const(g, []int64{math.MinInt64}, 1), ops.Const(g, []int64{9}, 1))
	if v, err := cut.Values.Value(); err != nil || v.Len() != 0 {
		t.Errorf("got %v, %v, want nothing", v, err)
	}
	a.DenseShape = ops.Const(g, []int64{4, 4}, 2)
	full, _, _ := sparse.SparseFillEmptyRows(a, ops.Scalar(g, 0.0))
	if _, err := full.Values.Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, want INVALID_ARGUMENT", err)
	}
}

// TestWithoutGraph: as functions of other ops, these say what is missing.
func TestWithoutGraph(t *testing.T) {
	for name, x := range map[string]sparse.Tensor{
		"Placeholder": sparse.Placeholder(nil, tf.Float32, nil),
		"Eye":         sparse.Eye(nil, 2, 2, tf.Float32),
	} {
		if err := x.Values.Err(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: got %v, want INVALID_ARGUMENT", name, err)
		}
	}
}
