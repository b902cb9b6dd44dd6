package linalg

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const triangle = "lower: bool = true; adjoint: bool = false; T: "
	core.Register(core.OpDef{
		Name: "MatrixTriangularSolve", In: "matrix: T; rhs: T", Out: "output: T", Attrs: triangle + "{bfloat16, " + matrixTypes + "}",
		Shape: triangularShape, Expensive: true, Grad: tf.GradFunc(triangularGrad),
		Kernels: core.ByType("T", inSingle(&triangularProblem, triangular[float32], triangular[float64], triangular[complex128])),
	})
	core.Register(core.OpDef{
		Name: "BatchMatrixTriangularSolve", In: "matrix: T; rhs: T", Out: "output: T", Attrs: triangle + "{double, float}",
		Shape: triangularShape, Expensive: true, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("T", inSingle(&triangularProblem, triangular[float32], triangular[float64], nil)),
	})
}

// TriangleOpts are the optional attributes of MatrixTriangularSolve and
// BandedTriangularSolve: the triangle is the upper one, and its adjoint is
// meant.
type TriangleOpts struct{ Upper, Adjoint bool }

// Apply sets the attributes.
func (o TriangleOpts) Apply(s *tf.Spec) {
	s.Set("lower", !o.Upper)
	s.Set("adjoint", o.Adjoint)
}

// MatrixTriangularSolve returns the x for which a·x = b, where a are
// triangular matrices [N N], of which the other triangle is not looked at,
// and b are matrices [N K]. Their other dimensions are broadcast. Both have
// one type, floating-point or complex numbers (float32, float64, complex64,
// complex128), which the result [... N K] keeps. A 0 on the diagonal gives an
// infinity or NaN, not an error. Other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. Its options are [TriangleOpts].
func MatrixTriangularSolve(a, b tf.Output, opts ...tf.Option) tf.Output {
	return apply("MatrixTriangularSolve", opts, a, b)
}

func triangularShape(c *core.Infer) error {
	a, err := atLeastMatrix(c, 0)
	if err != nil {
		return err
	}
	b, err := atLeastMatrix(c, 1)
	if err != nil || a == nil || b == nil {
		return err
	}
	batchA, m, n := sizes(a)
	batchB, rows, k := sizes(b)
	batch, ok := tf.BroadcastShapes(batchA, batchB)
	if !ok {
		return invalid("Dimensions must be equal or 1: batches %v and %v", batchA, batchB)
	}
	if m, err = merged(m, n); err == nil {
		m, err = merged(m, rows)
	}
	if err == nil {
		c.Set(0, append(batch.Clone(), m, k))
	}
	return err
}

var triangularProblem = problem{
	matrices: 2, broadcast: true, fit: sameRows, cost: solveCost,
	check: func(_ *core.OpContext, s []tf.Shape) error {
		if a := s[0]; a[0] != a[1] {
			return invalid("In[0] matrices in the last dimensions must be square (%d =/= %d)", a[1], a[0])
		}
		return nil
	},
	results: solutions,
}

// sameRows checks that there are as many right-hand sides as columns.
func sameRows(c *core.OpContext, s []tf.Shape) error {
	if s[0][1] == s[1][0] {
		return nil
	}
	flag := map[bool]int{true: 1}
	return invalid("In[0] mismatch In[1] shape: %d vs. %d: %s %s %d %d", s[0][1], s[1][0], c.Input(0).Shape().String(), c.Input(1).Shape().String(),
		flag[c.Node.Bool("lower")], flag[c.Node.Bool("adjoint")])
}

// solutions gives the result of a solver its shape.
func solutions(_ *core.Node, s []tf.Shape) []tf.Shape { return []tf.Shape{{s[0][1], s[1][1]}} }

// solveCost is the cost of solving for all right-hand sides.
func solveCost(s []tf.Shape) int {
	return saturated(saturated(s[0][0], s[0][1]), s[1][1])
}

func triangular[T scalar](n *core.Node) solver[T, T] {
	lower, adjoint := n.Bool("lower"), n.Bool("adjoint")
	return func(in, out []matrix[T]) error {
		a := in[0]
		if adjoint {
			a = a.adjoint()
		}
		a.negate()
		out[0].copyFrom(in[1])
		triangle[T]{a, lower != adjoint, false, true}.solve(out[0])
		return nil
	}
}

// solveTriangle overwrites b with the x for which a·x = b. If unit is set, the
// diagonal of a counts as ones.
func solveTriangle[T scalar](a, b matrix[T], lower, unit bool) {
	triangle[T]{a, lower, unit, false}.solve(b)
}

// A triangle is a matrix of which one triangle counts; the diagonal does not if unit is
// set. Of a negative one the elements have the other sign: they need not be changed then.
type triangle[T scalar] struct {
	matrix[T]
	lower, unit, negative bool
}

// solve solves for one half of the rows after the other; what the first means for the
// second is a product of matrices.
func (a triangle[T]) solve(b matrix[T]) {
	n := a.rows
	if n <= leafSize || b.cols == 0 {
		a.solveBlock(b)
		return
	}
	top := halfOf(n)
	first, other := b.part(0, 0, top, b.cols), b.part(top, 0, n-top, b.cols)
	begin, rest := a, a
	begin.matrix, rest.matrix = a.part(0, 0, top, top), a.part(top, top, n-top, n-top)
	if a.lower {
		begin.solve(first)
		a.subtract(other, a.part(top, 0, n-top, top), first)
		rest.solve(other)
		return
	}
	rest.solve(other)
	a.subtract(first, a.part(0, top, top, n-top), other)
	begin.solve(first)
}

// subtract subtracts part·x from y.
func (a triangle[T]) subtract(y, part, x matrix[T]) {
	if a.negative {
		multiplyAdd(y, part, x)
		return
	}
	multiplySubtract(y, part, x)
}

// leafSize rows or columns are not cut in two; of more than that, halfOf is about
// the half, whole leaves.
const leafSize = 8

func halfOf(n int) int { return (n/2 + leafSize - 1) / leafSize * leafSize }

func (a triangle[T]) solveBlock(b matrix[T]) {
	var few [leafSize]T
	factors := few[:]
	if a.rows > leafSize { // there is nothing to solve for
		return
	}
	for k := range a.rows {
		i, from, to := k, 0, k
		if !a.lower {
			i = a.rows - 1 - k
			from, to = i+1, a.rows
		}
		by, diagonal := a.row(i)[from:to], a.at(i, i)
		if a.negative {
			diagonal = -diagonal
		} else {
			for j, v := range by {
				factors[j] = -v
			}
			by = factors[:to-from]
		}
		addRows(b.row(i), by, 1, b.part(from, 0, to-from, b.cols))
		if !a.unit {
			divide(b.row(i), diagonal)
		}
	}
}

// divide divides as Eigen does: it multiplies real numbers by the inverse.
func divide[T scalar](x []T, by T) {
	if !isComplex[T]() {
		scaleVector(x, 1/by)
		return
	}
	for i := range x {
		x[i] /= by
	}
}

func triangularGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	a, b, x := op.Input(0), op.Input(1), op.Output(0)
	o := TriangleOpts{Upper: !op.Bool("lower"), Adjoint: op.Bool("adjoint")}
	db := MatrixTriangularSolve(a, dy[0], TriangleOpts{o.Upper, !o.Adjoint})
	da := minusOuter(db, x, o.Adjoint)
	if o.Upper {
		da = band(da, 0, -1)
	} else {
		da = band(da, -1, 0)
	}
	return tf.Grads(unbroadcast(da, a, b, db))
}
