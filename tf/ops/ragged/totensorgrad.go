package ragged

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// toTensorGrad sends the numbers of the values the same way to find which of
// them each element came from, -1 for the default.
func toTensorGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	values, def, partitions := op.Input(1), op.Input(2), op.Inputs()[3:]
	g, kinds := values.Graph(), op.Strs("row_partition_types")
	rank := len(kinds)
	if kinds[0] == FirstDimSize {
		rank--
	}
	zero, one, all := ops.Scalar(g, int32(0)), ops.Scalar(g, int32(1)), ops.Const(g, []int32{-1})
	shape := ops.Shape(values)
	outer := ops.Slice(ops.Shape(dy[0]), ops.Const(g, []int32{0}), ops.Const(g, []int32{int32(rank) + 1}))
	numbers := ops.Range(nil, zero, ops.Gather(shape, zero, 0), one)
	from := ops.Reshape(RaggedTensorToTensor(outer, numbers, ops.Scalar(g, int32(-1)), partitions, kinds), all)
	rows := ops.Reshape(dy[0], ops.ConcatV2([]tf.Output{all, ops.Slice(shape, ops.Const(g, []int32{1}), all)}, zero))
	given := ops.GreaterEqual(from, zero)
	at := ops.Reshape(ops.Where(given), all)
	missing := ops.Gather(rows, ops.Reshape(ops.Where(ops.LogicalNot(given)), all), 0)
	grads := make([]tf.Gradient, len(op.Inputs()))
	grads[1] = tf.Sparse(tf.IndexedSlices{Values: ops.Gather(rows, at, 0), Indices: ops.Gather(from, at, 0), DenseShape: shape})
	grads[2] = tf.Dense(sumTo(missing, def))
	return grads
}

// sumTo sums rows up to the shape of x, to which they were repeated: along all
// dimensions before the first of x that is not 1.
func sumTo(rows, x tf.Output) tf.Output {
	g := rows.Graph()
	zero, one := ops.Scalar(g, int32(0)), ops.Scalar(g, int32(1))
	shape := ops.Shape(x)
	ones := ops.Cumprod(ops.Cast(ops.Equal(shape, one), tf.Int32), zero)
	kept := ops.Sub(ops.Rank(x), ops.Sum(ones, ops.Const(g, []int32{0})))
	axes := ops.Range(nil, zero, ops.Sub(ops.Rank(rows), kept), one)
	return ops.Reshape(ops.Sum(rows, axes), shape)
}
