package linalg_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	addBanded()
	addTridiagonal()
	addTridiagonalMul()
	addCross()
}

// bands returns numbers with greater ones in the rows that are the main
// diagonals of triangles.
func bands(s ...int) *core.Tensor {
	t := noise(s...)
	for i, v := range core.Data[float32](t) {
		core.Data[float32](t)[i] = v + 5
	}
	return t
}

func addBanded() {
	const op = "BandedTriangularSolve"
	for _, upper := range []bool{false, true} {
		for _, adjoint := range []bool{false, true} {
			o := linalg.TriangleOpts{Upper: upper, Adjoint: adjoint}
			name := fmt.Sprintf("upper %v, adjoint %v", upper, adjoint)
			addSamples(
				sample{Op: op, Name: name, In: tensors{bands(2, 4), noise(4, 2)}, F: binary(linalg.BandedTriangularSolve, o), Types: exact, Tol: 2e-5},
				sample{Op: op, Name: name + ", full", In: tensors{bands(2, 4, 4), noise(4, 1)}, F: binary(linalg.BandedTriangularSolve, o), Tol: 5e-5})
		}
	}
	addSamples(
		sample{Op: op, Name: "diagonal", In: tensors{bands(3, 1, 1, 4), noise(2, 4, 1)}, F: applied(op), Tol: 1e-5},
		failing(op, "vector", applied(op), seq(3), seq(3, 1)),
		failing(op, "right-hand side", applied(op), seq(2, 3), seq(3)),
		failing(op, "empty", applied(op), seq(0, 2), seq(2, 1)),
		failing(op, "no right-hand side", applied(op), seq(2, 2), seq(2, 0)),
		failing(op, "batches", applied(op), seq(2, 2, 3), seq(3, 3, 1)),
		failing(op, "sizes", applied(op), seq(2, 3), seq(2, 1)),
		failing(op, "singular", applied(op), within(0, 0, 2, 3), seq(3, 1)))
}

func addTridiagonal() {
	const op = "TridiagonalSolve"
	swaps := optest.Mat[float32](5, 1, 2, -1, 3, 9, 0.1, 0.2, 0.1, 2, 1, 9, 3, 4, 1, -2)
	plain, perturb := linalg.TridiagonalOpts{NoPivoting: true}, linalg.TridiagonalOpts{PerturbSingular: true}
	zero := within(0, 0, 3, 2)
	for name, o := range map[string]linalg.TridiagonalOpts{"": {}, "without pivots": plain, "perturbed": perturb} {
		addSamples(
			sample{Op: op, Name: name, In: tensors{swaps, noise(5, 2)}, F: binary(linalg.TridiagonalSolve, o), Types: exact, Tol: 2e-4},
			sample{Op: op, Name: name + " batch", In: tensors{bands(2, 3, 4), noise(2, 4, 1)}, F: binary(linalg.TridiagonalSolve, o), Tol: 2e-4},
			sample{Op: op, Name: name + " one", In: tensors{seq(3, 1), noise(1, 2)}, F: binary(linalg.TridiagonalSolve, o)},
			sample{Op: op, Name: name + " two", In: tensors{noise(3, 2), noise(2, 2)}, F: binary(linalg.TridiagonalSolve, o), Tol: 1e-5},
			sample{Op: op, Name: name + " nothing", In: tensors{seq(3, 0), seq(0, 2)}, F: binary(linalg.TridiagonalSolve, o), Rough: "TensorFlow has none"},
			sample{Op: op, Name: name + " singular", In: tensors{zero, seq(2, 1)}, F: binary(linalg.TridiagonalSolve, o), Rough: "there is no solution"},
			sample{Op: op, Name: name + " zero", In: tensors{within(0, 0, 3, 1), seq(1, 1)}, F: binary(linalg.TridiagonalSolve, o), Rough: "there is no solution"})
	}
	addSamples(
		failing(op, "vector", applied(op), seq(3), seq(3, 1)),
		failing(op, "diagonals", applied(op), seq(2, 3), seq(3, 1)),
		failing(op, "sizes", applied(op), seq(3, 3), seq(2, 1)),
		failing(op, "options", applied(op, linalg.TridiagonalOpts{NoPivoting: true, PerturbSingular: true}), seq(3, 3), seq(3, 1)))
}

func addTridiagonalMul() {
	const op = "TridiagonalMatMul"
	f := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{linalg.TridiagonalMatMul(in[0], in[1], in[2], in[3])}
	}
	addSamples(
		sample{Op: op, In: tensors{noise(2, 1, 4), bands(2, 1, 4), seq(2, 1, 4), noise(2, 4, 3)}, F: f, Tol: 1e-5},
		sample{Op: op, Name: "one", In: tensors{seq(1, 1), seq(1, 1), seq(1, 1), seq(1, 2)}, F: f},
		failing(op, "above", applied(op), seq(1, 2), seq(1, 3), seq(1, 3), seq(3, 1)),
		failing(op, "main", applied(op), seq(1, 3), seq(2, 3), seq(1, 3), seq(3, 1)),
		failing(op, "below", applied(op), seq(1, 3), seq(1, 3), seq(3, 1), seq(3, 1)))
}

func addCross() {
	addSamples(
		sample{Op: "Cross", In: tensors{noise(2, 2, 3), seq(2, 2, 3)}, F: binary(linalg.Cross), Tol: 1e-5},
		sample{Op: "Cross", Name: "nothing", In: tensors{seq(0, 3), seq(0, 3)}, F: binary(linalg.Cross)},
		failing("Cross", "shapes", applied("Cross"), seq(3), seq(1, 3)),
		failing("Cross", "scalars", applied("Cross"), scalar(float32(1)), scalar(float32(2))),
		failing("Cross", "size", applied("Cross"), seq(2), seq(2)))
}
