package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/conv"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const backInput, backFilter = "filter: T; out_backprop: T", "out_backprop: T"
	core.Register(core.OpDef{
		Name: "Conv2DBackpropInput", In: "input_sizes: int32; " + backInput, Out: "output: T", Attrs: "T: {" + convTypes2D + ", int32}; " + convWindow2D,
		Shape: convInputShape(4), Expensive: true, Grad: tf.GradFunc(conv2DBackInputGrad),
		Kernels: core.ByType("T", merge(convKernels(convBackInput[float32](4), convBackInput[float64](4)), byType{tf.Int32: convBackInput[int32](4)(asItself[int32]())})),
	})
	core.Register(core.OpDef{
		Name: "Conv2DBackpropFilter", In: "input: T; filter_sizes: int32; " + backFilter, Out: "output: T", Attrs: "T: {" + convTypes2D + "}; " + convWindow2D,
		Shape: sizesShape(1), Expensive: true, Grad: tf.GradFunc(conv2DBackFilterGrad),
		Kernels: core.ByType("T", convKernels(convBackFilter[float32](4), convBackFilter[float64](4))),
	})
	core.Register(core.OpDef{
		Name: "Conv3DBackpropInputV2", In: "input_sizes: Tshape; " + backInput, Out: "output: T",
		Attrs: "T: {" + convTypes2D + "}; " + convWindow3D + "; Tshape: {int32, int64} = DT_INT32",
		Shape: convInputShape(5), Expensive: true, Grad: tf.GradFunc(conv3DBackInputGrad),
		Kernels: core.ByType("T", convKernels(convBackInput[float32](5), convBackInput[float64](5))),
	})
	core.Register(core.OpDef{
		Name: "Conv3DBackpropFilterV2", In: "input: T; filter_sizes: int32; " + backFilter, Out: "output: T", Attrs: "T: {" + convTypes2D + "}; " + convWindow3D,
		Shape: sizesShape(1), Expensive: true, Grad: tf.GradFunc(conv3DBackFilterGrad),
		Kernels: core.ByType("T", convKernels(convBackFilter[float32](5), convBackFilter[float64](5))),
	})
}

// Conv2DBackpropInput returns the gradient of Conv2D for its images, of the
// given sizes, from that of its results, dy. sizes is an int32 vector of four
// sizes, or of height and width alone, and the result has that shape. filter
// and dy have one type, which the result keeps: floating-point numbers
// (float16, bfloat16, float32, float64) or int32. A dy that does not have the
// shape of Conv2D's result, another rank and negative sizes fail the step with
// INVALID_ARGUMENT, as does a window that Conv2D refuses.
func Conv2DBackpropInput(sizes, filter, dy tf.Output, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("Conv2DBackpropInput", tf.Join(opts, window(strides, padding)), sizes, filter, dy)
}

// Conv2DBackpropFilter returns the gradient of Conv2D for its filter, of the
// given sizes, from that of its results, dy. sizes is an int32 vector of four
// sizes, and the result has that shape. x and dy have one type, which the
// result keeps: floating-point numbers (float16, bfloat16, float32, float64). A
// dy that does not have the shape of Conv2D's result, other ranks and negative
// sizes fail the step with INVALID_ARGUMENT, as does a window that Conv2D
// refuses.
func Conv2DBackpropFilter(x, sizes, dy tf.Output, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("Conv2DBackpropFilter", tf.Join(opts, window(strides, padding)), x, sizes, dy)
}

// Conv3DBackpropInputV2 is Conv2DBackpropInput for Conv3D. sizes is a vector
// of five sizes, int32 or int64. filter and dy hold floating-point numbers
// (float16, bfloat16, float32, float64). Both have one type, which the result
// keeps; sizes is the shape of the result. A dy that does not have the shape
// of Conv3D's result, another number of sizes, negative sizes and a window
// that Conv3D refuses fail with INVALID_ARGUMENT, in the step at the latest.
func Conv3DBackpropInputV2(sizes, filter, dy tf.Output, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("Conv3DBackpropInputV2", tf.Join(opts, window(strides, padding)), sizes, filter, dy)
}

