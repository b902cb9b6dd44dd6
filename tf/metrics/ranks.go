package metrics

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// Ranks that the graph does not know are compared by the step. Reshapes do what depends
// on them, without branches: they fail where a dimension that goes is not of size 1.

// above returns 1 where the rank of x is one more than that of y, else 0: int32.
func above(x, y tf.Output) tf.Output {
	return ops.Rank(x).Sub(ops.Rank(y)).Equal(ops.Scalar(x.Graph(), int32(1))).Cast(tf.Int32)
}

// front returns the sizes of x without the last n.
func front(x, n tf.Output) tf.Output {
	return ops.Slice(ops.Shape(x), ops.Const(x.Graph(), []int32{0}), ops.Rank(x).Sub(n).Reshape(1))
}

// shorter returns x without its last dimension if it has one more than y.
func shorter(x, y tf.Output) tf.Output { return ops.Reshape(x, front(x, above(x, y))) }

// spreading returns weights of the rank of values, if it is one more or less. Those that
// fit values in no way fail the step.
func spreading(w, values tf.Output) tf.Output {
	one := ops.Scalar(w.Graph(), int32(1))
	weighted := ops.Minimum(ops.Rank(w), one) // not for a single weight
	more := ops.Fill(above(values, w).Mul(weighted).Reshape(1), one)
	w = ops.Reshape(w, ops.Concat(0, []tf.Output{front(w, above(w, values).Mul(weighted)), more}))
	return fitting(w, values)
}

// fitting returns weights, which fail the step if values are not of the shape that both
// together have.
func fitting(w, values tf.Output) tf.Output {
	g := w.Graph()
	full := ops.BroadcastArgs(ops.Shape(w), ops.Shape(values))
	same := ops.Equal(full, ops.Shape(values), ops.EqualOpts{UnfitDiffer: true}).All()
	fits := ops.Assert(same, []tf.Output{ops.Scalar(g, "weights can not be broadcast to values."), ops.Shape(values), ops.Shape(w)})
	return ops.Identity(w, tf.After(fits))
}
