package layers

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// ConvOpts are what may be chosen for a convolution. What is left zero is as
// the variable scope says, or TensorFlow's default.
type ConvOpts struct {
	Strides             []int  // by dimension, or one for all; nil stands for 1
	Dilation            []int  // distances of neighbours in a window, alike
	Padding             string // VALID or SAME; "" stands for VALID. Lines also have CAUSAL: a result depends on nothing after it
	Groups              int    // into which channels and filters are cut, each convolved for itself; 0 stands for 1
	ChannelsFirst       bool   // images are [n channels height width]
	Activation          Activation
	NoBias              bool
	KernelInitializer   initializers.Initializer // Glorot's
	BiasInitializer     initializers.Initializer // zeros
	KernelRegularizer   vars.Regularizer
	BiasRegularizer     vars.Regularizer
	ActivityRegularizer vars.Regularizer
	KernelConstraint    vars.Constraint
	BiasConstraint      vars.Constraint
	NotTrainable        bool
	Name                string
	Reuse               vars.Reuse
}

// A ConvOption adjusts a convolution: an [Activation] or [ConvOpts].
type ConvOption interface{ conv(*ConvOpts) }

func (a Activation) conv(o *ConvOpts) { o.Activation = a }

func (o ConvOpts) conv(to *ConvOpts) {
	if o.Activation == nil {
		o.Activation = to.Activation
	}
	*to = o
}

func convOptsOf(opts []ConvOption) (o ConvOpts) {
	for _, opt := range opts {
		if opt != nil {
			opt.conv(&o)
		}
	}
	return o
}

func (o *ConvOpts) settings(kind string) settings {
	return settings{kind: kind, name: o.Name, reuse: o.Reuse, frozen: o.NotTrainable, activity: o.ActivityRegularizer}
}

func (o *ConvOpts) area(rank int, size []int) area {
	return area{
		rank: rank, size: size, strides: spread(o.Strides, rank), dilation: spread(o.Dilation, rank),
		padding: paddingOf(o.Padding, "VALID", "SAME", causal), channelsFirst: o.ChannelsFirst, convolves: true,
	}
}

// A ConvLayer convolves lines, images or volumes: activation(conv(x, kernel) +
// bias). A transposed one goes the other way: each element of x adds a window
// to the result.
type ConvLayer struct {
	layer
	// Kernel [size... in/groups filters], in a transposed layer [size... filters in],
	// and Bias [filters] are nil before the layer is built, and if a partitioner
	// has cut them.
	Kernel, Bias *tf.Variable
	filters      int
	transposed   bool
	area         area
	o            ConvOpts
	kernel, bias weight
}

func newConv(kind string, rank, filters int, size []int, opts []ConvOption) *ConvLayer {
	o := convOptsOf(opts)
	l := &ConvLayer{filters: filters, o: o, area: o.area(rank, size)}
	l.self, l.settings = l, o.settings(kind)
	return l
}

// NewConv1D returns a layer that turns lines [n width in] into lines of
// filters channels, by windows of the given size. Variables are conv1d/kernel
// [size in filters], and conv1d/bias.
func NewConv1D[S Size](filters int, size S, opts ...ConvOption) *ConvLayer {
	return newConv("conv1d", 1, filters, extents(size, 1), opts)
}

// NewConv2D is NewConv1D for images [n height width in].
func NewConv2D[S Size](filters int, size S, opts ...ConvOption) *ConvLayer {
	return newConv("conv2d", 2, filters, extents(size, 2), opts)
}

// NewConv3D is NewConv1D for volumes [n depth height width in].
func NewConv3D[S Size](filters int, size S, opts ...ConvOption) *ConvLayer {
	return newConv("conv3d", 3, filters, extents(size, 3), opts)
}

// Conv1D adds a convolution of lines x [n width channels]. The number of
// channels must be known.
func Conv1D[S Size](x tf.Output, filters int, size S, opts ...ConvOption) tf.Output {
	return NewConv1D(filters, size, opts...).once(x)
}

// Conv2D adds a convolution of images x [n height width channels].
func Conv2D[S Size](x tf.Output, filters int, size S, opts ...ConvOption) tf.Output {
	return NewConv2D(filters, size, opts...).once(x)
}

