package layers

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// SeparableOpts are what may be chosen for a separable or depthwise convolution
// beside [ConvOpts], whose options of the kernel are those of the depthwise one.
type SeparableOpts struct {
	ConvOpts
	Multiplier           int // channels of the first step for each channel of the input; 0 stands for 1
	PointwiseInitializer initializers.Initializer
	PointwiseRegularizer vars.Regularizer
	PointwiseConstraint  vars.Constraint
}

// A SeparableConvLayer convolves each channel for itself with the depthwise
// kernel, and then, if it has a pointwise kernel, mixes channels with that
// one (Chollet, CVPR 2017, arXiv:1610.02357).
type SeparableConvLayer struct {
	layer
	// DepthwiseKernel [size... in multiplier], PointwiseKernel [1... in·multiplier
	// filters] and Bias are nil before the layer is built, and if a partitioner has
	// cut them.
	DepthwiseKernel, PointwiseKernel, Bias *tf.Variable
	filters                                int // 0: depthwise only
	area                                   area
	o                                      SeparableOpts
	depthwise, pointwise, bias             weight
}

func newSeparable(kind string, rank, filters int, size []int, opts []SeparableOpts) *SeparableConvLayer {
	l := &SeparableConvLayer{filters: filters}
	if len(opts) > 0 {
		l.o = opts[0]
	}
	l.o.Multiplier = max(l.o.Multiplier, 1)
	l.area = l.o.area(rank, size)
	l.self, l.settings = l, l.o.settings(kind)
	return l
}

// NewSeparableConv1D returns a layer over lines [n width in]. Variables are
// separable_conv1d/depthwise_kernel, pointwise_kernel and bias.
func NewSeparableConv1D[S Size](filters int, size S, o ...SeparableOpts) *SeparableConvLayer {
	return newSeparable("separable_conv1d", 1, filters, extents(size, 1), o)
}

// NewSeparableConv2D is NewSeparableConv1D over images [n height width in].
func NewSeparableConv2D[S Size](filters int, size S, o ...SeparableOpts) *SeparableConvLayer {
	return newSeparable("separable_conv2d", 2, filters, extents(size, 2), o)
}

// NewDepthwiseConv2D returns a layer over images that does not mix channels.
// Variables are depthwise_conv2d/depthwise_kernel and bias.
func NewDepthwiseConv2D[S Size](size S, o ...SeparableOpts) *SeparableConvLayer {
	return newSeparable("depthwise_conv2d", 2, 0, extents(size, 2), o)
}

// SeparableConv1D adds a separable convolution of lines.
func SeparableConv1D[S Size](x tf.Output, filters int, size S, o ...SeparableOpts) tf.Output {
	return NewSeparableConv1D(filters, size, o...).once(x)
}

// SeparableConv2D adds a separable convolution of images.
func SeparableConv2D[S Size](x tf.Output, filters int, size S, o ...SeparableOpts) tf.Output {
	return NewSeparableConv2D(filters, size, o...).once(x)
}

// DepthwiseConv2D adds a convolution of images, each channel for itself.
func DepthwiseConv2D[S Size](x tf.Output, size S, o ...SeparableOpts) tf.Output {
	return NewDepthwiseConv2D(size, o...).once(x)
}

func (l *SeparableConvLayer) accept(in input) error {
	if err := l.area.accept(l.kind, in); err != nil {
		return err
	}
	if err := l.area.fits(in.shape); err != nil {
		return err
	}
	if l.filters <= 0 && l.kind != "depthwise_conv2d" {
		return tf.Errorf(tf.InvalidArgument, "Invalid value for argument `filters`. Expected a positive value. Received filters=%d", l.filters)
	}
	if l.o.Groups > 1 {
		return tf.Errorf(tf.InvalidArgument, "a separable convolution has a group for each channel, got `groups` %d", l.o.Groups)
	}
	if s := l.area.full(l.area.strides); l.area.rank == 2 && l.area.strides[0] != l.area.strides[1] {
		return tf.Errorf(tf.InvalidArgument, "Current implementation only supports equal length strides in the row and column dimensions, got strides %v", s)
	}
	return nil
}

func (l *SeparableConvLayer) build(in input) {
	o, channels := l.o, l.area.channels(in.shape)
	l.depthwise = l.weight(in, "depthwise_kernel", append(append(tf.Shape{}, l.area.size...), channels, o.Multiplier),
		weightOpts{init: o.KernelInitializer, reg: o.KernelRegularizer, constraint: o.KernelConstraint})
	l.DepthwiseKernel = l.depthwise.variable
	out := channels * o.Multiplier
	if l.filters > 0 {
		l.pointwise = l.weight(in, "pointwise_kernel", append(spread(nil, l.area.rank), out, l.filters),
			weightOpts{init: o.PointwiseInitializer, reg: o.PointwiseRegularizer, constraint: o.PointwiseConstraint})
		l.PointwiseKernel = l.pointwise.variable
		out = l.filters
	}
	if !o.NoBias {
		l.bias = l.weight(in, "bias", tf.Shape{out}, weightOpts{init: or(o.BiasInitializer, initializers.Zeros), reg: o.BiasRegularizer, constraint: o.BiasConstraint})
		l.Bias = l.bias.variable
	}
}

func (l *SeparableConvLayer) call(x tf.Output) tf.Output {
	y := l.convolve(l.area.delayed(x))
	if !l.o.NoBias {
		y = l.area.addBias(y, l.bias.value())
	}
	return l.o.Activation.of(y)
}

func (l *SeparableConvLayer) convolve(x tf.Output) tf.Output {
	if l.area.rank == 2 {
		return l.images(l.area, x, func(w tf.Output) tf.Output { return w })
	}
	a := l.area.flat()
	a.strides[0] = a.strides[1] // the op wants equal ones; lines have one row
	return l.area.onLines(x, func(x tf.Output) tf.Output {
		return l.images(a, x, func(w tf.Output) tf.Output { return ops.ExpandDims(w, 0) })
	})
}

// images convolves images with kernels that as makes kernels of images.
func (l *SeparableConvLayer) images(a area, x tf.Output, as func(tf.Output) tf.Output) tf.Output {
	strides := a.full(a.strides)
	y := ops.DepthwiseConv2dNative(x, as(l.depthwise.value()), strides, a.padding, a.window())
	if l.filters == 0 {
		return y
	}
	return ops.Conv2D(y, as(l.pointwise.value()), []int{1, 1, 1, 1}, "VALID", ops.WindowOpts{DataFormat: a.format()})
}
