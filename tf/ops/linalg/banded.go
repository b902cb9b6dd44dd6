package linalg

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	core.Register(core.OpDef{
		Name: "BandedTriangularSolve", In: "matrix: T; rhs: T", Out: "output: T",
		Attrs: "lower: bool = true; adjoint: bool = false; T: {" + matrixTypes + "}",
		Shape: bandedShape, Expensive: true, Grad: tf.GradFunc(bandedGrad),
		Kernels: core.ByType("T", solved(&bandedProblem, banded[float64], banded[complex128])),
	})
}

// BandedTriangularSolve is MatrixTriangularSolve for matrices that are zero
// but for K diagonals, which are given as the rows of matrices [K N]: the
// main diagonal first, or last in upper triangles. Elements of the same
// column of a stand for those of the same row of the triangle. b are matrices
// [N K]; dimensions before the last two broadcast. Both have one type,
// floating-point or complex numbers (float32, float64, complex64,
// complex128), which the result [... N K] keeps. Empty inputs and a 0 or NaN
// on the main diagonal of the first matrix fail with INVALID_ARGUMENT in the
// step; other matrices with a 0 there give an infinity or NaN. Other shapes
// are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step.
func BandedTriangularSolve(a, b tf.Output, opts ...tf.Option) tf.Output {
	return apply("BandedTriangularSolve", opts, a, b)
}

func bandedShape(c *core.Infer) error {
	a, err := atLeastMatrix(c, 0)
	if err != nil {
		return err
	}
	b, err := atLeastMatrix(c, 1)
	if err != nil || a == nil || b == nil {
		return err
	}
	batchA, bands, n := sizes(a)
	batchB, rows, k := sizes(b)
	batch, ok := tf.BroadcastShapes(batchA, batchB)
	if !ok {
		return invalid("Dimensions must be equal or 1: batches %v and %v", batchA, batchB)
	}
	if n >= 0 && bands > n {
		return invalid("Number of bands %d cannot exceed the size of the matrix %d", bands, n)
	}
	if n, err = merged(n, rows); err == nil {
		c.Set(0, append(batch.Clone(), n, k))
	}
	return err
}

var bandedProblem = problem{
	matrices: 2, broadcast: true, results: solutions, cost: solveCost,
	check: func(c *core.OpContext, _ []tf.Shape) error {
		for i := range 2 {
			if t := c.Input(i); t.Len() == 0 {
				return invalid("In[%d] must not be an empty tensor: Tensor<type: %s shape: %s values: >", i, t.DType().CName(), t.Shape().String())
			}
		}
		return nil
	},
	fit: func(c *core.OpContext, s []tf.Shape) error {
		if err := sameRows(c, s); err != nil {
			return err
		}
		return checkDiagonal(c, s[0])
	},
}

// checkDiagonal refuses a matrix with a zero on its diagonal. TensorFlow looks
// at the first one only; what others have no solution for is infinite.
func checkDiagonal(c *core.OpContext, s tf.Shape) error {
	at := 0
	if !c.Node.Bool("lower") {
		at = (s[0] - 1) * s[1]
	}
	d := core.Make[complex128](s[1])
	elementwise.Cast(d, elements(c.Input(0), at, len(d)))
	for _, v := range d {
		if !(abs(v) > 0) {
			return invalid("Input matrix is not invertible.")
		}
	}
	return nil
}

func banded[T scalar](n *core.Node) solver[T, T] {
	lower, adjoint := n.Bool("lower"), n.Bool("adjoint")
	return func(in, out []matrix[T]) error {
		a := triangleBand[T]{in[0], lower}
		out[0].copyFrom(in[1])
		a.solve(out[0], adjoint)
		return nil
	}
}

// A triangleBand is a triangle of which only some diagonals are stored.
type triangleBand[T scalar] struct {
	rows  matrix[T]
	lower bool
}

// at returns element (i, j), or that of the adjoint.
func (a triangleBand[T]) at(i, j int, adjoint bool) T {
	if adjoint {
		return conj(a.at(j, i, false))
	}
	if a.lower {
		return a.rows.at(i-j, i)
	}
	return a.rows.at(a.rows.rows-1-(j-i), i)
}

// solve overwrites b with the solution of a·x = b, or of aᴴ·x = b.
func (a triangleBand[T]) solve(b matrix[T], adjoint bool) {
	n, width := a.rows.cols, a.rows.rows-1
	for k := range n {
		i, from, to := k, max(0, k-width), k
		if a.lower == adjoint {
			i = n - 1 - k
			from, to = i+1, min(n, i+1+width)
		}
		for j := from; j < to; j++ {
			axpy(b.row(i), -a.at(i, j, adjoint), b.row(j))
		}
		divide(b.row(i), a.at(i, i, adjoint))
	}
}

func bandedGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	a, b, x := op.Input(0), op.Input(1), op.Output(0)
	o := TriangleOpts{Upper: !op.Bool("lower"), Adjoint: op.Bool("adjoint")}
	db := BandedTriangularSolve(a, dy[0], TriangleOpts{o.Upper, !o.Adjoint})
	da := minusOuter(db, x, o.Adjoint)
	bands := ops.StridedSlice(ops.Shape(a), vector(a, -2), vector(a, -1), vector(a, 1), ops.StridedSliceOpts{ShrinkAxisMask: 1})
	least, most := ops.Sub(number(a, 1), bands), number(a, 0)
	if o.Upper {
		least, most = most, ops.Sub(bands, number(a, 1))
	}
	da = ops.MatrixDiagPartV3(da, ops.Pack([]tf.Output{least, most}), constLike(a, 0), ops.DiagAlignOpts{Align: "LEFT_RIGHT"})
	return tf.Grads(unbroadcast(da, a, b, db))
}
