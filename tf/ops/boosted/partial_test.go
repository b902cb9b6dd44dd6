package boosted_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/boosted"
)

// TestBoundariesOfAll: boundaries one of which is refused change none.
func TestBoundariesOfAll(t *testing.T) {
	g := eager.New()
	h := boosted.BoostedTreesQuantileStreamResourceHandleOp(g, boosted.HandleOpts{SharedName: "q"})
	boosted.BoostedTreesCreateQuantileStreamResource(h, ops.Scalar(g, float32(0.1)), ops.Scalar(g, int64(2)))
	boosted.BoostedTreesQuantileStreamResourceDeserialize(h, []tf.Output{ops.Const(g, []float32{1, 2}), ops.Const(g, []float32{3})})
	bad := boosted.BoostedTreesQuantileStreamResourceDeserialize(h, []tf.Output{ops.Const(g, []float32{7}), ops.ConstValue(g, core.Scalar[float32](8))})
	if err := bad.Err(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, want INVALID_ARGUMENT", err)
	}
	equal(t, boosted.BoostedTreesQuantileStreamResourceGetBucketBoundaries(h, 2)[0], []float32{1, 2})
	equal(t, boosted.BoostedTreesQuantileStreamResourceGetBucketBoundaries(h, 2)[1], []float32{3})
}