// Conv3DBackpropFilterV2 is Conv2DBackpropFilter for Conv3D. sizes is an int32
// vector of five sizes. x and dy hold floating-point numbers (float16,
// bfloat16, float32, float64). Both have one type, which the result keeps;
// sizes is the shape of the result. A dy that does not have the shape of
// Conv3D's result, another number of sizes, negative sizes and a window that
// Conv3D refuses fail with INVALID_ARGUMENT, in the step at the latest.
func Conv3DBackpropFilterV2(x, sizes, dy tf.Output, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("Conv3DBackpropFilterV2", tf.Join(opts, window(strides, padding)), x, sizes, dy)
}

// sizesShape is the shape function of an op whose result has the sizes that
// input i holds.
func sizesShape(i int) func(*core.Infer) error {
	return func(c *core.Infer) error {
		c.Set(0, c.ConstShape(i))
		return nil
	}
}

func convInputShape(rank int) func(*core.Infer) error {
	return func(c *core.Infer) error {
		s := c.ConstShape(0)
		switch {
		case len(s) == 2: // height and width
			s = unknownDims(rank)
		case s != nil && len(s) != rank:
			return tf.Errorf(tf.InvalidArgument, "input_sizes must hold %d sizes, got %v", rank, s)
		}
		c.Set(0, s)
		return nil
	}
}

// imageSizes reads the sizes of images whose gradient is asked for. Height and
// width are enough.
func (a *windowAttrs) imageSizes(sizes *core.Tensor, w, dy tf.Shape) (tf.Shape, error) {
	s, err := shapeOf(sizes, "input_sizes")
	if err != nil {
		return nil, err
	}
	if a.rank == 4 && len(s) == 2 && len(w) == 4 && len(dy) == 4 {
		s = a.shape(dy[0], w[2], [3]int{1, s[0], s[1]})
	}
	if len(s) != a.rank {
		return nil, tf.Errorf(tf.InvalidArgument, "input_sizes must be %d-dimensional, got: %d", a.rank, len(s))
	}
	return s, checkSizes(s)
}

// imageSizes returns the sizes of the images whose gradient is asked for. The
// first form of the op for volumes has the images themselves for an input.
func imageSizes(c *core.OpContext, a *windowAttrs) (tf.Shape, error) {
	if c.Node.OpName() == "Conv3DBackpropInput" {
		return c.Input(0).Shape(), nil
	}
	return a.imageSizes(c.Input(0), c.Input(1).Shape(), c.Input(2).Shape())
}

// filterSizesOf is imageSizes for the filter.
func filterSizesOf(c *core.OpContext) (tf.Shape, error) {
	if c.Node.OpName() == "Conv3DBackpropFilter" {
		return c.Input(1).Shape(), nil
	}
	s, err := shapeOf(c.Input(1), "filter_sizes")
	if err != nil {
		return nil, err
	}
	return s, checkSizes(s)
}

// checkBack checks the gradient dy of a convolution's results.
func (a *windowAttrs) checkBack(of string, v *conv.Conv, dy tf.Shape) error {
	if len(dy) != a.rank {
		return tf.Errorf(tf.InvalidArgument, of+": out_backprop must be %d-dimensional", a.rank)
	}
	got := a.positions(dy)
	switch {
	case dy[0] != v.Batch:
		return tf.Errorf(tf.InvalidArgument, of+": input and out_backprop must have the same batch size. Input batch: %d, outbackprop batch: %d, batch_dim: 0", v.Batch, dy[0])
	case dy[a.channel()] != v.OutC:
		return tf.Errorf(tf.InvalidArgument, "%s: filter and out_backprop must have the same out_depth", of)
	}
	for i := range got {
		if got[i] != v.Out[i] {
			d, _ := a.spatial(i)
			return tf.Errorf(tf.InvalidArgument, of+": Size of out_backprop doesn't match computed: actual = %d, computed = %d spatial_dim: %d input: %d filter: %d output: %d stride: %d dilation: %d",
				got[i], v.Out[i], d, v.In[i], v.Kernel[i], got[i], v.Stride[i], v.Dilation[i])
		}
	}
	return nil
}

func convBackInput[T numeric.Number](rank int) func(computedIn[T]) core.NewKernel {
	return func(k computedIn[T]) core.NewKernel {
		return func(n *core.Node) (core.Kernel, error) {
			a, err := windowAttrsOf(n, rank)
			if err != nil {
				return nil, err
			}
			return core.Compute(func(c *core.OpContext) error { return backInput(c, a, k) }), nil
		}
	}
}

