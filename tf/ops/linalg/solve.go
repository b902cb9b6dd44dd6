package linalg

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	const adjoint = "adjoint: bool = false; T: "
	core.Register(core.OpDef{
		Name: "MatrixSolve", In: "matrix: T; rhs: T", Out: "output: T", Attrs: adjoint + "{" + matrixTypes + "}",
		Shape: solveShape(true), Expensive: true, Grad: tf.GradFunc(solveGrad),
		Kernels: core.ByType("T", inSingle(&solveProblem, solveLU[float32], solveLU[float64], solveLU[complex128])),
	})
	core.Register(core.OpDef{
		Name: "BatchMatrixSolve", In: "matrix: T; rhs: T", Out: "output: T", Attrs: adjoint + "{double, float}",
		Shape: solveShape(true), Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", inSingle(&solveProblem, solveLU[float32], solveLU[float64], nil)),
	})
	core.Register(core.OpDef{
		Name: "MatrixInverse", In: "input: T", Out: "output: T", Attrs: adjoint + "{" + matrixTypes + "}",
		Shape: squareShape, Expensive: true, Grad: tf.GradFunc(inverseGrad),
		Kernels: core.ByType("T", withHalf(inSingle(&inverseProblem, inverse[float32], inverse[float64], inverse[complex128]))),
	})
	core.Register(core.OpDef{
		Name: "BatchMatrixInverse", In: "input: T", Out: "output: T", Attrs: adjoint + "{double, float}",
		Shape: squareShape, Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", inSingle(&inverseProblem, inverse[float32], inverse[float64], nil)),
	})
}

// AdjointOpts is the optional attribute of MatrixSolve and MatrixInverse, whose
// matrix is then the conjugate transpose of what is given.
type AdjointOpts struct{ Adjoint bool }

// Apply sets the attribute.
func (o AdjointOpts) Apply(s *tf.Spec) { s.Set("adjoint", o.Adjoint) }

// MatrixSolve returns the x for which a·x = b, where a are matrices [N N] and
// b are matrices [N K]; their other dimensions are equal. Both have one type,
// floating-point or complex numbers (float32, float64, complex64,
// complex128), which the result [... N K] keeps. A matrix without inverse, or
// with a pivot that is NaN, fails with INVALID_ARGUMENT in the step. Other
// shapes are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step. Its options are [AdjointOpts].
func MatrixSolve(a, b tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixSolve", opts, a, b)
}

// MatrixInverse returns the inverses of square matrices. x has shape
// [... N N], which the result keeps, and floating-point or complex numbers
// (float16, float32, float64, complex64, complex128). A matrix without
// inverse, or with a pivot that is NaN, fails with INVALID_ARGUMENT in the
// step. Other shapes are refused with INVALID_ARGUMENT, when the graph is
// built if they are known, else in the step. Its options are [AdjointOpts].
func MatrixInverse(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixInverse", opts, x)
}

var solveProblem = problem{
	matrices: 2, results: solutions, check: func(_ *core.OpContext, s []tf.Shape) error {
		switch a, b := s[0], s[1]; {
		case a[0] != a[1]:
			return invalid("First input (lhs) must be a square matrix.")
		case a[0] != b[0]:
			return invalid("Input matrix and rhs are incompatible.")
		}
		return nil
	},
	cost: func(s []tf.Shape) int { return saturated(saturated(s[0][0], s[0][0]), s[0][0]+s[1][1]) },
}

func solveLU[T scalar](n *core.Node) solver[T, T] {
	adjoint := n.Bool("adjoint")
	return func(in, out []matrix[T]) error {
		a := in[0]
		if adjoint {
			a = a.adjoint()
		}
		if a.rows == 0 || in[1].cols == 0 {
			return nil
		}
		f := factorLU(a)
		if f.singular() {
			return invalid("Input matrix is not invertible.")
		}
		f.solve(out[0], in[1])
		return nil
	}
}

var inverseProblem = problem{matrices: 1, check: square, results: same, cost: cubic(2)}

func inverse[T scalar](n *core.Node) solver[T, T] {
	adjoint := n.Bool("adjoint")
	return func(in, out []matrix[T]) error {
		a := in[0]
		if adjoint {
			a = a.adjoint()
		}
		f := factorLU(a)
		if f.singular() {
			return invalid("Input is not invertible.")
		}
		f.solve(out[0], identity[T](a.rows, a.rows))
		return nil
	}
}

func solveGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	adjoint := op.Bool("adjoint")
	db := MatrixSolve(op.Input(0), dy[0], AdjointOpts{!adjoint})
	return tf.Grads(minusOuter(db, op.Output(0), adjoint), db)
}

func inverseGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	adjoint, y := op.Bool("adjoint"), op.Output(0)
	inner := ops.BatchMatMulV2(dy[0], y, ops.BatchMatMulOpts{AdjX: adjoint, AdjY: !adjoint})
	return tf.Grads(ops.Neg(ops.BatchMatMulV2(y, inner, ops.BatchMatMulOpts{AdjX: !adjoint})))
}
