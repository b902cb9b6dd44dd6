package linalg

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	kernels := func() map[tf.DType]core.NewKernel {
		return solved(&determinantProblem, always(determinant[float64]), always(determinant[complex128]))
	}
	core.Register(core.OpDef{
		Name: "MatrixDeterminant", In: "input: T", Out: "output: T", Attrs: "T: {half, float, double, complex64, complex128}",
		Shape: perMatrixShape, Expensive: true, Grad: tf.GradFunc(determinantGrad), Kernels: core.ByType("T", kernels()),
	})
	core.Register(core.OpDef{
		Name: "BatchMatrixDeterminant", In: "input: T", Out: "output: T", Attrs: "T: {float, double, complex64, complex128}",
		Shape: perMatrixShape, Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", kernels()),
	})
	core.Register(core.OpDef{
		Name: "LogMatrixDeterminant", In: "input: T", Out: "sign: T; log_abs_determinant: T", Attrs: "T: {half, float, double, complex64, complex128}",
		Shape: perMatrixShape, Expensive: true, Grad: tf.GradFunc(logDeterminantGrad),
		Kernels: core.ByType("T", solved(&logDeterminantProblem, always(logDeterminant[float64]), always(logDeterminant[complex128]))),
	})
}

// MatrixDeterminant returns the determinants of square matrices. x has shape
// [... N N] and floating-point or complex numbers (float32, float64,
// complex64, complex128); the result has shape [...] and the type of x. It is
// 0 for a matrix without inverse. Other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step.
func MatrixDeterminant(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixDeterminant", opts, x)
}

// LogMatrixDeterminant returns for square matrices the sign of the
// determinant, whose absolute value is 1 or 0, and the logarithm of its
// absolute value. x has shape [... N N] and floating-point or complex numbers
// (float32, float64, complex64, complex128); both results have shape [...]
// and the type of x. For a matrix without inverse they are 0 and minus
// infinity. Other shapes are refused with INVALID_ARGUMENT, when the graph is
// built if they are known, else in the step.
func LogMatrixDeterminant(x tf.Output, opts ...tf.Option) (sign, log tf.Output) {
	op := tf.Apply(nil, "LogMatrixDeterminant", []tf.Output{x}, opts...)
	return op.Output(0), op.Output(1)
}

var (
	determinantProblem = problem{
		matrices: 1, check: square, cost: cubic(1),
		results: func(*core.Node, []tf.Shape) []tf.Shape { return []tf.Shape{{}} },
	}
	logDeterminantProblem = problem{
		matrices: 1, check: square, cost: cubic(1),
		results: func(*core.Node, []tf.Shape) []tf.Shape { return []tf.Shape{{}, {}} },
	}
)

func determinant[T scalar](in, out []matrix[T]) error {
	sign, log := factorLU(in[0]).logDeterminant()
	out[0].data[0] = sign * fromReal[T](math.Exp(log))
	return nil
}

func logDeterminant[T scalar](in, out []matrix[T]) error {
	sign, log := factorLU(in[0]).logDeterminant()
	out[0].data[0], out[1].data[0] = sign, fromReal[T](log)
	return nil
}

func determinantGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return scaledInverse(op, ops.Mul(dy[0], op.Output(0)))
}

func logDeterminantGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return scaledInverse(op, orZeros(op, dy, 1))
}

// scaledInverse returns the adjoint of the inverse of each matrix times a
// number of its own.
func scaledInverse(op *tf.Operation, factor tf.Output) []tf.Gradient {
	inverse := MatrixInverse(op.Input(0), AdjointOpts{Adjoint: true})
	factor = ops.Reshape(factor, concat(ops.Shape(factor), vector(factor, 1, 1)))
	return tf.Grads(ops.Mul(factor, inverse))
}
