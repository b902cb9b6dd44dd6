// Package layers holds the building blocks of models: each owns its variables
// and can be applied to inputs, in graphs and eagerly.
package layers

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
)

// An Activation is what a layer applies to its result, element by element.
type Activation func(x tf.Output, opts ...tf.Option) tf.Output

// The usual activations.
var (
	Relu    Activation = ops.Relu
	Tanh    Activation = ops.Tanh
	Sigmoid Activation = ops.Sigmoid
)

// A DenseLayer is a fully connected layer: activation(x·kernel + bias).
type DenseLayer struct {
	Kernel, Bias *tf.Variable
	name         string
	activation   Activation
}

// NewDense adds the variables of a layer from in to out units: a kernel
// [in out], Glorot-uniform (Glorot and Bengio, AISTATS 2010), and a bias [out]
// of zeros. Names are TensorFlow's: dense/kernel, dense/bias, dense_1/kernel.
func NewDense(g *tf.Graph, in, out int, act Activation) *DenseLayer {
	l := &DenseLayer{activation: act}
	g.Scope("dense", func() {
		l.name = g.CurrentScope()
		var kernel, bias tf.Output
		g.Scope("kernel/Initializer", func() { kernel = initializers.GlorotUniform(g, tf.Float32, tf.Shape{in, out}) })
		g.Scope("bias/Initializer", func() { bias = initializers.Zeros(g, tf.Float32, tf.Shape{out}) })
		l.Kernel = tf.NewVariable(kernel, tf.VariableOptions{Name: "kernel"})
		l.Bias = tf.NewVariable(bias, tf.VariableOptions{Name: "bias"})
	})
	return l
}

// Apply adds what computes the layer on x [n in].
func (l *DenseLayer) Apply(x tf.Output) (y tf.Output) {
	g := l.Kernel.Graph()
	g.Scope(l.name, func() {
		y = ops.BiasAdd(ops.MatMul(x, l.Kernel.Value()), l.Bias.Value())
		if l.activation != nil {
			y = l.activation(y)
		}
	})
	return y
}

// Dense adds a fully connected layer of units to x [n in] and returns its
// output [n units]. The number of inputs, in, must be known.
func Dense(x tf.Output, units int, act ...Activation) tf.Output {
	if err := x.Err(); err != nil {
		return x
	}
	s := x.Shape()
	if len(s) != 2 || s[1] < 0 || units <= 0 || len(act) > 1 {
		return tf.Failed(x.Graph(), "Dense", tf.Errorf(tf.InvalidArgument,
			"Dense needs an input [n in] whose second size is known, a positive number of units and at most one activation, got %v and %d units", x, units)).Output(0)
	}
	var a Activation
	if len(act) == 1 {
		a = act[0]
	}
	return NewDense(x.Graph(), s[1], units, a).Apply(x)
}
