package main

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
)

const (
	hidden  = 512 // units of the mlp
	classes = 10
	wide    = 1024 // units of the cnn behind its convolutions
	dropped = 0.4  // share of them that each step of training leaves out
)

// A network computes logits [n classes] from images x [n pixels].
type network interface {
	logits(x tf.Output, training bool) tf.Output
	lastKernel() *tf.Variable
}

// networks make the networks, whose variables they add to g, by name.
var networks = map[string]func(g *tf.Graph, pixels int) network{"mlp": newMLP, "cnn": newCNN}

// mlp has one hidden layer.
type mlp struct{ in, out *layers.DenseLayer }

func newMLP(g *tf.Graph, pixels int) network {
	m := &mlp{
		in:  layers.NewDense(hidden, layers.DenseOpts{Activation: layers.Relu, KernelInitializer: glorot(0)}),
		out: layers.NewDense(classes, layers.DenseOpts{KernelInitializer: glorot(1)}),
	}
	m.in.Build(g, tf.Float32, tf.Shape{-1, pixels}) // variables are made here, on their own device
	m.out.Build(g, tf.Float32, tf.Shape{-1, hidden})
	return m
}

// glorot has a seed of its own: without it an eager graph draws other numbers than
// one with a session, as in TensorFlow.
func glorot(seed int64) initializers.Initializer {
	return initializers.VarianceScaling(1, initializers.FanAvg, initializers.Uniform, seed)
}

func (m *mlp) logits(x tf.Output, _ bool) tf.Output { return m.out.Apply(m.in.Apply(x)) }

func (m *mlp) lastKernel() *tf.Variable { return m.out.Kernel }

// cnn has two convolutions, each with a pooling, and a hidden layer.
type cnn struct {
	size          int
	first, second *layers.ConvLayer
	hidden, out   *layers.DenseLayer
}

func newCNN(g *tf.Graph, pixels int) network {
	const few, many, window = 32, 64, 5
	size := int(math.Sqrt(float64(pixels)))
	o := layers.ConvOpts{Padding: "SAME", Activation: layers.Relu}
	quarter := half(half(size))
	m := &cnn{
		size: size, first: layers.NewConv2D(few, window, o), second: layers.NewConv2D(many, window, o),
		hidden: layers.NewDense(wide, layers.Relu), out: layers.NewDense(classes),
	}
	m.first.Build(g, tf.Float32, tf.Shape{-1, size, size, 1})
	m.second.Build(g, tf.Float32, tf.Shape{-1, half(size), half(size), few})
	m.hidden.Build(g, tf.Float32, tf.Shape{-1, quarter * quarter * many})
	m.out.Build(g, tf.Float32, tf.Shape{-1, wide})
	return m
}

// half is the size of an image after a pooling.
func half(size int) int { return (size + 1) / 2 }

func (m *cnn) logits(x tf.Output, training bool) tf.Output {
	images := ops.Reshape(x, ops.Const(x.Graph(), []int32{-1, int32(m.size), int32(m.size), 1}, 4))
	y := layers.MaxPool2D(m.first.Apply(images), 2, 2, "SAME")
	y = layers.MaxPool2D(m.second.Apply(y), 2, 2, "SAME")
	y = m.hidden.Apply(layers.Flatten(y))
	if training {
		y = layers.Dropout(y, dropped)
	}
	return m.out.Apply(y)
}

func (m *cnn) lastKernel() *tf.Variable { return m.out.Kernel }
