package uniform_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/quantize/uniform"
)

// TestNoImagesTakeNoMemory: what there is of windows is not worked out if no image or no
// feature needs it.
func TestNoImagesTakeNoMemory(t *testing.T) {
	g := eager.New()
	one, none := ops.Scalar[float32](g, 1), ops.Scalar[int32](g, 0)
	filters := uniform.Quantized{Values: ops.Cast(ops.Const(g, []int32{1}, 1, 1, 1), tf.QInt8), Scales: one, ZeroPoints: none}
	x := ops.Fill([]int{0, 1, 1}, ops.Scalar[float32](g, 0))
	used, _ := tf.MemoryUsage()
	defer tf.SetMemoryLimit(tf.SetMemoryLimit(used + 64<<20))
	y := uniform.UniformQuantizedConvolutionHybrid(x, filters, "EXPLICIT", whole, uniform.ConvOpts{Padding: []int{1 << 30, 0}})
	if v, err := y.Value(); err != nil || !v.Shape().Equal(tf.Shape{0, 1, 1<<30 + 1}) {
		t.Errorf("got %v, %v, want a result without elements", v, err)
	}
}
