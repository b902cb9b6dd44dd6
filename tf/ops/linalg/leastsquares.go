package linalg

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	const in = "matrix: T; rhs: T; l2_regularizer: double"
	core.Register(core.OpDef{
		Name: "MatrixSolveLs", In: in, Out: "output: T", Attrs: "T: {" + matrixTypes + "}; fast: bool = true",
		Shape: leastSquaresShape, Expensive: true, Grad: tf.GradFunc(leastSquaresGrad),
		Kernels: core.ByType("T", solved(&leastSquaresProblem, leastSquares[float64], leastSquares[complex128])),
	})
	core.Register(core.OpDef{
		Name: "BatchMatrixSolveLs", In: in, Out: "output: T", Attrs: "T: {double, float}; fast: bool = true",
		Shape: leastSquaresShape, Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", solved(&leastSquaresProblem, leastSquares[float64], nil)),
	})
}

// LeastSquaresOpts is the optional attribute of MatrixSolveLs: to work for
// matrices of any rank, at several times the cost. The regularizer is not
// looked at then.
type LeastSquaresOpts struct{ Slow bool }

// Apply sets the attribute.
func (o LeastSquaresOpts) Apply(s *tf.Spec) { s.Set("fast", !o.Slow) }

// MatrixSolveLs returns the x for which |a·x - b|² + regularizer·|x|² is
// least, where a are matrices [M N], b are matrices [M K] and regularizer is
// a float64 of at least 0; if M < N, the least x for which a·x = b. a and b
// have one type, floating-point or complex numbers (float32, float64,
// complex64, complex128), and the same dimensions before the last two; the
// result has shape [... N K] and that type. Its elements are 0 if M is 0.
// Other shapes are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step. A regularizer that is negative or NaN,
// and normal equations that are not positive definite, as for a matrix of too
// small a rank, fail with INVALID_ARGUMENT in the step.
// Its options are [LeastSquaresOpts].
func MatrixSolveLs(a, b, regularizer tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixSolveLs", opts, a, b, regularizer)
}

func leastSquaresShape(c *core.Infer) error {
	if _, err := c.Rank(2, 0); err != nil {
		return err
	}
	return solveShape(false)(c)
}

var leastSquaresProblem = problem{
	matrices: 2, results: solutions, cost: func(s []tf.Shape) int { return saturated(cubic(2)(s), 1+s[1][1]/max(1, s[0][1])) },
	check: func(_ *core.OpContext, s []tf.Shape) error {
		if s[0][0] != s[1][0] {
			return invalid("Input matrix and rhs are incompatible.")
		}
		return nil
	},
	fit: func(c *core.OpContext, _ []tf.Shape) error {
		t := c.Input(2)
		if t.Rank() != 0 {
			return invalid("l2_regularizer must be scalar, got shape %s", t.Shape().String())
		}
		if l := core.Data[float64](t)[0]; !(l >= 0) {
			return invalid("l2_regularizer must be >= 0.")
		}
		return nil
	},
}

func leastSquares[T scalar](n *core.Node) solver[T, T] {
	fast, precision := n.Bool("fast"), limitsOf(n.Type("T")).epsilon
	return func(in, out []matrix[T]) error {
		a, b, l := in[0], in[1], in[2].data[0]
		switch {
		case a.rows == 0 || a.cols == 0 || b.cols == 0:
			out[0].fill(0)
			return nil
		case !fast:
			leastOfAny(a, b, out[0], precision)
			return nil
		case a.rows >= a.cols:
			return leastDeep(a, b, l, out[0])
		}
		return leastWide(a, b, l, out[0])
	}
}

// leastDeep solves the normal equations (aᴴ·a + l)·x = aᴴ·b.
func leastDeep[T scalar](a, b matrix[T], l T, x matrix[T]) error {
	left := a.adjoint()
	gram := product(left, a)
	gram.addDiagonal(l)
	if !factorCholesky(gram) {
		return invalid("Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a larger l2_regularizer > 0.")
	}
	multiply(x, left, b)
	solveTriangle(gram, x, true, false)
	solveTriangle(gram.adjoint(), x, false, false)
	return nil
}

// leastWide solves (a·aᴴ + l)·z = b and returns x = aᴴ·z.
func leastWide[T scalar](a, b matrix[T], l T, x matrix[T]) error {
	right := a.adjoint()
	gram := product(a, right)
	gram.addDiagonal(l)
	if !factorCholesky(gram) {
		return invalid("Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide an l2_regularizer > 0.")
	}
	solveTriangle(gram, b, true, false)
	solveTriangle(gram.adjoint(), b, false, false)
	multiply(x, right, b)
	return nil
}

