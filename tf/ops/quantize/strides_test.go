package quantize_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/quantize"
)

// TestStridesBeyondInt32 are refused, as in TensorFlow 2.21.
func TestStridesBeyondInt32(t *testing.T) {
	g := eager.New()
	quantized := func(n ...int) quantize.Quantized {
		return quantize.Quantized{Values: ops.Cast(ops.Fill(n, ops.Scalar(g, int32(3))), tf.QUint8), Min: ops.Scalar[float32](g, 0), Max: ops.Scalar[float32](g, 1)}
	}
	for _, s := range []int{1 << 33, math.MaxInt} {
		for _, padding := range []string{"SAME", "VALID"} {
			y := quantize.QuantizedConv2D(quantized(1, 2, 2, 1), quantized(1, 1, 1, 1), []int{1, s, s, 1}, padding)
			if v, err := y.Values.Value(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "out of range for an int32") {
				t.Errorf("stride %d, %s: got %v, %v, want INVALID_ARGUMENT", s, padding, v, err)
			}
		}
	}
}
