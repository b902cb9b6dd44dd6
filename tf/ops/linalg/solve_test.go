package linalg_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

func init() {
	addLu()
	addSolve()
	addInverse()
	addDeterminants()
}

var (
	singular = within(0, 0, 2, 2)
	batch    = regular(2, 2, 3, 3)
)

func addLu() {
	factors := func(opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			l, p := linalg.Lu(in[0], opts...)
			return []tf.Output{l, p}
		}
	}
	addSamples(
		sample{Op: "Lu", Name: "", In: tensors{noise(2, 4, 4)}, F: factors(), Tol: 1e-5},
		sample{Op: "Lu", Name: "long", In: tensors{noise(3, 3)}, F: factors(linalg.LuOpts{IndexType: tf.Int64}), Types: exact, Tol: 1e-5},
		sample{Op: "Lu", Name: "nothing", In: tensors{seq(2, 0, 0)}, F: factors()},
		failing("Lu", "vector", applied("Lu"), seq(3)),
		failing("Lu", "not square", applied("Lu"), seq(2, 3)),
		failing("Lu", "singular", applied("Lu"), singular))
}

func addSolve() {
	const op = "MatrixSolve"
	adjoint := linalg.AdjointOpts{Adjoint: true}
	addSamples(
		sample{Op: op, In: tensors{batch, noise(2, 2, 3, 2)}, F: binary(linalg.MatrixSolve), Tol: 1e-5},
		sample{Op: op, Name: "adjoint", In: tensors{regular(3, 3), noise(3, 4)}, F: binary(linalg.MatrixSolve, adjoint), Types: exact, Tol: 1e-5},
		sample{Op: op, Name: "nothing", In: tensors{seq(0, 0), seq(0, 4)}, F: applied(op)},
		sample{Op: op, Name: "nothing asked", In: tensors{singular, seq(2, 0)}, F: applied(op)},
		sample{Op: "BatchMatrixSolve", In: tensors{batch, noise(2, 2, 3, 2)}, F: applied("BatchMatrixSolve"), NoGolden: removed},
		failing(op, "vector", applied(op), seq(3), seq(3)),
		failing(op, "ranks", applied(op), batch, seq(3, 3)),
		failing(op, "batches", applied(op), batch, seq(2, 3, 3, 3)),
		failing(op, "not square", applied(op), seq(3, 2), seq(3, 2)),
		failing(op, "sizes", applied(op), regular(3, 3), seq(2, 2)),
		failing(op, "singular", applied(op), singular, seq(2, 1)))
}

func addInverse() {
	const op = "MatrixInverse"
	adjoint := linalg.AdjointOpts{Adjoint: true}
	addSamples(
		sample{Op: op, In: tensors{batch}, F: unary(linalg.MatrixInverse), Types: exact, Tol: 1e-5},
		sample{Op: op, Name: "half", In: tensors{as(regular(2, 2), tf.Float16)}, F: unary(linalg.MatrixInverse), Tol: 1e-2},
		sample{Op: op, Name: "adjoint", In: tensors{regular(4, 4)}, F: unary(linalg.MatrixInverse, adjoint), Types: exact, Tol: 1e-5},
		sample{Op: op, Name: "nothing", In: tensors{seq(0, 0)}, F: applied(op)},
		sample{Op: "BatchMatrixInverse", In: tensors{batch}, F: applied("BatchMatrixInverse"), NoGolden: removed},
		failing(op, "vector", applied(op), seq(3)),
		failing(op, "not square", applied(op), seq(3, 2)),
		failing(op, "singular", applied(op), singular))
}

func addDeterminants() {
	log := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		sign, size := linalg.LogMatrixDeterminant(in[0])
		return []tf.Output{sign, size}
	}
	for op, f := range map[string]func(*tf.Graph, []tf.Output) []tf.Output{
		"MatrixDeterminant": unary(linalg.MatrixDeterminant), "LogMatrixDeterminant": log,
	} {
		addSamples(
			sample{Op: op, In: tensors{batch}, F: f, Tol: 1e-5},
			sample{Op: op, Name: "swapped", In: tensors{noise(5, 5)}, F: f, Types: exact, Tol: 2e-5},
			sample{Op: op, Name: "singular", In: tensors{singular}, F: f, Rough: "there is no inverse"},
			sample{Op: op, Name: "infinite", In: tensors{notNumbers(math.Inf(1))}, F: f, Rough: "there is no inverse"},
			sample{Op: op, Name: "less than any", In: tensors{notNumbers(math.Inf(-1))}, F: f, Rough: "there is no inverse"},
			sample{Op: op, Name: "NaN", In: tensors{notNumbers(math.NaN())}, F: f, Rough: "there is no inverse"},
			sample{Op: op, Name: "nothing", In: tensors{seq(2, 0, 0)}, F: f},
			failing(op, "vector", applied(op), seq(3)),
			failing(op, "not square", applied(op), seq(3, 2)))
	}
	addSamples(sample{Op: "BatchMatrixDeterminant", In: tensors{batch}, F: applied("BatchMatrixDeterminant"), NoGolden: removed})
}
