package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Bucketize", In: "input: T", Out: "output: int32", Attrs: "T: {int32, int64, float, double}; boundaries: list(float)",
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", byType{
			tf.Int32: bucketize[int32], tf.Int64: bucketize[int64], tf.Float32: bucketize[float32], tf.Float64: bucketize[float64],
		}),
	})
}

// Bucketize returns how many of the boundaries, which have to be sorted, are
// not greater than each element of x. x is of int32, int64, float32 or float64;
// the result has its shape and is int32. A NaN counts as greater than all.
// Boundaries that are not sorted fail the step with INVALID_ARGUMENT.
func Bucketize(x tf.Output, boundaries []float32, opts ...tf.Option) tf.Output {
	return apply("Bucketize", tf.Join(opts, tf.Attr("boundaries", boundaries)), x)
}

func bucketize[T interface {
	numeric.Real
	tf.Elem
}](n *core.Node) (core.Kernel, error) {
	bounds, _ := n.Attr("boundaries").([]float32)
	if !slices.IsSorted(bounds) {
		return nil, tf.Errorf(tf.InvalidArgument, "Expected sorted boundaries")
	}
	return mapToKernel(func(y []int32, x []T) {
		kernel.Map2(y, x, func(v T) int32 {
			at, _ := slices.BinarySearchFunc(bounds, v, func(b float32, v T) int {
				if float64(v) < float64(b) { // false for NaN, which comes after all
					return 1
				}
				return -1
			})
			return int32(at)
		})
	})(n)
}