// Conv3D adds a convolution of volumes x [n depth height width channels].
func Conv3D[S Size](x tf.Output, filters int, size S, opts ...ConvOption) tf.Output {
	return NewConv3D(filters, size, opts...).once(x)
}

// once applies a layer that a function adds.
func (l *layer) once(x tf.Output) tf.Output {
	l.settings = l.exactly()
	return l.Apply(x)
}

func (l *ConvLayer) accept(in input) error {
	if l.filters <= 0 {
		return tf.Errorf(tf.InvalidArgument, "Invalid value for argument `filters`. Expected a positive value. Received filters=%d", l.filters)
	}
	if err := l.area.accept(l.kind, in); err != nil {
		return err
	}
	if err := l.acceptGroups(in); err != nil {
		return err
	}
	if !l.transposed {
		if err := l.area.fits(in.shape); err != nil {
			return err
		}
	}
	if l.Kernel == nil {
		return nil
	}
	s := l.Kernel.Shape()
	if want, got := s[len(s)-l.inputsAt()]*l.groups(), l.area.channels(in.shape); want != got {
		return tf.Errorf(tf.InvalidArgument, "Input of layer %q is incompatible with the layer: it was built for %d channels, but received %v", l.Name(), want, in)
	}
	return nil
}

func (l *ConvLayer) groups() int { return max(l.o.Groups, 1) }

// acceptGroups reports groups that do not divide the channels or the filters.
func (l *ConvLayer) acceptGroups(in input) error {
	n, channels := l.groups(), l.area.channels(in.shape)
	switch {
	case l.o.Groups < 0 || l.transposed && n > 1:
		return tf.Errorf(tf.InvalidArgument, "`groups` must be a positive number, and 1 in a transposed convolution, got %d", l.o.Groups)
	case l.filters%n != 0:
		return tf.Errorf(tf.InvalidArgument, "The number of filters must be evenly divisible by the number of groups. Received: groups=%d, filters=%d", n, l.filters)
	case channels%n != 0:
		return tf.Errorf(tf.InvalidArgument, "The number of input channels must be evenly divisible by the number of groups. Received groups=%d, but the input has %d channels (full input shape is %v).", n, channels, in.shape)
	}
	return nil
}

// inputsAt returns where the kernel has its inputs, counted from the end.
func (l *ConvLayer) inputsAt() int {
	if l.transposed {
		return 1
	}
	return 2
}

func (l *ConvLayer) build(in input) {
	o, s := l.o, append(tf.Shape{}, l.area.size...)
	if channels := l.area.channels(in.shape); l.transposed {
		s = append(s, l.filters, channels)
	} else {
		s = append(s, channels/l.groups(), l.filters)
	}
	l.kernel = l.weight(in, "kernel", s, weightOpts{init: o.KernelInitializer, reg: o.KernelRegularizer, constraint: o.KernelConstraint})
	l.Kernel = l.kernel.variable
	if !o.NoBias {
		l.bias = l.weight(in, "bias", tf.Shape{l.filters}, weightOpts{init: or(o.BiasInitializer, initializers.Zeros), reg: o.BiasRegularizer, constraint: o.BiasConstraint})
		l.Bias = l.bias.variable
	}
}

func (l *ConvLayer) call(x tf.Output) tf.Output {
	x = l.area.delayed(x)
	convolve := l.area.convolve
	if l.transposed {
		convolve = func(x, w tf.Output) tf.Output { return l.area.spreadOut(x, w, l.filters) }
	}
	y := convolve(x, l.kernel.value())
	if !l.o.NoBias {
		y = l.area.addBias(y, l.bias.value())
	}
	return l.o.Activation.of(y)
}

// convolve returns x convolved with w.
func (a *area) convolve(x, w tf.Output) tf.Output {
	switch a.rank {
	case 1:
		flat := a.flat()
		return a.onLines(x, func(x tf.Output) tf.Output { return flat.convolve(x, ops.ExpandDims(w, 0)) })
	case 2:
		return ops.Conv2D(x, w, a.full(a.strides), a.padding, a.window())
	}
	return ops.Conv3D(x, w, a.full(a.strides), a.padding, a.window())
}
