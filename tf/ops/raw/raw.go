// Package raw has the first versions of ops whose names package ops gives to what
// TensorFlow's API means by them today. Graphs of old programs hold them; new
// programs have no use for them. Each function adds the op of its name, as
// tf.raw_ops does in Python, with the op's own order of arguments.
package raw

import "github.com/gorge-tf/gorge/tf"

func apply(op string, opts []tf.Option, in ...tf.Output) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

// Add returns x + y of numbers or strings. ops.Add adds AddV2 for numbers. x
// and y have one type: integers of 8 to 64 bits but no unsigned ones of more
// than 8, floating-point or complex numbers, or strings. They broadcast;
// shapes that do not are refused with INVALID_ARGUMENT, when the graph is
// built if they are known, else in the step.
func Add(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Add", opts, x, y) }

// BatchMatMul returns the products of matrices that lie in the last two
// dimensions of x and y, whose other dimensions are equal. ops.BatchMatMul
// broadcasts them. x and y have one type: float16, bfloat16, float32, float64,
// int32, int64 or complex numbers. Fewer than two dimensions, other dimensions
// that differ, and matrices that do not fit are refused with INVALID_ARGUMENT,
// when the graph is built if the shapes are known, else in the step.
func BatchMatMul(x, y tf.Output, opts ...tf.Option) tf.Output {
	return apply("BatchMatMul", opts, x, y)
}

// Concat joins values along concatDim, an int32 scalar. There are two values
// or more of one type, any, and of equal shape but for that dimension, which
// counts from the end if it is negative. Other shapes, scalars and a dimension
// that there is not are refused with INVALID_ARGUMENT, when the graph is built
// if they are known, else in the step.
func Concat(concatDim tf.Output, values []tf.Output, opts ...tf.Option) tf.Output {
	return apply("Concat", opts, append([]tf.Output{concatDim}, values...)...)
}

// Div returns x / y, truncated for integers. ops.Div makes them floating-point
// numbers, ops.FloorDiv rounds down. x and y have one type of integers,
// floating-point or complex numbers. They broadcast; shapes that do not are
// refused with INVALID_ARGUMENT, when the graph is built if they are known,
// else in the step. An integer division by 0 is refused with INVALID_ARGUMENT
// in the step.
func Div(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Div", opts, x, y) }

// Gather returns the rows of params that indices name. The result has the
// shape of indices, int32 or int64, and behind it that of a row. A scalar
// params is refused with INVALID_ARGUMENT, when the graph is built if its
// shape is known, else in the step; an index that is negative or that no row
// has is refused with it in the step.
func Gather(params, indices tf.Output, opts ...tf.Option) tf.Output {
	return apply("Gather", opts, params, indices)
}

// Mod returns the remainder of a division that truncates, which has the sign
// of x. ops.Mod has the sign of y. x and y are int32, int64, float32 or
// float64, of one type; float16 and bfloat16 have no kernel and are refused
// with NOT_FOUND in the step. They broadcast; shapes that do not are refused
// with INVALID_ARGUMENT, when the graph is built if they are known, else in
// the step. An integer remainder of a division by 0 is refused with
// INVALID_ARGUMENT in the step.
func Mod(x, y tf.Output, opts ...tf.Option) tf.Output { return apply("Mod", opts, x, y) }

// Reverse turns x round along the dimensions, at most 8, for which dims, a
// vector of bool, is true. The result has the shape of x. A dims that is no
// vector, or not as long as x has dimensions, is refused with INVALID_ARGUMENT
// in the step.
func Reverse(x, dims tf.Output, opts ...tf.Option) tf.Output {
	return apply("Reverse", opts, x, dims)
}
