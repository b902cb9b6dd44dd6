package quantize_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/quantize"
)

// TestInstanceNormToNoRange: attributes that are NaN are no range, as in TensorFlow 2.21.
func TestInstanceNormToNoRange(t *testing.T) {
	g, nan := eager.New(), float32(math.NaN())
	x := ops.Cast(ops.Const(g, []int32{1, 2}, 1, 1, 2, 1), tf.QUint8)
	r := quantize.Quantized{Values: x, Min: ops.Scalar[float32](g, 0), Max: ops.Scalar[float32](g, 1)}
	for _, o := range []quantize.InstanceNormOpts{{Min: nan, Max: 1}, {Min: -1, Max: nan}} {
		if v, err := quantize.QuantizedInstanceNorm(r, o).Values.Value(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%+v: got %v, %v, want INVALID_ARGUMENT", o, v, err)
		}
	}
}
