package linalg_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

func init() {
	const op = "MatrixTriangularSolve"
	a, b := regular(3, 3), seq(3, 2)
	for _, upper := range []bool{false, true} {
		for _, adjoint := range []bool{false, true} {
			addSamples(sample{Op: op, Name: fmt.Sprintf("upper %v, adjoint %v", upper, adjoint), In: tensors{a, b},
				F: binary(linalg.MatrixTriangularSolve, linalg.TriangleOpts{Upper: upper, Adjoint: adjoint}), Types: exact, Tol: 5e-6})
		}
	}
	addSamples(
		sample{Op: op, Name: "batch", In: tensors{regular(2, 3, 3), seq(2, 3, 1)}, F: applied(op), Tol: 5e-6},
		sample{Op: op, Name: "one matrix for many", In: tensors{a, seq(2, 2, 3, 1)}, F: applied(op), Tol: 5e-6},
		sample{Op: op, Name: "many for one", In: tensors{regular(2, 1, 3, 3), seq(2, 3, 1)}, F: applied(op), Tol: 5e-6},
		sample{Op: op, Name: "singular", In: tensors{within(0, 0, 2, 2), seq(2, 1)}, F: applied(op), Rough: "there is no solution"},
		sample{Op: op, Name: "nothing", In: tensors{seq(0, 0), seq(0, 2)}, F: applied(op)},
		sample{Op: "BatchMatrixTriangularSolve", In: tensors{regular(2, 3, 3), seq(2, 3, 2)}, F: applied("BatchMatrixTriangularSolve"), NoGolden: removed},
		failing(op, "vector", applied(op), seq(3), b),
		failing(op, "right-hand side", applied(op), a, seq(3)),
		failing(op, "not square", applied(op), seq(3, 2), b),
		failing(op, "batches", applied(op), regular(2, 3, 3), seq(3, 3, 1)),
		failing(op, "sizes", applied(op), a, seq(2, 2)))
}
