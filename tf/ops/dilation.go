package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/conv"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const attrs = "T: {" + poolableTypes + "}; strides: list(int) >= 4; rates: list(int) >= 4; padding: {'SAME', 'VALID'}"
	core.Register(core.OpDef{
		Name: "Dilation2D", In: "input: T; filter: T", Out: "output: T", Attrs: attrs,
		Shape: dilationShape, Expensive: true, Grad: tf.GradFunc(dilationGrad), Kernels: core.ByType("T", everyReal(dilations)),
	})
	core.Register(core.OpDef{
		Name: "Dilation2DBackpropInput", In: "input: T; filter: T; out_backprop: T", Out: "in_backprop: T", Attrs: attrs,
		Shape: core.UnchangedShape, Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", everyReal(dilationBackInputs)),
	})
	core.Register(core.OpDef{
		Name: "Dilation2DBackpropFilter", In: "input: T; filter: T; out_backprop: T", Out: "filter_backprop: T", Attrs: attrs,
		Shape: likeInput(1), Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", everyReal(dilationBackFilters)),
	})
}

// Dilation2D returns the greatest sums of images
// [batch height width channels] and a filter [height width channels] that
// moves over them by strides; its elements are rates apart. The result is
// [batch rows columns channels]. Both hold integers or floating-point numbers
// (float16, bfloat16, float32, float64) of one type. strides and rates have
// four numbers, padding is "SAME" or "VALID". Strides and rates other than 1
// for batch or channels are refused with UNIMPLEMENTED, those that are not
// positive or not four with INVALID_ARGUMENT, as are shapes that do not fit,
// when the graph is built if they are known, else in the step.
func Dilation2D(x, filter tf.Output, strides, rates []int, padding string, opts ...tf.Option) tf.Output {
	return apply("Dilation2D", tf.Join(opts, window(strides, padding), tf.Attr("rates", rates)), x, filter)
}

func dilations() realPool {
	return realPool{
		f32: dilation(dilate[float32]), f64: dilation(dilate[float64]), i8: dilation(dilate[int8]), i16: dilation(dilate[int16]), i32: dilation(dilate[int32]),
		i64: dilation(dilate[int64]), u8: dilation(dilate[uint8]), u16: dilation(dilate[uint16]), u32: dilation(dilate[uint32]), u64: dilation(dilate[uint64]),
	}
}

func dilationBackInputs() realPool {
	return realPool{
		f32: dilation(dilateBack[float32](0)), f64: dilation(dilateBack[float64](0)), i8: dilation(dilateBack[int8](0)), i16: dilation(dilateBack[int16](0)),
		i32: dilation(dilateBack[int32](0)), i64: dilation(dilateBack[int64](0)), u8: dilation(dilateBack[uint8](0)), u16: dilation(dilateBack[uint16](0)),
		u32: dilation(dilateBack[uint32](0)), u64: dilation(dilateBack[uint64](0)),
	}
}

func dilationBackFilters() realPool {
	return realPool{
		f32: dilation(dilateBack[float32](1)), f64: dilation(dilateBack[float64](1)), i8: dilation(dilateBack[int8](1)), i16: dilation(dilateBack[int16](1)),
		i32: dilation(dilateBack[int32](1)), i64: dilation(dilateBack[int64](1)), u8: dilation(dilateBack[uint8](1)), u16: dilation(dilateBack[uint16](1)),
		u32: dilation(dilateBack[uint32](1)), u64: dilation(dilateBack[uint64](1)),
	}
}

// dilationAttrs reads and checks strides, rates and padding.
func dilationAttrs(n *core.Node) (*windowAttrs, error) {
	if err := checkInt32s(n, "strides", "rates"); err != nil {
		return nil, err
	}
	strides, rates := n.Ints("strides"), n.Ints("rates")
	switch {
	case len(strides) != 4:
		return nil, tf.Errorf(tf.InvalidArgument, "Sliding window stride field must specify 4 dimensions")
	case strides[0] != 1 || strides[3] != 1:
		return nil, tf.Errorf(tf.Unimplemented, "Stride is only supported across spatial dimensions.")
	case len(rates) != 4:
		return nil, tf.Errorf(tf.InvalidArgument, "Input stride (atrous rate) field must specify 4 dimensions")
	case rates[0] != 1 || rates[3] != 1:
		return nil, tf.Errorf(tf.Unimplemented, "Rate is only supported across spatial dimensions.")
	}
	a := &windowAttrs{imageFormat: imageFormat{rank: 4}, padding: n.Str("padding")}
	a.strides, a.dilations = a.positions(strides), a.positions(rates)
	for i := range a.strides {
		if a.strides[i] <= 0 || a.dilations[i] <= 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "Stride and rate must be > 0, but got %v and %v", strides, rates)
		}
	}
	return a, nil
}

