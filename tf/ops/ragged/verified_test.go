package ragged_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/ragged"
)

// TestVariantsAreVerified: splits have to fit, in a variant for each row and in one for
// all. The texts are TensorFlow 2.21's.
func TestVariantsAreVerified(t *testing.T) {
	for _, batched := range []bool{false, true} {
		g := eager.New()
		ints := func(v ...int64) tf.Output { return ops.Const(g, v) }
		three := ops.Const(g, []float32{1, 2, 3})
		for _, c := range []struct {
			splits []tf.Output
			values tf.Output
			want   string
		}{
			{[]tf.Output{ints(0, 5)}, three, "last element of ragged splits must be the number of ragged values(3) but is 5"},
			{[]tf.Output{ints(1, 3)}, three, "first element of ragged splits  must be 0 but is 1"},
			{[]tf.Output{ints()}, three, "must have at least one splits, but is empty"},
			{[]tf.Output{ints(0, 3), ints(0, 1, 3)}, three, "the number of ragged values(2) but is 3"},
			{[]tf.Output{ints(0, 1)}, ops.Scalar[float32](g, 1), "Requires flat_values to have rank>=1"},
		} {
			_, err := ragged.RaggedTensorToVariant(c.splits, c.values, batched).Value()
			if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), c.want) {
				t.Errorf("batched %v: %v, want %s", batched, err, c.want)
			}
		}
	}
}
