package ragged_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/ragged"
)

// TestSplitsBeyondInt32: rows of no elements, taken often, may have more of them than
// int32 counts.
func TestSplitsBeyondInt32(t *testing.T) {
	g := eager.New()
	values := ops.ConstValue(g, core.NewTensor(tf.Float32, tf.Shape{1 << 16, 0}))
	first := ops.ConstValue(g, core.NewTensor(tf.Int32, tf.Shape{1 << 15}))
	splits, _ := ragged.RaggedGather([]tf.Output{ops.Const(g, []int32{0, 1 << 16})}, values, first, 1)
	if _, err := splits[0].Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("gathered: %v, want INVALID_ARGUMENT", err)
	}
	wide, _ := ragged.RaggedGather([]tf.Output{ops.Const(g, []int64{0, 1 << 16})}, values, first, 1)
	if v, err := wide[0].Value(); err != nil || tf.Data[int64](v)[1<<15] != 1<<31 {
		t.Errorf("gathered with int64: %v", err)
	}
	row := ragged.RaggedTensorToVariant(nil, values, false)
	joined, _ := ragged.RaggedTensorFromVariant(ops.Gather(ops.ExpandDims(row, ops.Scalar(g, int32(0))), first, 0), 0, 1, tf.Float32, ragged.SplitsOpts{Type: tf.Int32})
	if _, err := joined[0].Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("from variants: %v, want INVALID_ARGUMENT", err)
	}
}
