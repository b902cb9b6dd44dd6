package optest

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Unary makes the function of a sample from that of an op with one input.
func Unary(f func(x tf.Output, opts ...tf.Option) tf.Output, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(in[0], opts...)} }
}

// Binary makes the function of a sample from that of an op with two inputs.
func Binary(f func(x, y tf.Output, opts ...tf.Option) tf.Output, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(in[0], in[1], opts...)} }
}

// Ternary makes the function of a sample from that of an op with three inputs.
func Ternary(f func(x, y, z tf.Output, opts ...tf.Option) tf.Output, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(in[0], in[1], in[2], opts...)} }
}

// Applied makes the function of a sample that adds an op by its name.
func Applied(op string, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		o := tf.Apply(g, op, in, opts...)
		if o.Err() != nil {
			return []tf.Output{o.Output(0)}
		}
		return o.Outputs()
	}
}

// Failing returns a sample that TensorFlow refuses at run time.
func Failing(op, name string, f func(*tf.Graph, []tf.Output) []tf.Output, in ...*core.Tensor) Sample {
	return Sample{Op: op, Name: "bad " + name, In: in, F: f, Fails: true, Types: OnlyOwn}
}