// flatFilter returns the sizes of a filter [height width channels].
func flatFilter(w tf.Shape) [3]int { return [3]int{1, w[0], w[1]} }

func dilationShape(c *core.Infer) error {
	a, err := dilationAttrs(c.Node)
	if err != nil {
		return err
	}
	x, err := c.Rank(0, 4)
	if err != nil {
		return err
	}
	w, err := c.Rank(1, 3)
	if err != nil {
		return err
	}
	depth, ok := mergedDim(x[3], w[2])
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "Dimensions must be equal, but are %d and %d: channels of the images and of the filter", x[3], w[2])
	}
	out, err := a.outPositions(a.positions(x), flatFilter(w))
	if err != nil {
		return err
	}
	c.Set(0, a.shape(x[0], depth, out))
	return nil
}

// dilation makes the kernel of a dilation or its gradients from what computes
// one run of it.
func dilation[T core.Plain](run func(c *core.OpContext, a *windowAttrs, k computedIn[T]) error) poolKernel[T] {
	return func(k computedIn[T]) core.NewKernel {
		return func(n *core.Node) (core.Kernel, error) {
			a, err := dilationAttrs(n)
			if err != nil {
				return nil, err
			}
			return core.Compute(func(c *core.OpContext) error { return run(c, a, k) }), nil
		}
	}
}

// dilationOf checks images and filter and describes their dilation.
func (a *windowAttrs) dilationOf(x, w tf.Shape) (*conv.Depthwise, error) {
	switch {
	case len(x) != 4:
		return nil, tf.Errorf(tf.InvalidArgument, "input must be 4-dimensional%s", x.String())
	case len(w) != 3:
		return nil, tf.Errorf(tf.InvalidArgument, "filter must be 3-dimensional: %s", w.String())
	case x[3] != w[2]:
		return nil, tf.Errorf(tf.InvalidArgument, "input and filter must have the same depth: %d vs %d", x[3], w[2])
	}
	v := &conv.Depthwise{Batch: x[0], C: x[3]}
	var err error
	v.Window, err = a.window(a.positions(x), flatFilter(w))
	return v, err
}

func dilate[T numeric.Real](c *core.OpContext, a *windowAttrs, k computedIn[T]) error {
	x, w := c.Input(0), c.Input(1)
	v, err := a.dilationOf(x.Shape(), w.Shape())
	if err != nil {
		return err
	}
	out, y, err := k.alloc(c, 0, x.DType(), a.shape(v.Batch, v.C, v.Out))
	if err != nil {
		return err
	}
	conv.Dilate(c.ParallelFor, v, y, k.load(c, x), k.load(c, w), nil)
	k.finish(out, y)
	return nil
}

// dilateBack returns what computes the gradient for an input: images (0) or
// filter (1). Each result belongs to one element of both.
func dilateBack[T numeric.Real](input int) func(c *core.OpContext, a *windowAttrs, k computedIn[T]) error {
	return func(c *core.OpContext, a *windowAttrs, k computedIn[T]) error {
		x, w, dy := c.Input(0), c.Input(1), c.Input(2)
		v, err := a.dilationOf(x.Shape(), w.Shape())
		if err != nil {
			return err
		}
		if !dy.Shape().Equal(a.shape(v.Batch, v.C, v.Out)) {
			return tf.Errorf(tf.InvalidArgument, "out_backprop has incompatible size.")
		}
		out, z, err := k.alloc(c, 0, x.DType(), c.Input(input).Shape())
		if err != nil {
			return err
		}
		clear(z)
		g := k.load(c, dy)
		if len(g) == 0 {
			k.finish(out, z)
			return nil
		}
		from := core.Borrow[int32](c, len(g))
		conv.Dilate(c.ParallelFor, v, core.Borrow[T](c, len(g)), k.load(c, x), k.load(c, w), from)
		conv.DilateBack(c.ParallelFor, v, z, g, from, input == 1)
		k.finish(out, z)
		return nil
	}
}

func dilationGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	like := []tf.Option{tf.Attr("strides", op.Ints("strides")), tf.Attr("rates", op.Ints("rates")), tf.Attr("padding", op.Str("padding"))}
	x, w := op.Input(0), op.Input(1)
	return tf.Grads(apply("Dilation2DBackpropInput", like, x, w, dy[0]), apply("Dilation2DBackpropFilter", like, x, w, dy[0]))
}
