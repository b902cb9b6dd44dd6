package ragged_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestGradientsOfManyMissingRows: rows of no gradient take no memory before it is
// known that there are too many of them.
func TestGradientsOfManyMissingRows(t *testing.T) {
	g := eager.New()
	const n, rows = 1 << 20, 1 << 20
	missing := ops.ConstValue(g, core.NewTensor(tf.Variant, tf.Shape{n}))
	splits := ops.Const(g, []int64{0}, 1)
	shape := ops.Const(g, []int32{rows})
	y := tf.Apply(nil, "RaggedTensorToVariantGradient", []tf.Output{missing, splits, shape}, tf.Attr("Tvalues", tf.Float32)).Output(0)
	if _, err := y.Value(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("%v, want INVALID_ARGUMENT", err)
	}
}
