package quantize_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestFusionsInOneName: a name that holds commas is none of what may follow a convolution.
// It is refused, and not left out.
func TestFusionsInOneName(t *testing.T) {
	g := eager.New()
	ones := ops.Fill([]int{1, 1, 1, 1}, ops.Scalar(g, int32(1)))
	in := []tf.Output{ops.Cast(ones, tf.QUint8), ops.Cast(ones, tf.QInt8)}
	for _, v := range []float32{0, 1, -1, 1} {
		in = append(in, ops.Scalar(g, v))
	}
	types := []tf.DType{tf.QUint8, tf.QInt8, tf.Float32, tf.Float32, tf.Float32, tf.Float32}
	for _, fused := range [][]string{{"BiasAdd,Relu"}, {"BiasAdd,Sum,Relu"}, {"BiasAdd,Sum", "Relu"}} {
		y := tf.Apply(g, "_FusedQuantizedConv2D", in, tf.Attr("Tinput", tf.QUint8), tf.Attr("Tfilter", tf.QInt8), tf.Attr("Tsummand", tf.QInt32), tf.Attr("out_type", tf.QInt32),
			tf.Attr("strides", []int{1, 1, 1, 1}), tf.Attr("padding", "VALID"), tf.Attr("Tbias", tf.Float32), tf.Attr("fused_ops", fused),
			tf.Attr("Thost_inputs", types), tf.Attr("Thost_outputs", []tf.DType{tf.QInt32, tf.Float32, tf.Float32}))
		if v, err := y.Output(0).Value(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "Unsupported QuantizedConv fusion") {
			t.Errorf("%q: got %v, %v, want INVALID_ARGUMENT", fused, v, err)
		}
	}
}
