package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/gemm"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Conv", In: "input: T; filter: T", Out: "output: T",
		Attrs: "T: {" + convTypes2D + ", int32}; strides: list(int); padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []; " +
			"data_format: {'CHANNELS_FIRST', 'CHANNELS_LAST'} = 'CHANNELS_LAST'; dilations: list(int) = []; batch_dims: int = 1; groups: int = 1",
		Shape: generalConvShape, Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", merge(convKernels(generalConvolve[float32], generalConvolve[float64]), byType{tf.Int32: generalConvolve(asItself[int32]())})),
	})
}

// ConvOpts are the optional attributes of Conv.
type ConvOpts struct {
	// ChannelsFirst says that channels are the first dimension of an image.
	ChannelsFirst bool
	// Dilations are the distances of neighbours in a filter, by dimension; nil
	// stands for 1.
	Dilations []int
	// ExplicitPaddings are the zeros before and after each dimension, for
	// padding EXPLICIT.
	ExplicitPaddings []int
	// BatchDims is how many dimensions of the input tell images apart; 0 stands
	// for 1.
	BatchDims int
}

// Apply sets the attributes.
func (o ConvOpts) Apply(s *tf.Spec) {
	if o.ChannelsFirst {
		s.Set("data_format", "CHANNELS_FIRST")
	}
	if o.Dilations != nil {
		s.Set("dilations", o.Dilations)
	}
	if o.ExplicitPaddings != nil {
		s.Set("explicit_paddings", o.ExplicitPaddings)
	}
	if o.BatchDims != 0 {
		s.Set("batch_dims", o.BatchDims)
	}
}

// Conv is Conv2D or Conv3D, whichever the rank of its input asks for. Strides
// are by dimension of a single batch of images; padding is "SAME", "VALID" or
// "EXPLICIT". x has BatchDims dimensions, then two or three positions and the
// channels; the filter has [height width channels outputs] or a depth in front
// of them. Both have one type, which the result keeps: floating-point numbers
// (float16, bfloat16, float32, float64) or int32. Other ranks, strides or
// dilations below 1 or across batch or channels, an empty filter, and a filter
// depth other than the channels are refused with INVALID_ARGUMENT, what
// concerns known ranks and attributes when the graph is built, the rest in the
// step. Its options are [ConvOpts].
func Conv(x, filter tf.Output, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("Conv", tf.Join(opts, window(strides, padding)), x, filter)
}

// generalAttrsOf reads the attributes of a convolution of images whose batches,
// taken for one dimension, have the given rank.
func generalAttrsOf(n *core.Node, rank int) (*windowAttrs, error) {
	a := &windowAttrs{imageFormat: imageFormat{rank, n.Str("data_format") == "CHANNELS_FIRST"}, padding: n.Str("padding"), dilations: [3]int{1, 1, 1}}
	if err := checkInt32s(n, "strides", "dilations"); err != nil {
		return nil, err
	}
	strides, dilations := n.Ints("strides"), n.Ints("dilations")
	if len(dilations) == 0 {
		dilations = slices.Repeat([]int{1}, rank)
	}
	c := a.channel()
	switch {
	case len(strides) != rank:
		return nil, tf.Errorf(tf.InvalidArgument, "Sliding window strides field must specify %d dimensions", rank)
	case strides[0] != 1 || strides[c] != 1:
		return nil, tf.Errorf(tf.InvalidArgument, "Current implementation does not support strides in the batch and depth dimensions.")
	case slices.Min(strides) <= 0:
		return nil, tf.Errorf(tf.InvalidArgument, "Spatial strides should be larger than 0.")
	case len(dilations) != rank:
		return nil, tf.Errorf(tf.InvalidArgument, "Dilation rates field must specify%ddimensions", rank)
	case dilations[0] != 1 || dilations[c] != 1:
		return nil, tf.Errorf(tf.InvalidArgument, "Current implementation does not support dilation rates in the batch and depth dimensions.")
	case slices.Min(dilations) <= 0:
		return nil, tf.Errorf(tf.InvalidArgument, "Dilated rates should be larger than 0.")
	}
	a.strides, a.dilations = a.positions(strides), a.positions(dilations)
	return a, a.setPaddings(n.Ints("explicit_paddings"))
}

// spatialOf returns how many dimensions images have beside channels.
func spatialOf(n *core.Node, x tf.Shape) (int, error) {
	batch := n.Int("batch_dims")
	spatial := len(x) - 1 - batch
	if batch < 0 || spatial != 2 && spatial != 3 {
		return 0, tf.Errorf(tf.InvalidArgument, "The input must have 2 or 3 spatial dimensions but got %d", spatial)
	}
	return spatial, nil
}

// oneBatch takes the dimensions of shape x that tell images apart for one.
func oneBatch(x tf.Shape, spatial int) tf.Shape {
	batch := len(x) - 1 - spatial
	return append(tf.Shape{x[:batch].NumElements()}, x[batch:]...)
}

func generalConvShape(c *core.Infer) error {
	x, w := c.In(0), c.In(1)
	if x == nil || w == nil {
		return nil
	}
	spatial, err := spatialOf(c.Node, x)
	if err != nil {
		return err
	}
	if len(w) != spatial+2 {
		return tf.Errorf(tf.InvalidArgument, "Shape must be rank %d but is rank %d: filter has shape %v", spatial+2, len(w), w)
	}
	a, err := generalAttrsOf(c.Node, spatial+2)
	if err != nil {
		return err
	}
	batch := len(x) - 1 - spatial
	image := append(tf.Shape{1}, x[batch:]...)
	out, err := a.outPositions(a.positions(image), filterSizes(w))
	if err != nil {
		return err
	}
	c.Set(0, append(x[:batch:batch], a.shape(1, w[spatial+1], out)[1:]...))
	return nil
}

func generalConvolve[T numeric.Number](k computedIn[T]) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		if n.Int("groups") != 1 {
			return nil, tf.Errorf(tf.Unimplemented, "Grouped/Depthwise Convolutions are not supported yet.")
		}
		return core.Compute(func(c *core.OpContext) error { return generalInputs(c, k) }), nil
	}
}

// generalInputs convolves inputs whose rank tells what they are.
func generalInputs[T numeric.Number](c *core.OpContext, k computedIn[T]) error {
	x, w := c.Input(0).Shape(), c.Input(1).Shape()
	spatial, err := spatialOf(c.Node, x)
	switch {
	case err != nil:
		return err
	case w.NumElements() == 0:
		return noFilter()
	case len(w) != 4 && len(w) != 5:
		return tf.Errorf(tf.InvalidArgument, "The filter must be rank 4 or 5 but got %d", len(w))
	case len(w) != spatial+2:
		return tf.Errorf(tf.InvalidArgument, "The filter must be rank %d but got %d", spatial+2, len(w))
	}
	a, err := generalAttrsOf(c.Node, spatial+2)
	if err != nil {
		return err
	}
	flat := oneBatch(x, spatial)
	if in, depth := flat[a.channel()], w[spatial]; in != depth {
		return tf.Errorf(tf.InvalidArgument, "Input depth must be equal to filter depth: %d vs %d", in, depth)
	}
	batch := x[:len(x)-1-spatial]
	as := func(s tf.Shape) tf.Shape { return append(batch[:len(batch):len(batch)], s[1:]...) }
	return convolveAs(c, a, k, operand[T]{k.load(c, c.Input(0)), flat}, k.operand(c, 1), as, gemm.Epilogue[T]{})
}
