package sparse_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
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
