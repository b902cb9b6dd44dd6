package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// _FusedBatchNormEx is what TensorFlow's optimizer makes of FusedBatchNormV3,
// the addition of another tensor and Relu.
func init() {
	core.Register(core.OpDef{
		Name: "_FusedBatchNormEx", In: "x: T; scale: U; offset: U; mean: U; variance: U; side_input: num_side_inputs * T",
		Out:   "y: T; batch_mean: U; batch_variance: U; reserve_space_1: U; reserve_space_2: U; reserve_space_3: U",
		Attrs: normTypes + "U: {float}; " + normFactor + "num_side_inputs: int >= 0 = 0; activation_mode: string = 'Identity'; " + imageOrders + training,
		Shape: batchNormShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", batchNormKernels(batchNormEx)),
	})
}

func batchNormEx(c *core.OpContext, k computedIn[float32]) error {
	mode, sides := c.Node.Str("activation_mode"), c.Node.Int("num_side_inputs")
	switch {
	case mode != "Identity" && mode != "Relu":
		return tf.Errorf(tf.InvalidArgument, "Unsupported activation mode: %s", mode)
	case sides > 1:
		return tf.Errorf(tf.InvalidArgument, "FusedBatchNorm accepts at most one side input.")
	case sides == 1 && mode == "Identity":
		return tf.Errorf(tf.InvalidArgument, "FusedBatchNorm accepts a side input only with an activation.")
	case sides == 1 && !c.Input(5).Shape().Equal(c.Input(0).Shape()):
		return tf.Errorf(tf.InvalidArgument, "side_input shape must be equal to input shape: %s != %s", c.Input(5).Shape().String(), c.Input(0).Shape().String())
	}
	var side []float32
	if sides == 1 {
		side = k.load(c, c.Input(5))
	}
	return batchNormThen(c, k, func(y []float32) {
		c.ParallelFor(len(y), elementGrain, func(lo, hi int) {
			if side != nil {
				elementwise.Add(y[lo:hi], y[lo:hi], side[lo:hi])
			}
			if mode == "Relu" {
				elementwise.Relu(y[lo:hi], y[lo:hi])
			}
		})
	})
}
