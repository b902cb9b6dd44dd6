// Package raw has the first versions of ops whose names package ops gives to what
// TensorFlow's API means by them today. Graphs of old programs hold them; new
// programs have no use for them. Each function adds the op of its name, as
// tf.raw_ops does in Python, with the op's own order of arguments.
package raw

import "github.com/gorge-tf/gorge/tf"

func apply(op string, opts []tf.Option, in ...tf.Output) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

// Add returns x + y of numbers or strings. ops.Add adds AddV2 for numbers.
func Add(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Add", opts, x, y) }

// BatchMatMul returns the products of matrices that lie in the last two dimensions
// of x and y, whose other dimensions are equal. ops.BatchMatMul broadcasts them.
func BatchMatMul(x, y tf.Output, opts ...tf.Option) tf.Output {
	return apply("BatchMatMul", opts, x, y)
}

// Concat joins values along concatDim, an int32 scalar.
func Concat(concatDim tf.Output, values []tf.Output, opts ...tf.Option) tf.Output {
	return apply("Concat", opts, append([]tf.Output{concatDim}, values...)...)
}

// Div returns x / y, truncated for integers. ops.Div makes them floating-point
// numbers, ops.FloorDiv rounds down.
func Div(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Div", opts, x, y) }

// Gather returns the rows of params that indices name.
func Gather(params, indices tf.Output, opts ...tf.Option) tf.Output {
	return apply("Gather", opts, params, indices)
}

// Mod returns the remainder of a division that truncates, which has the sign of x.
// ops.Mod has the sign of y.
func Mod(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Mod", opts, x, y) }

// Reverse turns x round along the dimensions, at most 8, for which dims, a vector of
// bool, is true.
func Reverse(x, dims tf.Output, opts ...tf.Option) tf.Output {
	return apply("Reverse", opts, x, dims)
}
