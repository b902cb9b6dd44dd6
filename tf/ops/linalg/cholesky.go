package linalg

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	for _, c := range []struct {
		name, types string
		grad        tf.GradFunc
		none        core.NoGrad
		kernels     map[tf.DType]core.NewKernel
	}{
		{"Cholesky", matrixTypes, choleskyGrad, 0, inSingle(&choleskyProblem, always(cholesky[float32]), always(cholesky[float64]), always(cholesky[complex128]))},
		{"BatchCholesky", "double, float", nil, core.NoGradientDefined, inSingle(&choleskyProblem, always(cholesky[float32]), always(cholesky[float64]), nil)},
	} {
		core.Register(core.OpDef{
			Name: c.name, In: "input: T", Out: "output: T", Attrs: "T: {" + c.types + "}",
			Shape: squareShape, Expensive: true, Grad: tf.GradFunc(c.grad), NoGrad: c.none, Kernels: core.ByType("T", c.kernels),
		})
	}
	for name, types := range map[string]string{"CholeskyGrad": "half, float, double", "BatchCholeskyGrad": "float, double"} {
		core.Register(core.OpDef{
			Name: name, In: "l: T; grad: T", Out: "output: T", Attrs: "T: {" + types + "}",
			Shape: squareShape, Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", solved(&choleskyGradProblem, always(choleskyBack), nil)),
		})
	}
}

// Cholesky returns lower triangles l, for which l·lᴴ = x. Of x, which must be
// Hermitian and positive definite, only the lower triangle is looked at. The
// result for a matrix that is not positive definite is NaN. x has shape
// [... N N], which the result keeps, and floating-point or complex numbers
// (float32, float64, complex64, complex128). Other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step.
func Cholesky(x tf.Output, opts ...tf.Option) tf.Output { return apply("Cholesky", opts, x) }

// CholeskyGrad returns the gradient of Cholesky, symmetric, given its results
// and their gradient. The formula is in Murray (arXiv:1602.07527). l and dl
// have the same shape [... N N], which the result keeps, and one type,
// float32 or float64; only their lower triangles are looked at. Other shapes
// are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step.
func CholeskyGrad(l, dl tf.Output, opts ...tf.Option) tf.Output {
	return apply("CholeskyGrad", opts, l, dl)
}

var (
	choleskyProblem     = problem{matrices: 1, check: square, results: same, cost: cubic(1)}
	choleskyGradProblem = problem{matrices: 2, check: bothSquare, results: same, cost: cubic(4)}
)

func bothSquare(_ *core.OpContext, s []tf.Shape) error {
	switch l, g := s[0], s[1]; {
	case l[0] != l[1]:
		return invalid("Inputs must be a square matrices.")
	case l[0] != g[0] || l[1] != g[1]:
		return invalid("Inputs (L and grad) must have the same shape.")
	}
	return nil
}

func cholesky[T scalar](in, out []matrix[T]) error {
	l := out[0]
	l.copyFrom(in[0])
	if !factorCholesky(l) {
		l.fill(fromReal[T](math.NaN()))
	}
	l.clearAbove()
	return nil
}

// factorCholesky turns the lower triangle of a into its factor. It reports
// false if a is not positive definite. What lies above is not looked at; it
// holds anything afterwards.
func factorCholesky[T scalar](a matrix[T]) bool {
	n := a.rows
	if n >= leastByRows && n <= mostByRows {
		switch a := any(a).(type) {
		case matrix[float32]:
			return factorByRows(a)
		case matrix[float64]:
			if n%wholeVectors == 0 {
				return factorRows(a)
			}
		}
	}
	for lo := 0; lo < n; lo += blockSize {
		size := min(blockSize, n-lo)
		hi := lo + size
		panel := a.part(lo, lo, n-lo, size)
		if !factorPanel(panel) {
			return false
		}
		lower := panel.part(size, 0, n-hi, size)
		for at := hi; at < n; at += blockSize {
			width := min(blockSize, n-at)
			upper := lower.part(at-hi, 0, width, size).adjoint()
			multiplySubtract(a.part(at, at, n-at, width), lower.part(at-hi, 0, n-at, size), upper)
		}
	}
	return true
}

// factorPanel factors the square at the top of a and what lies below it: first one
// half of the columns, then, changed by that, the other.
func factorPanel[T scalar](a matrix[T]) bool {
	if a.cols <= leafSize {
		return factorLeaf(a)
	}
	half, below := halfOf(a.cols), a.rows-halfOf(a.cols)
	if !factorPanel(a.part(0, 0, a.rows, half)) {
		return false
	}
	left, right := a.part(half, 0, below, half), a.part(half, half, below, a.cols-half)
	multiplySubtract(right, left, left.part(0, 0, a.cols-half, half).adjoint())
	return factorPanel(right)
}

func factorLeaf[T scalar](a matrix[T]) bool {
	switch a := any(a).(type) {
	case matrix[float32]:
		return factorLeafReal(a)
	case matrix[float64]:
		return factorLeafReal(a)
	}
	for i := range a.rows {
		x := a.row(i)
		for j := range min(i, a.cols) {
			x[j] = (x[j] - dot(a.row(j)[:j], x[:j])) / a.at(j, j)
		}
		if i < a.cols {
			rest := re(x[i]) - re(dot(x[:i], x[:i]))
			if rest <= 0 {
				return false
			}
			x[i] = fromReal[T](math.Sqrt(rest))
		}
	}
	return true
}

// factorLeafReal is factorLeaf without calls, of which so few columns would make many.
func factorLeafReal[T realScalar](a matrix[T]) bool {
	var inverse [leafSize]T
	for i := range a.rows {
		x := a.row(i)
		for j := range min(i+1, a.cols) {
			y := a.row(j)[:j]
			rest := x[j]
			for k, v := range y {
				rest -= v * x[k]
			}
			switch {
			case j < i:
				x[j] = rest * inverse[j]
			case rest <= 0:
				return false
			default:
				x[j] = T(math.Sqrt(float64(rest)))
				inverse[j] = 1 / x[j]
			}
		}
	}
	return true
}

// choleskyBack computes (l⁻ᵀ·φ(lᵀ·dl)·l⁻¹) made symmetric, where φ keeps the
// lower triangle and halves its diagonal.
func choleskyBack(in, out []matrix[float64]) error {
	l, dl := in[0], in[1]
	l.clearAbove()
	dl.clearAbove()
	upper := l.adjoint()
	middle := product(upper, dl)
	middle.clearAbove()
	for i := range middle.rows {
		middle.row(i)[i] /= 2
	}
	solveTriangle(upper, middle, false, false)
	right := middle.adjoint()
	solveTriangle(upper, right, false, false)
	right.adjointTo(out[0])
	out[0].add(1, right)
	out[0].scale(0.5)
	return nil
}

func choleskyGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	l := op.Output(0)
	inverse := MatrixTriangularSolve(l, identityLike(l))
	middle := band(halfDiagonal(mulAdjointX(l, dy[0])), -1, 0)
	dx := mul(mulAdjointX(inverse, middle), inverse)
	return tf.Grads(ops.Mul(ops.AddV2(dx, adjoint(dx)), constLike(dx, 0.5)))
}
