package linalg

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	kernels := solved(&tridiagonalProblem, tridiagonal[float64], tridiagonal[complex128])
	for d, k := range kernels {
		kernels[d] = checkedTridiagonal(k)
	}
	core.Register(core.OpDef{
		Name: "TridiagonalSolve", In: "diagonals: T; rhs: T", Out: "output: T",
		Attrs: "partial_pivoting: bool = true; perturb_singular: bool = false; T: {" + wholeTypes + "}",
		Shape: tridiagonalShape, Expensive: true, Grad: tf.GradFunc(tridiagonalGrad), Kernels: core.ByType("T", kernels),
	})
	core.Register(core.OpDef{
		Name: "TridiagonalMatMul", In: "superdiag: T; maindiag: T; subdiag: T; rhs: T", Out: "output: T", Attrs: "T: {" + wholeTypes + "}",
		Shape: likeLast, Grad: tf.GradFunc(tridiagonalMulGrad),
		Kernels: core.ByType("T", solved(&tridiagonalMulProblem, always(tridiagonalMul[float64]), always(tridiagonalMul[complex128]))),
	})
}

// TridiagonalOpts are the optional attributes of TridiagonalSolve: to solve
// without exchanging rows, or to solve singular systems too, by pivots that
// are off a little.
type TridiagonalOpts struct{ NoPivoting, PerturbSingular bool }

// Apply sets the attributes.
func (o TridiagonalOpts) Apply(s *tf.Spec) {
	s.Set("partial_pivoting", !o.NoPivoting)
	s.Set("perturb_singular", o.PerturbSingular)
}

// TridiagonalSolve returns the x for which a·x = b, where the rows of
// diagonals [3 N] are those of a: above the main one, with the last element
// ignored, the main one, and that below, with the first one ignored; b are
// matrices [N K]. Where there is no solution it is NaN. Both have one type,
// floating-point or complex numbers (float32, float64, complex64,
// complex128), and the same dimensions before the last two; the result has
// the shape and the type of b. Other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. PerturbSingular with NoPivoting is refused with INVALID_ARGUMENT in
// the step. Its options are [TridiagonalOpts].
func TridiagonalSolve(diagonals, b tf.Output, opts ...tf.Option) tf.Output {
	return apply("TridiagonalSolve", opts, diagonals, b)
}

// TridiagonalMatMul returns a·x for matrices x [N K], where a is given by its
// diagonals [1 N], aligned as those of TridiagonalSolve. All four have one
// type, floating-point or complex numbers (float32, float64, complex64,
// complex128), and the same dimensions before the last two; the result has
// the shape and the type of x. Other shapes are refused with INVALID_ARGUMENT
// in the step.
func TridiagonalMatMul(above, main, below, x tf.Output, opts ...tf.Option) tf.Output {
	return apply("TridiagonalMatMul", opts, above, main, below, x)
}

func tridiagonalShape(c *core.Infer) error {
	a, err := atLeastMatrix(c, 0)
	if err != nil {
		return err
	}
	b, err := atLeastMatrix(c, 1)
	if err != nil || a == nil || b == nil {
		return err
	}
	batchA, three, n := sizes(a)
	batchB, rows, k := sizes(b)
	batch, ok := batchA.Merge(batchB)
	if !ok {
		return invalid("Shapes must be equal, but are %v and %v", batchA, batchB)
	}
	if _, err = merged(three, 3); err == nil {
		n, err = merged(n, rows)
	}
	if err == nil {
		c.Set(0, append(batch.Clone(), n, k))
	}
	return err
}

func likeLast(c *core.Infer) error {
	c.Set(0, c.In(c.NumIn()-1))
	return nil
}

// checkedTridiagonal refuses attributes that contradict each other.
func checkedTridiagonal(k core.NewKernel) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		if n.Bool("perturb_singular") && !n.Bool("partial_pivoting") {
			return nil, invalid("Setting perturb_singular requires also setting partial_pivoting.")
		}
		return k(n)
	}
}

