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
	ends := make([]float64, len(bounds))
	for i, b := range bounds {
		ends[i] = float64(b)
	}
	return mapToKernel(func(y []int32, x []T) {
		kernel.Map2(y, x, func(v T) int32 { return int32(bucket(ends, float64(v))) })
	})(n)
}

// bucket returns how many of the sorted bounds v is not less than: all for NaN.
// The search has no branches that depend on v, which could not be predicted.
func bucket(bounds []float64, v float64) int {
	at, n := 0, len(bounds)
	for n > 0 {
		half := (n + 1) / 2
		next := at + half
		if v < bounds[next-1] {
			next = at
		}
		at, n = next, n-half
	}
	return at
}
