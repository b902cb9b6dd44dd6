package quantize_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/quantize"
)

// TestFakeRangeOfNaN: attributes that are NaN bound no range, as in TensorFlow 2.21.
func TestFakeRangeOfNaN(t *testing.T) {
	x, nan := ops.Const(eager.New(), []float32{1, 2}, 2), float32(math.NaN())
	for _, r := range [][2]float32{{nan, 1}, {-1, nan}, {nan, nan}} {
		for _, y := range []tf.Output{quantize.FakeQuantWithMinMaxArgs(x, r[0], r[1]), quantize.FakeQuantWithMinMaxArgsGradient(x, x, r[0], r[1])} {
			if v, err := y.Value(); tf.CodeOf(err) != tf.InvalidArgument {
				t.Errorf("%v: got %v, %v, want INVALID_ARGUMENT", r, v, err)
			}
		}
	}
}
