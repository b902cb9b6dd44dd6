package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const attrs = "T: {half, float, double}; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; dilations: list(int) = [1, 1, 1, 1, 1]"
	types := []tf.DType{tf.Float16, tf.Float32, tf.Float64}
	core.Register(core.OpDef{
		Name: "Conv3DBackpropInput", In: "input: T; filter: T; out_backprop: T", Out: "output: T", Attrs: attrs,
		Shape: volumesLike(0), Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", only(convKernels(convBackInput[float32](5), convBackInput[float64](5)), types...)),
	})
	core.Register(core.OpDef{
		Name: "Conv3DBackpropFilter", In: "input: T; filter: T; out_backprop: T", Out: "output: T", Attrs: attrs,
		Shape: volumesLike(1), Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", only(convKernels(convBackFilter[float32](5), convBackFilter[float64](5)), types...)),
	})
}

// volumesLike gives output 0 the shape of input i, which has rank 5.
func volumesLike(i int) func(*core.Infer) error {
	return func(c *core.Infer) error {
		s, err := c.Rank(i, 5)
		if err == nil {
			c.Set(0, s)
		}
		return err
	}
}

// Conv3DBackpropInput is Conv3DBackpropInputV2 for volumes like x. The result
// has the shape of x, whose values do not count. x, filter and dy have one
// type, float16, float32 or float64; errors are those of Conv3DBackpropInputV2.
func Conv3DBackpropInput(x, filter, dy tf.Output, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("Conv3DBackpropInput", tf.Join(opts, window(strides, padding)), x, filter, dy)
}

// Conv3DBackpropFilter is Conv3DBackpropFilterV2 for a filter like the given
// one. The result has the shape of filter, whose values do not count. x, filter
// and dy have one type, float16, float32 or float64; errors are those of
// Conv3DBackpropFilterV2.
func Conv3DBackpropFilter(x, filter, dy tf.Output, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("Conv3DBackpropFilter", tf.Join(opts, window(strides, padding)), x, filter, dy)
}
