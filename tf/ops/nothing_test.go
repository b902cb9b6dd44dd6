package ops_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestOfNothing: where there is nothing to move, TensorFlow 2.21 does not look at where it goes.
func TestOfNothing(t *testing.T) {
	g := eager.New()
	none, one, zero := ops.Const(g, []float32{}, 2, 0), ops.Scalar(g, float32(1)), ops.Scalar(g, int32(0))
	row, far, far64 := ops.Const(g, []float32{1, 2}, 1, 2), ops.Const(g, []int32{7}, 1), ops.Const(g, []int64{-8}, 1)
	v2 := tf.Apply(nil, "SparseSegmentSqrtNGradV2", []tf.Output{row, far, far64, zero})
	for name, c := range map[string]struct {
		got  tf.Output
		want tf.Shape
	}{
		"sums":               {ops.UnsortedSegmentSum(none, ops.Const(g, []int32{9, -1}, 2), ops.Scalar(g, int32(3))), tf.Shape{3, 0}},
		"maxima":             {ops.UnsortedSegmentMax(none, ops.Const(g, []int32{9, -1}, 2), ops.Scalar(g, int32(3))), tf.Shape{3, 0}},
		"gradients":          {tf.Apply(nil, "SparseSegmentMeanGrad", []tf.Output{row, far, far64, zero}).Output(0), tf.Shape{0, 2}},
		"rows of gradients":  {v2.Output(0), tf.Shape{0, 2}},
		"places of rows":     {v2.Output(1), tf.Shape{0}},
		"turned rows":        {ops.ReverseV2(none, far), tf.Shape{2, 0}},
		"a turned scalar":    {ops.ReverseV2(one, far), tf.Shape{}},
		"a scalar with dims": {tf.Apply(nil, "Reverse", []tf.Output{one, ops.Const(g, []bool{true}, 1)}).Output(0), tf.Shape{}},
	} {
		if v, err := c.got.Value(); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !v.Shape().Equal(c.want) {
			t.Errorf("%s: got shape %v, want %v", name, v.Shape(), c.want)
		}
	}
}

// TestWhichError: of several mistakes the errors tell of those that TensorFlow 2.21 tells of.
func TestWhichError(t *testing.T) {
	g := eager.New()
	x, ids, minus := ops.Const(g, []float32{1, 2}, 2), ops.Const(g, []int32{0, 4}, 2), ops.Scalar(g, int32(-1))
	sequence := func(seq, batch int) tf.Output {
		return ops.ReverseSequence(x, ids, seq, ops.ReverseSequenceOpts{BatchDim: batch})
	}
	for want, out := range map[string]tf.Output{
		"segment ids must be >= 0":             tf.Apply(nil, "SparseSegmentSumWithNumSegments", []tf.Output{x, ids, ids, minus}).Output(0),
		"Expected a non-negative size, got -1": tf.Apply(nil, "SparseSegmentSumGrad", []tf.Output{x, ids, ids, minus}).Output(0),
		"range [-1, 1), but got -2":            ops.Cumsum(x, ops.Scalar(g, int32(-3))),
		"Invalid batch_dim -2":                 sequence(-1, -2),
		"Invalid seq_dim -1":                   sequence(-1, 0),
		"batch_dim == seq_dim == 5":            sequence(5, 5),
	} {
		if _, err := out.Value(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want INVALID_ARGUMENT: %s", err, want)
		}
	}
}
