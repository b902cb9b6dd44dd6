package quantize_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/quantize"
)

// TestMeanOfManyPixels: the sum of a window may be more than 32 bits hold, the mean is not.
func TestMeanOfManyPixels(t *testing.T) {
	const n = 2903 // of which 255 times the square is above 2^31
	g := eager.New()
	x := ops.Cast(ops.Fill([]int{1, n, n, 1}, ops.Scalar(g, int32(255))), tf.QUint8)
	r := quantize.Quantized{Values: x, Min: ops.Scalar[float32](g, 0), Max: ops.Scalar[float32](g, 1)}
	y := quantize.QuantizedAvgPool(r, []int{1, n, n, 1}, []int{1, 1, 1, 1}, "VALID")
	v, err := ops.Cast(y.Values, tf.Int32).Value()
	if err != nil || v.Len() != 1 || tf.Data[int32](v)[0] != 255 {
		t.Errorf("got %v, %v, want 255", v, err)
	}
}
