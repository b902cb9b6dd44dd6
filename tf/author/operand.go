package author

import "github.com/gorge-tf/gorge/tf"

// AsInts returns v as a vector in the graph of x: an int32 constant, int64 if an
// integer needs that. An Output is returned as it is. If x cannot be used, neither
// can the result, for the same reason.
func AsInts[I tf.Ints](x tf.Output, v I) tf.Output { return graphs.AsInts(x, v) }

// AsInt is AsInts of a single integer, a scalar.
func AsInt[I tf.Int](x tf.Output, v I) tf.Output { return graphs.AsInt(x, v) }

// IntsOf is AsInts in a graph, for functions that take no tensor beside the
// integers. With an Output g may be nil.
func IntsOf[I tf.Ints](g *tf.Graph, v I) tf.Output { return graphs.IntsOf(g, v) }

// AsOperand returns v as an operand beside x. An Output is itself. A Go number,
// bool or string becomes a constant of the type of x, of which it must be a value.
// A tf.Value, such as a *tf.Tensor or a dense tensor, becomes a constant of its own
// type.
func AsOperand(x tf.Output, v any) tf.Output { return graphs.AsOperand(x, v) }

// Results returns how many results there are where n were asked for of op: a number that
// op was refused for must not size anything. There is one at least, so that a program
// can take the error from it.
func Results(op *tf.Operation, n int) int {
	if op.Err() == nil {
		return n
	}
	return min(max(n, 1), 1<<16) // the longest list of an op
}
