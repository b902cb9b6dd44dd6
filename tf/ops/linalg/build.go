package linalg

import "github.com/gorge-tf/gorge/tf"

// The lists of types that signatures repeat.
const (
	matrixTypes = "double, float, half, complex64, complex128"
	wholeTypes  = "double, float, complex64, complex128"
)

// apply adds an operation to the graph of its inputs and returns its output.
func apply(op string, opts []tf.Option, in ...tf.Output) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

// invalid returns an INVALID_ARGUMENT error.
func invalid(format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, format, args...)
}