func backInput[T numeric.Number](c *core.OpContext, a *windowAttrs, k computedIn[T]) error {
	w, dy := c.Input(1), c.Input(2)
	s, err := imageSizes(c, a)
	if err != nil {
		return err
	}
	v, err := a.conv(s, w.Shape())
	if err != nil {
		return err
	}
	if err := a.checkBack("Conv2DCustomBackpropInput", v, dy.Shape()); err != nil {
		return err
	}
	out, z, err := k.alloc(c, 0, w.DType(), s)
	if err != nil {
		return err
	}
	grads := channelsLast(c, a.imageFormat, k.load(c, dy), dy.Shape())
	ownOrder(c, a.imageFormat, z, s, func(dx []T) { conv.ConvolveBackInput(c.ParallelFor, v, dx, grads, k.load(c, w)) })
	k.finish(out, z)
	return nil
}

func convBackFilter[T numeric.Number](rank int) func(computedIn[T]) core.NewKernel {
	return func(k computedIn[T]) core.NewKernel {
		return func(n *core.Node) (core.Kernel, error) {
			a, err := windowAttrsOf(n, rank)
			if err != nil {
				return nil, err
			}
			return core.Compute(func(c *core.OpContext) error { return backFilter(c, a, k) }), nil
		}
	}
}

func backFilter[T numeric.Number](c *core.OpContext, a *windowAttrs, k computedIn[T]) error {
	x, dy := c.Input(0), c.Input(2)
	s, err := filterSizesOf(c)
	if err != nil {
		return err
	}
	v, err := a.filterGradient(x.Shape(), s)
	if err != nil {
		return err
	}
	if err := a.checkBack("Conv2DCustomBackpropFilter", v, dy.Shape()); err != nil {
		return err
	}
	out, z, err := k.alloc(c, 0, x.DType(), s)
	if err != nil || len(z) == 0 {
		return err
	}
	images, grads := channelsLast(c, a.imageFormat, k.load(c, x), x.Shape()), channelsLast(c, a.imageFormat, k.load(c, dy), dy.Shape())
	conv.ConvolveBackFilter(c.ParallelFor, v, z, images, grads)
	k.finish(out, z)
	return nil
}

// applyLike adds op name with the window of op.
func applyLike(op *tf.Operation, name string, in ...tf.Output) tf.Output {
	var opts []tf.Option
	for _, d := range core.Lookup(name).AttrDefs {
		switch v := op.Attr(d.Name); d.Name {
		case "strides", "padding", "explicit_paddings", "use_cudnn_on_gpu", "data_format", "dilations", "ksize", "include_batch_in_index":
			if v != nil {
				opts = append(opts, tf.Attr(d.Name, v))
			}
		}
	}
	return apply(name, opts, in...)
}

// convOps are the three ops that are each other's gradients.
type convOps struct{ forward, backInput, backFilter string }

var (
	conv2DOps = convOps{"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"}
	conv3DOps = convOps{"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"}
)

// grad is the gradient of the forward op.
func (o convOps) grad(op *tf.Operation, dy tf.Output) []tf.Gradient {
	x, w := op.Input(0), op.Input(1)
	s := ShapeN([]tf.Output{x, w})
	return tf.Grads(applyLike(op, o.backInput, s[0], w, dy), applyLike(op, o.backFilter, x, s[1], dy))
}

// backInputGrad is the gradient of the gradient for the images.
func (o convOps) backInputGrad(op *tf.Operation, dx tf.Output) []tf.Gradient {
	w, dy := op.Input(1), op.Input(2)
	return tf.Grads(tf.Output{}, applyLike(op, o.backFilter, dx, Shape(w), dy), applyLike(op, o.forward, dx, w))
}

// backFilterGrad is the gradient of the gradient for the filter.
func (o convOps) backFilterGrad(op *tf.Operation, dw tf.Output) []tf.Gradient {
	x, dy := op.Input(0), op.Input(2)
	return tf.Grads(applyLike(op, o.backInput, Shape(x), dw, dy), tf.Output{}, applyLike(op, o.forward, x, dw))
}

func conv2DGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient { return conv2DOps.grad(op, dy[0]) }

func conv2DBackInputGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return conv2DOps.backInputGrad(op, dy[0])
}

func conv2DBackFilterGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return conv2DOps.backFilterGrad(op, dy[0])
}

func conv3DGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient { return conv3DOps.grad(op, dy[0]) }

func conv3DBackInputGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return conv3DOps.backInputGrad(op, dy[0])
}

func conv3DBackFilterGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return conv3DOps.backFilterGrad(op, dy[0])
}
