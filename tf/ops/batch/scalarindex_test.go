package batch_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/batch"
)

// TestScalarIndex: an index without dimensions is an error of the caller.
func TestScalarIndex(t *testing.T) {
	g := eager.New()
	x, id := ops.Const(g, []float32{1, 2}, 2), ops.Scalar[int64](g, 7)
	if v, err := batch.UnbatchGrad(x, id, x, id).Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, %v, want INVALID_ARGUMENT", v, err)
	}
}
