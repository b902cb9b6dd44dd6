package ragged_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestScalarsHaveNoRows: the words are those of TensorFlow 2.21.
func TestScalarsHaveNoRows(t *testing.T) {
	x := ops.Scalar(eager.New(), float32(1))
	y := tf.Apply(nil, "RaggedTensorToVariant", []tf.Output{x}, tf.Attr("RAGGED_RANK", 0), tf.Attr("Tsplits", tf.Int64), tf.Attr("batched_input", true))
	if _, err := y.Output(0).Value(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "Can't unbatch rank-0 tensor.") {
		t.Errorf("got %v, want INVALID_ARGUMENT", err)
	}
}
