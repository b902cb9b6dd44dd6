package layers

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A Conv2DLayer convolves images: activation(conv(x, kernel) + bias).
type Conv2DLayer struct {
	Kernel, Bias *tf.Variable
	name         string
	strides      []int
	padding      string
	activation   Activation
}

// Conv2DOpts are what may be chosen for a Conv2DLayer.
type Conv2DOpts struct {
	Stride     int    // 0 stands for 1
	Padding    string // "VALID" or "SAME"; "" stands for "VALID", as in TensorFlow
	Activation Activation
}

// NewConv2D adds the variables of a layer that turns images of in channels
// into images of filters channels by windows of size × size: a kernel [size
// size in filters], Glorot-uniform, and a bias [filters] of zeros. Names are
// TensorFlow's: conv2d/kernel, conv2d/bias, conv2d_1/kernel.
func NewConv2D(g *tf.Graph, in, filters, size int, o Conv2DOpts) *Conv2DLayer {
	stride := max(1, o.Stride)
	l := &Conv2DLayer{activation: o.Activation, strides: []int{1, stride, stride, 1}, padding: o.Padding}
	if l.padding == "" {
		l.padding = "VALID"
	}
	g.Scope("conv2d", func() {
		l.name = g.CurrentScope()
		var kernel, bias tf.Output
		g.Scope("kernel/Initializer", func() { kernel = initializers.GlorotUniform(g, tf.Float32, tf.Shape{size, size, in, filters}) })
		g.Scope("bias/Initializer", func() { bias = initializers.Zeros(g, tf.Float32, tf.Shape{filters}) })
		l.Kernel = tf.NewVariable(kernel, tf.VariableOptions{Name: "kernel"})
		l.Bias = tf.NewVariable(bias, tf.VariableOptions{Name: "bias"})
	})
	return l
}

// Apply adds what computes the layer on x [n height width in].
func (l *Conv2DLayer) Apply(x tf.Output) (y tf.Output) {
	l.Kernel.Graph().Scope(l.name, func() {
		y = ops.BiasAdd(ops.Conv2D(x, l.Kernel.Value(), l.strides, l.padding), l.Bias.Value())
		if l.activation != nil {
			y = l.activation(y)
		}
	})
	return y
}

// Conv2D adds a convolution of x [n height width channels] with filters of
// size × size and returns its output. The number of channels must be known.
func Conv2D(x tf.Output, filters, size int, o Conv2DOpts) tf.Output {
	if err := x.Err(); err != nil {
		return x
	}
	s := x.Shape()
	if len(s) != 4 || s[3] < 0 || filters <= 0 || size <= 0 {
		return tf.Failed(x.Graph(), "Conv2D", tf.Errorf(tf.InvalidArgument,
			"Conv2D needs an input [n height width channels] whose last size is known and positive numbers of filters and sizes, got %v, %d filters of size %d", x, filters, size)).Output(0)
	}
	return NewConv2D(x.Graph(), s[3], filters, size, o).Apply(x)
}

// MaxPool2D returns the maxima of windows of size × size that move by stride
// over images x; padding is "VALID" or "SAME".
func MaxPool2D(x tf.Output, size, stride int, padding string) (y tf.Output) {
	x.Graph().Scope("max_pooling2d", func() {
		y = ops.MaxPool(x, []int{1, size, size, 1}, []int{1, stride, stride, 1}, padding)
	})
	return y
}
