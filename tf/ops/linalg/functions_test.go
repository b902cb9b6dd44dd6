package linalg_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	addLeastSquares()
	addFunctions()
}

func addLeastSquares() {
	const op = "MatrixSolveLs"
	slow := linalg.LeastSquaresOpts{Slow: true}
	const noGradient = "not defined"
	none := scalar(0.0)
	least := func(regularizer float64, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{linalg.MatrixSolveLs(in[0], in[1], ops.ConstValue(g, scalar(regularizer)), opts...)}
		}
	}
	for name, in := range map[string]tensors{
		"deep": {noise(2, 4, 3), noise(2, 4, 2)}, "wide": {noise(2, 3), noise(2, 2)}, "square": {regular(3, 3), noise(3, 1)},
	} {
		addSamples(
			sample{Op: op, Name: name, In: in, F: least(0), Types: exact, Tol: 5e-5},
			sample{Op: op, Name: name + " regularized", In: in, F: least(0.5), Types: exact, Tol: 5e-5},
			sample{Op: op, Name: name + " slow", In: in, F: least(0, slow), Types: exact, Tol: 5e-5, Rough: noGradient})
	}
	deficient := optest.Mat[float32](2, 1, 2, 2, 4, 3, 6)
	addSamples(
		sample{Op: op, Name: "nothing", In: tensors{seq(0, 3), seq(0, 2)}, F: least(0), NoGolden: "TensorFlow leaves it undefined", Rough: noGradient},
		sample{Op: op, Name: "deficient", In: tensors{deficient, seq(3, 1)}, F: least(0, slow), Tol: 1e-5, Rough: noGradient},
		sample{Op: op, Name: "zero", In: tensors{singular, seq(2, 1)}, F: least(0, slow), Rough: noGradient},
		sample{Op: "BatchMatrixSolveLs", In: tensors{noise(2, 4, 3), noise(2, 4, 2), none}, F: applied("BatchMatrixSolveLs"), NoGolden: removed},
		failing(op, "vector", applied(op), seq(3), seq(3, 1), none),
		failing(op, "sizes", applied(op), seq(3, 2), seq(2, 1), none),
		failing(op, "regularizer", applied(op), seq(3, 2), seq(3, 1), scalar(-1.0)),
		failing(op, "vector of regularizers", applied(op), seq(3, 2), seq(3, 1), optest.Vec(1.0)),
		failing(op, "deep deficient", applied(op), within(0, 0, 3, 2), seq(3, 1), none),
		failing(op, "wide deficient", applied(op), within(0, 0, 2, 3), seq(2, 1), none))
}

func addFunctions() {
	const op, log = "MatrixSquareRoot", "MatrixLogarithm"
	ofGram := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{linalg.MatrixSquareRoot(gram(in[0]))}
	}
	addSamples(
		sample{Op: op, In: tensors{regular(2, 3, 3)}, F: ofGram, Tol: 5e-5},
		sample{Op: op, Name: "any", In: tensors{regular(3, 3)}, F: unary(linalg.MatrixSquareRoot), Types: exact, Tol: 5e-5},
		sample{Op: op, Name: "not real", In: tensors{optest.Mat[float32](2, -1, 0, 0, 4)}, F: unary(linalg.MatrixSquareRoot), Rough: "the result is NaN"},
		sample{Op: op, Name: "nothing", In: tensors{seq(0, 0)}, F: applied(op), Rough: "TensorFlow has none"},
		failing(op, "vector", applied(op), seq(3)),
		failing(op, "not square", applied(op), seq(3, 2)),

		sample{Op: log, In: tensors{as(regular(2, 3, 3), tf.Complex64)}, F: unary(linalg.MatrixLogarithm), Tol: 5e-5},
		sample{Op: log, Name: "near 1", In: tensors{as(optest.Mat[float32](2, 1, 1e-3, 0, 1), tf.Complex128)}, F: unary(linalg.MatrixLogarithm)},
		sample{Op: log, Name: "nothing", In: tensors{as(seq(0, 0), tf.Complex64)}, F: applied(log)},
		failing(log, "not square", applied(log), as(seq(3, 2), tf.Complex64)),

		sample{Op: "MatrixExponential", In: tensors{noise(2, 3, 3)}, F: applied("MatrixExponential"), NoGolden: removed})
	for name, v := range map[string]float64{"NaN": math.NaN(), "infinite": math.Inf(1)} {
		addSamples(
			sample{Op: op, Name: name, In: tensors{notNumbers(v)}, F: applied(op), Rough: "the result is NaN"},
			sample{Op: log, Name: name, In: tensors{as(notNumbers(v), tf.Complex64)}, F: applied(log)})
	}
}
