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
// not greater than each element of x.
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
				if float64(b) <= float64(v) {
					return -1
				}
				return 1
			})
			return int32(at)
		})
	})(n)
}