// leastOfAny returns the least of all best solutions, by a complete orthogonal
// decomposition: a = q·[t 0; 0 0]·wᴴ with a triangle t, whose size is the rank.
func leastOfAny[T scalar](a, b, x matrix[T], precision float64) {
	order := triangularizeByNorm(a, b)
	p := min(a.rows, a.cols)
	rank := 0
	for rank < p && abs(a.at(rank, rank)) > precision*float64(p)*abs(a.at(0, 0)) {
		rank++
	}
	right := a.part(0, 0, rank, a.cols).adjoint() // w·tᴴ
	w := triangularize(right)
	y := newMatrix[T](a.cols, b.cols)
	y.copyFrom(b.part(0, 0, rank, b.cols))
	solveTriangle(right.part(0, 0, rank, rank).adjoint(), y.part(0, 0, rank, b.cols), true, false)
	w.applyAll(y, 0)
	for i, column := range order {
		copy(x.row(column), y.row(i))
	}
}

// triangularizeByNorm turns a, with its columns in the order that it returns,
// into an upper triangle whose diagonal gets smaller, and does to b what that
// takes.
func triangularizeByNorm[T scalar](a, b matrix[T]) []int {
	order := core.Make[int](a.cols)
	for j := range order {
		order[j] = j
	}
	for k := range min(a.rows, a.cols) {
		j := k + longestColumn(a.part(k, k, a.rows-k, a.cols-k))
		order[k], order[j] = order[j], order[k]
		for i := range a.rows {
			row := a.row(i)
			row[k], row[j] = row[j], row[k]
		}
		v := a.column(k, k)
		tau, beta := reflect(v)
		reflectRows(a.part(k, k+1, a.rows-k, a.cols-k-1), conj(tau), v)
		reflectRows(b.part(k, 0, b.rows-k, b.cols), conj(tau), v)
		clear(v)
		v[0] = beta
		a.setColumn(k, k, v)
	}
	return order
}

func longestColumn[T scalar](a matrix[T]) int {
	sums := core.Make[float64](a.cols)
	for i := range a.rows {
		for j, v := range a.row(i) {
			sums[j] += re(v * conj(v))
		}
	}
	best := 0
	for j, s := range sums {
		if s > sums[best] {
			best = j
		}
	}
	return best
}

func leastSquaresGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	if !op.Bool("fast") {
		return tf.Grads(tf.Failed(op.Graph(), "MatrixSolveLsGrad", invalid("Gradient not defined for fast=False")).Output(0))
	}
	a := op.Input(0)
	s := a.Shape()
	if len(s) >= 2 && s[len(s)-2] >= 0 && s[len(s)-1] >= 0 {
		if s[len(s)-2] >= s[len(s)-1] {
			return tf.Grads(leastDeepGrad(op, dy[0]))
		}
		return tf.Grads(leastWideGrad(op, dy[0]))
	}
	size := ops.StridedSlice(ops.Shape(a), vector(a, -2), vector(a, 0), vector(a, 1), ops.StridedSliceOpts{EndMask: 1})
	parts := ops.Unpack(size, 2)
	both := tf.Cond(ops.GreaterEqual(parts[0], parts[1]),
		func() []tf.Output { return pair(leastDeepGrad(op, dy[0])) },
		func() []tf.Output { return pair(leastWideGrad(op, dy[0])) })
	return tf.Grads(both[0], both[1], tf.Output{})
}

func pair(a, b, _ tf.Output) []tf.Output { return []tf.Output{a, b} }

// regularizedGram returns the Cholesky factors of product + l.
func regularizedGram(op *tf.Operation, product tf.Output) tf.Output {
	l := ops.Cast(op.Input(2), product.DType().Base())
	return Cholesky(withDiagonal(product, ops.AddV2(diagonalOf(product), l)))
}

// choleskySolve solves l·lᴴ·x = b.
func choleskySolve(l, b tf.Output) tf.Output {
	return MatrixTriangularSolve(l, MatrixTriangularSolve(l, b), TriangleOpts{Adjoint: true})
}

func leastDeepGrad(op *tf.Operation, dy tf.Output) (da, db, none tf.Output) {
	a, b, x := op.Input(0), op.Input(1), op.Output(0)
	z := choleskySolve(regularizedGram(op, mulAdjointX(a, a)), dy)
	xz := mulAdjointY(x, z)
	both := ops.AddV2(xz, transpose(xz))
	return ops.AddV2(ops.Neg(mul(a, both)), mulAdjointY(b, z)), mul(a, z), none
}

func leastWideGrad(op *tf.Operation, dy tf.Output) (da, db, none tf.Output) {
	a, b := op.Input(0), op.Input(1)
	l := regularizedGram(op, mulAdjointY(a, a))
	db = choleskySolve(l, mul(a, dy))
	z := choleskySolve(l, b)
	within := ops.Neg(mul(db, mulAdjointX(z, a)))
	outside := mulAdjointY(z, ops.Sub(dy, mulAdjointX(a, db)))
	return ops.AddV2(within, outside), db, none
}
