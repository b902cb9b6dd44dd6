package linalg_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
	"github.com/gorge-tf/gorge/tf/optest"
)

// gram returns the positive definite x·xᴴ.
func gram(x tf.Output) tf.Output {
	return ops.BatchMatMulV2(x, x, ops.BatchMatMulOpts{AdjY: true})
}

func init() {
	const op, grad = "Cholesky", "CholeskyGrad"
	ofGram := func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{linalg.Cholesky(gram(in[0]))} }
	positive := optest.Mat[float32](3, 4, 9, 9, 1, 5, 9, -1, 2, 6)
	const noFactor = "the result is NaN"
	lower := func(_ *tf.Graph, in []tf.Output) []tf.Output { // TensorFlow leaves the rest undefined
		l := linalg.Cholesky(in[0])
		return []tf.Output{ops.MatrixBandPart(l, ops.ConstValue(l.Graph(), scalar(int32(-1))), ops.ConstValue(l.Graph(), scalar(int32(0))))}
	}
	addSamples(
		sample{Op: op, In: tensors{regular(2, 3, 3)}, F: ofGram, Tol: 1e-5},
		sample{Op: op, Name: "lower only", In: tensors{positive}, F: unary(linalg.Cholesky), Types: exact, Tol: 1e-5, Rough: "the gradient is symmetric"},
		sample{Op: op, Name: "nothing", In: tensors{seq(0, 0)}, F: applied(op)},
		failing(op, "vector", applied(op), seq(3)),
		failing(op, "not square", applied(op), seq(3, 2)),
		sample{Op: op, Name: "negative", In: tensors{optest.Mat[float32](2, 1, 0, 0, -1)}, F: lower, Rough: noFactor},
		sample{Op: op, Name: "indefinite", In: tensors{optest.Mat[float32](2, 1, 2, 2, 1)}, F: lower, Rough: noFactor},

		sample{Op: grad, In: tensors{regular(2, 3, 3), noise(2, 3, 3)}, F: binary(linalg.CholeskyGrad), Tol: 1e-5},
		sample{Op: grad, Name: "nothing", In: tensors{seq(0, 0), seq(0, 0)}, F: applied(grad)},
		failing(grad, "vector", applied(grad), seq(3), seq(3)),
		failing(grad, "not square", applied(grad), seq(3, 2), seq(3, 2)),
		failing(grad, "sizes", applied(grad), seq(2, 2), seq(3, 3)),

		sample{Op: "BatchCholesky", In: tensors{positive}, F: applied("BatchCholesky"), NoGolden: removed},
		sample{Op: "BatchCholeskyGrad", In: tensors{regular(2, 3, 3), noise(2, 3, 3)}, F: applied("BatchCholeskyGrad"), NoGolden: removed})
}
