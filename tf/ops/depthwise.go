package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/conv"
	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const window = "T: {" + convTypes2D + "}; strides: list(int); padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; " +
		"data_format: {'NHWC', 'NCHW'} = 'NHWC'; dilations: list(int) = [1, 1, 1, 1]"
	core.Register(core.OpDef{
		Name: "DepthwiseConv2dNative", Traits: core.Convolution, In: "input: T; filter: T", Out: "output: T", Attrs: window,
		Shape: depthwiseShape, Expensive: true, Grad: tf.GradFunc(depthwiseGrad),
		Kernels: core.ByType("T", convKernels(depthwiseForward[float32], depthwiseForward[float64])),
	})
	core.Register(core.OpDef{
		Name: "DepthwiseConv2dNativeBackpropInput", In: "input_sizes: int32; filter: T; out_backprop: T", Out: "output: T", Attrs: window,
		Shape: sizesShape(0), Expensive: true, Grad: tf.GradFunc(depthwiseBackInputGrad),
		Kernels: core.ByType("T", convKernels(depthwiseKernel(depthwiseBackInput[float32]), depthwiseKernel(depthwiseBackInput[float64]))),
	})
	core.Register(core.OpDef{
		Name: "DepthwiseConv2dNativeBackpropFilter", In: "input: T; filter_sizes: int32; out_backprop: T", Out: "output: T", Attrs: window,
		Shape: sizesShape(1), Expensive: true, Grad: tf.GradFunc(depthwiseBackFilterGrad),
		Kernels: core.ByType("T", convKernels(depthwiseKernel(depthwiseBackFilter[float32]), depthwiseKernel(depthwiseBackFilter[float64]))),
	})
}

// DepthwiseConv2dNative returns images [batch height width channels] with
// each channel convolved by itself with as many filters as the last dimension
// of filter [height width channels multiplier] says: its results lie side by
// side among channels·multiplier. It is the first half of a separable
// convolution (Chollet, CVPR 2017, arXiv:1610.02357). Strides in height and
// width must be equal. strides has four numbers, 1 for batch and channels;
// padding is "SAME", "VALID" or "EXPLICIT", and WindowOpts has the rest. x
// and filter hold floating-point numbers (float16, bfloat16, float32,
// float64) of one type. Other strides, and shapes that do not fit, are
// refused with INVALID_ARGUMENT, when the graph is built if they are known,
// else in the step.
func DepthwiseConv2dNative(x, filter tf.Output, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("DepthwiseConv2dNative", tf.Join(opts, window(strides, padding)), x, filter)
}

// DepthwiseConv2dNativeBackpropInput returns the gradient of
// DepthwiseConv2dNative for its images, of the given sizes, from that of its
// results, dy. sizes is an int32 vector of four elements, the shape of the
// result; filter and dy hold floating-point numbers (float16, bfloat16,
// float32, float64) of one type. strides, padding and options are those of
// DepthwiseConv2dNative. A dy that is not of the shape of its results, and
// sizes or a filter that do not fit, are refused with INVALID_ARGUMENT in the
// step.
func DepthwiseConv2dNativeBackpropInput(sizes, filter, dy tf.Output, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("DepthwiseConv2dNativeBackpropInput", tf.Join(opts, window(strides, padding)), sizes, filter, dy)
}

// DepthwiseConv2dNativeBackpropFilter returns the gradient of
// DepthwiseConv2dNative for its filter, of the given sizes, from that of its
// results, dy. sizes is an int32 vector of four elements, the shape of the
// result; x and dy hold floating-point numbers (float16, bfloat16, float32,
// float64) of one type. strides, padding and options are those of
// DepthwiseConv2dNative. A dy that is not of the shape of its results, and
// sizes or images that do not fit, are refused with INVALID_ARGUMENT in the
// step.
func DepthwiseConv2dNativeBackpropFilter(x, sizes, dy tf.Output, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("DepthwiseConv2dNativeBackpropFilter", tf.Join(opts, window(strides, padding)), x, sizes, dy)
}

func depthwiseShape(c *core.Infer) error {
	a, err := depthwiseAttrs(c.Node)
	if err != nil {
		return err
	}
	x, err := c.Rank(0, 4)
	if err != nil {
		return err
	}
	w, err := c.Rank(1, 4)
	if err != nil {
		return err
	}
	in, ok := mergedDim(x[a.channel()], w[2])
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "Dimensions must be equal, but are %d and %d: channels of the images and of the filter", x[a.channel()], w[2])
	}
	out, err := a.outPositions(a.positions(x), filterSizes(w))
	if err != nil {
		return err
	}
	channels := -1
	if in >= 0 && w[3] >= 0 {
		channels = in * w[3]
	}
	c.Set(0, a.shape(x[0], channels, out))
	return nil
}

