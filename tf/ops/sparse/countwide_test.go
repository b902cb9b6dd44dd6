package sparse_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// TestWideCounts: rows that 32 bits do not count are refused with the words of
// TensorFlow 2.21.
func TestWideCounts(t *testing.T) {
	g := eager.New()
	for _, rows := range []int64{1 << 31, 1 << 62, 1<<63 - 1} {
		in := []tf.Output{
			ops.Const(g, []int64{0, 0}, 1, 2), ops.Const(g, []int64{1}), ops.Const(g, []int64{rows, 2}), ops.Const(g, []float32{}, 0),
		}
		x := tf.Apply(nil, "SparseCountSparseOutput", in, tf.Attr("binary_output", false)).Output(0)
		if _, err := x.Value(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "is the dense shape too wide?") {
			t.Errorf("%d rows: got %v, want INVALID_ARGUMENT", rows, err)
		}
	}
}

// TestCountsWithoutMost: a maxlength of 0 is none, as in TensorFlow.
func TestCountsWithoutMost(t *testing.T) {
	g := eager.New()
	x, none := ops.Const(g, []int32{2, 5, 2}), ops.Const(g, []int32{}, 0)
	op := tf.Apply(nil, "DenseCountSparseOutput", []tf.Output{x, none}, tf.Attr("maxlength", 0), tf.Attr("binary_output", false))
	var got [3]*tf.Tensor
	for i := range got {
		v, err := op.Output(i).Value()
		if err != nil {
			t.Fatal(err)
		}
		got[i] = v
	}
	tftest.Elements(t, got[0], []int64{2, 5})
	tftest.Elements(t, got[1], []int32{2, 1})
	tftest.Elements(t, got[2], []int64{6})
}

// TestWideMatrices: columns that 32 bits do not count are refused.
func TestWideMatrices(t *testing.T) {
	g := eager.New()
	for _, column := range []int64{1 << 31, 1 << 33} {
		wide := sparse.Tensor{Indices: ops.Const(g, []int64{0, column}, 1, 2), Values: ops.Const(g, []float32{1}), DenseShape: ops.Const(g, []int64{1, 1 << 40})}
		if _, err := sparse.SparseTensorToCSRSparseMatrix(wide).Value(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("column %d: %v, want INVALID_ARGUMENT", column, err)
		}
	}
}
