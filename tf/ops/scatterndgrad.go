package ops

import "github.com/gorge-tf/gorge/tf"

func scatterNDGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(tf.Output{}, GatherNd(dy[0], op.Input(0)), tf.Output{})
}

func tensorAddGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(Identity(dy[0]), tf.Output{}, GatherNd(dy[0], op.Input(1)))
}

func tensorSubGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(Identity(dy[0]), tf.Output{}, Neg(GatherNd(dy[0], op.Input(1))))
}

func tensorUpdateGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	idx := op.Input(1)
	updates := GatherNd(dy[0], idx)
	return tf.Grads(TensorScatterUpdate(Identity(dy[0]), idx, ZerosLike(op.Input(2))), tf.Output{}, updates)
}

// tensorExtremeGrad shares the gradient of an element among all values that
// are equal to the result.
func tensorExtremeGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, idx, updates, y := op.Input(0), op.Input(1), op.Input(2), op.Output(0)
	bad := BadIndicesOpts{op.Str("bad_indices_policy")}
	d := dy[0].DType()
	fromX := castTo(Equal(x, y), d)
	fromUpdates := castTo(Equal(updates, GatherNd(y, idx, bad)), d)
	count := Add(fromX, ScatterNd(idx, fromUpdates, shapeValue(x, idx.DType()), bad))
	dx := RealDiv(Mul(dy[0], fromX), count)
	return tf.Grads(dx, tf.Output{}, Mul(GatherNd(RealDiv(dy[0], count), idx, bad), fromUpdates))
}