func depthwiseAttrs(n *core.Node) (*windowAttrs, error) {
	a, err := windowAttrsOf(n, 4)
	if err == nil && a.strides[1] != a.strides[2] {
		err = tf.Errorf(tf.InvalidArgument, "Current implementation only supports equal length strides in the row and column dimensions.")
	}
	return a, err
}

func depthwiseKernel[T core.Plain](run func(c *core.OpContext, a *windowAttrs, k computedIn[T]) error) func(computedIn[T]) core.NewKernel {
	return func(k computedIn[T]) core.NewKernel {
		return func(n *core.Node) (core.Kernel, error) {
			a, err := depthwiseAttrs(n)
			if err != nil {
				return nil, err
			}
			return core.Compute(func(c *core.OpContext) error { return run(c, a, k) }), nil
		}
	}
}

// depthwiseOf describes the convolution of images and a filter of the given
// shapes. The multiplier is how many results each channel has.
func (a *windowAttrs) depthwiseOf(x, w tf.Shape) (v *conv.Depthwise, multiplier int, err error) {
	v = &conv.Depthwise{Batch: x[0], C: w[2] * w[3]}
	v.Window, err = a.window(a.positions(x), filterSizes(w))
	return v, w[3], err
}

// channelsRepeated returns images with as many copies of each channel as it
// has results.
func channelsRepeated[T core.Plain](c *core.OpContext, x []T, multiplier int) []T {
	if multiplier == 1 {
		return x
	}
	y := core.Borrow[T](c, len(x)*multiplier)
	conv.RepeatChannels(c.ParallelFor, y, x, multiplier)
	return y
}

func depthwise[T numeric.Float](c *core.OpContext, a *windowAttrs, k computedIn[T]) error {
	return depthwiseWith(c, a, k, k.load(c, c.Input(1)), gemm.Epilogue[T]{})
}

// depthwiseForward is the kernel of the forward convolution, which can be done in parts if images are as
// they are computed with.
func depthwiseForward[T numeric.Float](k computedIn[T]) core.NewKernel {
	whole := depthwiseKernel(depthwise[T])(k)
	return func(n *core.Node) (core.Kernel, error) {
		kernel, err := whole(n)
		if err != nil {
			return nil, err
		}
		a, err := depthwiseAttrs(n)
		if err != nil || a.channelsFirst || k.store != nil {
			return kernel, err
		}
		run, _ := core.AsCompute(kernel)
		return &core.PartsKernel{
			Compute: run,
			Shape: func(c *core.OpContext) (core.Shape, error) {
				v, _, err := a.depthwiseArgs(c.Input(0).Shape(), c.Input(1).Shape())
				if err != nil {
					return nil, err
				}
				return a.shape(v.Batch, v.C, v.Out), nil
			},
			Into: func(c *core.OpContext, z *core.Tensor, done func(lo, hi int)) {
				v, multiplier, err := a.depthwiseArgs(c.Input(0).Shape(), c.Input(1).Shape())
				if err != nil || z.Len() == 0 {
					return
				}
				images := channelsRepeated(c, k.load(c, c.Input(0)), multiplier)
				conv.DepthwiseConvolve(c.ParallelFor, v, k.load(c, z), images, k.load(c, c.Input(1)), gemm.Epilogue[T]{Done: done})
			},
		}, nil
	}
}

// depthwiseArgs is depthwiseOf for shapes that it checks.
func (a *windowAttrs) depthwiseArgs(x, w tf.Shape) (v *conv.Depthwise, multiplier int, err error) {
	switch {
	case len(x) != 4:
		return nil, 0, tf.Errorf(tf.InvalidArgument, "input must be 4-dimensional%s", x.String())
	case len(w) != 4:
		return nil, 0, tf.Errorf(tf.InvalidArgument, "filter must be 4-dimensional: %s", w.String())
	case x[a.channel()] != w[2]:
		return nil, 0, tf.Errorf(tf.InvalidArgument, "input and filter must have the same depth: %d vs %d", x[a.channel()], w[2])
	}
	return a.depthwiseOf(x, w)
}

// depthwiseWith convolves input 0 with the filter w in the place of input 1.
func depthwiseWith[T numeric.Float](c *core.OpContext, a *windowAttrs, k computedIn[T], filter []T, e gemm.Epilogue[T]) error {
	x := c.Input(0).Shape()
	v, multiplier, err := a.depthwiseArgs(x, c.Input(1).Shape())
	if err != nil {
		return err
	}
	s := a.shape(v.Batch, v.C, v.Out)
	out, z, err := k.alloc(c, 0, c.Input(0).DType(), s)
	if err != nil || len(z) == 0 {
		return err
	}
	images := channelsRepeated(c, channelsLast(c, a.imageFormat, k.load(c, c.Input(0)), x), multiplier)
	ownOrder(c, a.imageFormat, z, s, func(y []T) {
		conv.DepthwiseConvolve(c.ParallelFor, v, y, images, filter, e)
	})
	k.finish(out, z)
	return nil
}
