package random

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/special"
)

// gammaGrad: every size of the shape is a dimension before those of alpha.
func gammaGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(tf.Output{}, sampleGrad(op, dy[0], op.Input(1), ops.Size(op.Input(0))))
}

// statelessGammaGrad: the shape ends in that of alpha, the last input.
func statelessGammaGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	last := len(op.Inputs()) - 1
	alpha := op.Input(last)
	grads := make([]tf.Output, last+1)
	grads[last] = sampleGrad(op, dy[0], alpha, ops.Sub(ops.Size(op.Input(0)), ops.Rank(alpha)))
	return tf.Grads(grads...)
}

// sampleGrad returns the gradient for alpha of samples that have n dimensions
// more.
func sampleGrad(op *tf.Operation, dy, alpha, n tf.Output) tf.Output {
	number := func(v int32) tf.Output { return ops.ConstValue(op.Graph(), core.Scalar(v)) }
	ones := ops.Fill(ops.Reshape(n, ops.Const(op.Graph(), []int32{1}, 1)), number(1))
	leading := ops.Reshape(alpha, ops.ConcatV2([]tf.Output{ones, ops.Shape(alpha)}, number(0)))
	moved := special.RandomGammaGrad(leading, op.Output(0))
	return ops.Sum(ops.Mul(dy, moved), ops.Range(nil, number(0), n, number(1)))
}
