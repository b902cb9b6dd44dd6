package image_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestNearestGradOfZeros: sums of -0 are +0, of any number of channels, as in TensorFlow 2.21.
func TestNearestGradOfZeros(t *testing.T) {
	for _, channels := range []int{1, 16} {
		g := eager.New()
		dy := make([]float32, 4*4*channels)
		for i := range dy {
			dy[i] = float32(math.Copysign(0, -1))
		}
		dx := tf.Apply(nil, "ResizeNearestNeighborGrad", []tf.Output{ops.Const(g, dy, 1, 4, 4, channels), ops.Const(g, []int32{2, 2}, 2)}).Output(0)
		for i, v := range valueOf(t, dx) {
			if math.Signbit(float64(v)) {
				t.Fatalf("%d channels: element %d is -0", channels, i)
			}
		}
	}
}
