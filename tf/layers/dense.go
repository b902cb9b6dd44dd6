package layers

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// DenseOpts are what may be chosen for a DenseLayer. What is left zero is as
// the variable scope says, or TensorFlow's default.
type DenseOpts struct {
	Activation          Activation
	NoBias              bool
	KernelInitializer   initializers.Initializer // Glorot's
	BiasInitializer     initializers.Initializer // zeros
	KernelRegularizer   vars.Regularizer
	BiasRegularizer     vars.Regularizer
	ActivityRegularizer vars.Regularizer // of the result, divided by the number of examples
	KernelConstraint    vars.Constraint
	BiasConstraint      vars.Constraint
	NotTrainable        bool
	Name                string
	Reuse               vars.Reuse
}

// A DenseOption adjusts a DenseLayer: an [Activation] or [DenseOpts].
type DenseOption interface{ dense(*DenseOpts) }

func (a Activation) dense(o *DenseOpts) { o.Activation = a }

func (o DenseOpts) dense(to *DenseOpts) {
	if o.Activation == nil {
		o.Activation = to.Activation
	}
	*to = o
}

// A DenseLayer is a fully connected layer: activation(x·kernel + bias).
type DenseLayer struct {
	layer
	// Kernel [in units] and Bias [units] are nil before the layer is built, and
	// if a partitioner has cut them; see Variables.
	Kernel, Bias *tf.Variable
	units        int
	o            DenseOpts
	kernel, bias weight
}

// NewDense returns a layer with the given number of units. Its variables are
// named as TensorFlow names them: dense/kernel, dense/bias, dense_1/kernel.
func NewDense(units int, opts ...DenseOption) *DenseLayer {
	l := &DenseLayer{units: units}
	for _, o := range opts {
		if o != nil {
			o.dense(&l.o)
		}
	}
	l.self = l
	l.settings = settings{kind: "dense", name: l.o.Name, reuse: l.o.Reuse, frozen: l.o.NotTrainable, activity: l.o.ActivityRegularizer}
	return l
}

// Dense adds a fully connected layer of units to x [n ... in] and returns its
// output [n ... units]. The number of inputs, in, must be known.
func Dense(x tf.Output, units int, opts ...DenseOption) tf.Output {
	l := NewDense(units, opts...)
	l.settings = l.exactly()
	return l.Apply(x)
}

func (l *DenseLayer) accept(in input) error {
	if len(in.shape) < 2 || in.size(1) < 0 || l.units <= 0 {
		return tf.Errorf(tf.InvalidArgument,
			"Dense needs an input [n ... in] whose last size is known and a positive number of units, got %v and %d units", in, l.units)
	}
	if !in.dtype.IsFloat() && !in.dtype.IsComplex() {
		return tf.Errorf(tf.InvalidArgument, "Unable to build `Dense` layer with non-floating point dtype %v", in.dtype)
	}
	if l.built && !l.fits(in.size(1)) {
		return tf.Errorf(tf.InvalidArgument, "Input of layer %q is incompatible with the layer: expected axis -1 of input shape to have value %d, but received %v", l.Name(), l.all[0].Shape()[0], in)
	}
	return nil
}

func (l *DenseLayer) fits(in int) bool { return l.Kernel == nil || l.Kernel.Shape()[0] == in }

func (l *DenseLayer) build(in input) {
	o := l.o
	l.kernel = l.weight(in, "kernel", tf.Shape{in.size(1), l.units}, weightOpts{init: o.KernelInitializer, reg: o.KernelRegularizer, constraint: o.KernelConstraint})
	l.Kernel = l.kernel.variable
	if !o.NoBias {
		l.bias = l.weight(in, "bias", tf.Shape{l.units}, weightOpts{init: or(o.BiasInitializer, initializers.Zeros), reg: o.BiasRegularizer, constraint: o.BiasConstraint})
		l.Bias = l.bias.variable
	}
}

func (l *DenseLayer) call(x tf.Output) tf.Output {
	y := multiply(x, l.kernel.value())
	if !l.o.NoBias {
		y = ops.BiasAdd(y, l.bias.value())
	}
	return l.o.Activation.of(y)
}

// multiply returns x [... in] times w [in out], [... out]. An x that could not be made has
// no shape.
func multiply(x, w tf.Output) tf.Output {
	if x.Err() != nil {
		return x
	}
	s := x.Shape()
	if len(s) == 2 {
		return ops.MatMul(x, w)
	}
	last := w.Shape()[1]
	y := ops.MatMul(ops.Reshape(x, []int{-1, s[len(s)-1]}), w)
	return reshaped(y, x, len(s)-1, last)
}

// reshaped returns y with the first n sizes of x's shape, followed by more.
func reshaped(y, x tf.Output, n int, more ...int) tf.Output {
	if y = ops.Reshape(y, leading(x, n, more...)); y.Err() == nil {
		y.SetShape(append(slices.Clone(x.Shape()[:n]), more...))
	}
	return y
}

// leading returns the first n sizes of x's shape, followed by more.
func leading(x tf.Output, n int, more ...int) tf.Output {
	s := x.Shape()[:n]
	unknown := slices.Index(s, -1)
	if unknown < 0 || !slices.Contains(s[unknown+1:], -1) && !slices.Contains(s, 0) { // no size follows from others that are 0
		return author.AsInts(x, append(slices.Clone(s), more...))
	}
	front := ops.Slice(ops.Shape(x), []int{0}, []int{n})
	return ops.ConcatV2([]tf.Output{front, author.AsInts(x, more)}, ops.Scalar(x.Graph(), int32(0)))
}