// thin is the cost of what looks at every element a few times.
func thin(s []tf.Shape) int {
	last := s[len(s)-1]
	return saturated(8*last[0], last[1])
}

var tridiagonalProblem = problem{
	matrices: 2, cost: thin, results: func(_ *core.Node, s []tf.Shape) []tf.Shape { return s[1:] },
	check: func(_ *core.OpContext, s []tf.Shape) error {
		switch a, b := s[0], s[1]; {
		case a[0] != 3:
			return invalid("Expected diagonals to be provided as a matrix with 3 rows, got %d rows.", a[0])
		case a[1] != b[0]:
			return invalid("Expected the same number of left-hand sides and right-hand sides, got %d and %d.", a[1], b[0])
		}
		return nil
	},
}

var tridiagonalMulProblem = problem{
	matrices: 4, cost: thin, results: func(_ *core.Node, s []tf.Shape) []tf.Shape { return s[3:] },
	check: func(_ *core.OpContext, s []tf.Shape) error {
		for i, name := range []string{"superdiagonal", "main diagonal", "subdiagonal"} {
			if s[i][0] != 1 || s[i][1] != s[3][0] {
				return invalid("Invalid %s shape.", name)
			}
		}
		return nil
	},
}

func tridiagonalMul[T scalar](in, out []matrix[T]) error {
	x, y := in[3], out[0]
	y.fill(0)
	for i := range x.rows {
		axpy(y.row(i), in[1].data[i], x.row(i))
		if i > 0 {
			axpy(y.row(i), in[2].data[i], x.row(i-1))
			axpy(y.row(i-1), in[0].data[i-1], x.row(i))
		}
	}
	return nil
}

// tridiagonalGrad solves with the transpose of the matrix, as TensorFlow does
// for complex numbers too.
func tridiagonalGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	diagonals, x := op.Input(0), op.Output(0)
	above, main, below := rowOf(diagonals, 0), rowOf(diagonals, 1), rowOf(diagonals, 2)
	transposed := ops.ConcatV2([]tf.Output{shift(below, -1, 1), main, shift(above, -1, -1)}, number(above, -2))
	o := TridiagonalOpts{!op.Bool("partial_pivoting"), op.Bool("perturb_singular")}
	db := TridiagonalSolve(transposed, dy[0], o)
	var parts []tf.Output
	for _, by := range []int{1, 0, -1} {
		sum := ops.Sum(ops.Mul(db, shift(x, -2, by)), number(x, -1))
		parts = append(parts, ops.ExpandDims(sum, number(sum, -2)))
	}
	return tf.Grads(ops.Neg(ops.ConcatV2(parts, number(x, -2))), db)
}

func tridiagonalMulGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	var dx tf.Output
	x := conjugates(op.Input(3))
	grads := make([]tf.Output, 3)
	for i, by := range []int{1, 0, -1} {
		sum := ops.Sum(ops.Mul(shift(x, -2, by), dy[0]), number(x, -1))
		grads[i] = ops.ExpandDims(sum, number(sum, -2))
		part := shift(ops.Mul(adjoint(op.Input(i)), dy[0]), -2, -by)
		if i > 0 {
			part = ops.AddV2(dx, part)
		}
		dx = part
	}
	return tf.Grads(grads[0], grads[1], grads[2], dx)
}

// rowOf returns row i of matrices, as matrices of one row.
func rowOf(x tf.Output, i int) tf.Output { return window(x, -2, i, i+1) }

// shift moves the rows (axis -2) or columns (axis -1) of matrices by one,
// forwards if by is -1 and backwards if it is 1. Zeros come in.
func shift(x tf.Output, axis, by int) tf.Output {
	zeros := ops.ZerosLike(window(x, axis, 0, 1))
	switch by {
	case 1:
		return ops.ConcatV2([]tf.Output{window(x, axis, 1, toEnd), zeros}, number(x, axis))
	case -1:
		return ops.ConcatV2([]tf.Output{zeros, window(x, axis, 0, -1)}, number(x, axis))
	}
	return x
}
