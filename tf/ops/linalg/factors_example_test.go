package linalg_test

import (
	"fmt"
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

// The solution of a·x = b, or with Adjoint that of aᴴ·x = b.
func ExampleMatrixSolve() {
	g := eager.New()
	a, b := ops.Const(g, []float32{2, 1, 0, 1}, 2, 2), ops.Const(g, []float32{4, 2}, 2, 1)
	for _, adjoint := range []bool{false, true} {
		v, err := linalg.MatrixSolve(a, b, linalg.AdjointOpts{Adjoint: adjoint}).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[2,1]{1, 2} <nil>
	// float32[2,1]{2, 0} <nil>
}

// A line through three points, by least squares. Slow also takes matrices
// whose columns depend on each other, as here the last two: x is least then.
func ExampleMatrixSolveLs() {
	g := eager.New()
	none := ops.Scalar[float64](g, 0)
	y := ops.Const(g, []float64{1, 3, 5}, 3, 1)
	line := ops.Const(g, []float64{1, 0, 1, 1, 1, 2}, 3, 2)
	v, err := linalg.MatrixSolveLs(line, y, none).Value()
	fmt.Printf("%.3f %v\n", tf.Data[float64](v), err)
	twice := ops.Const(g, []float64{1, 0, 0, 1, 1, 1, 1, 2, 2}, 3, 3)
	v, err = linalg.MatrixSolveLs(twice, y, none, linalg.LeastSquaresOpts{Slow: true}).Value()
	fmt.Printf("%.3f %v\n", tf.Data[float64](v), err)
	// Output:
	// [1.000 2.000] <nil>
	// [1.000 1.000 1.000] <nil>
}

// Operators are composed without their matrices: a permutation after a
// scaling.
func ExampleLinearOperator() {
	g := eager.New()
	scale := linalg.LinearOperatorDiag(ops.Const(g, []float32{1, 10, 100}))
	turn := linalg.LinearOperatorPermutation(ops.Const(g, []int32{2, 0, 1}), tf.Float32)
	var both linalg.LinearOperator = linalg.LinearOperatorComposition(turn, scale)
	y := both.MatVec(ops.Const(g, []float32{1, 2, 3}))
	for _, y := range []tf.Output{y, both.SolveVec(y), both.Determinant()} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[3]{300, 1, 20} <nil>
	// float32[3]{1, 2, 3} <nil>
	// float32[]{1000} <nil>
}

// Both triangles are in one matrix; p tells in which order the rows are.
func ExampleLu() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 4, 6}, 2, 2)
	lu, p := linalg.Lu(x, linalg.LuOpts{IndexType: tf.Int64})
	for _, y := range []tf.Output{lu, p, linalg.LuReconstruct(lu, p)} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[2,2]{4, 6, 0.25, 0.5} <nil>
	// int64[2]{1, 0} <nil>
	// float32[2,2]{1, 2, 4, 6} <nil>
}

// The order of a norm: Euclidean, any p, or infinite for the greatest element.
func ExampleOrder() {
	g := eager.New()
	x := ops.Const(g, []float32{3, -4})
	for _, p := range []linalg.Order{linalg.Euclidean, 1, linalg.Order(math.Inf(1))} {
		v, err := linalg.Norm(x, p, nil, false).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[]{5} <nil>
	// float32[]{7} <nil>
	// float32[]{4} <nil>
}

// FullMatrices asks for columns of q that r does not need.
func ExampleQr() {
	g := eager.New()
	x := ops.Const(g, []float32{3, 4, 0}, 3, 1)
	for _, full := range []bool{false, true} {
		q, r := linalg.Qr(x, linalg.QrOpts{FullMatrices: full})
		fmt.Println(q.Shape(), r.Shape())
	}
	// Output:
	// [3,1] [1,1]
	// [3,3] [3,1]
}

// Singular values alone cost less than the vectors that belong to them.
func ExampleSvd() {
	g := eager.New()
	x := ops.Const(g, []float32{3, 0, 0, 0, 4, 0}, 2, 3)
	s, _, _ := linalg.Svd(x, linalg.SvdOpts{ValuesOnly: true})
	v, err := s.Value()
	fmt.Println(v, err)
	_, u, w := linalg.Svd(x, linalg.SvdOpts{FullMatrices: true})
	fmt.Println(u.Shape(), w.Shape())
	// Output:
	// float32[2]{4, 3} <nil>
	// [2,2] [3,3]
}

// Only one triangle of the matrix is looked at, the lower one by default.
func ExampleMatrixTriangularSolve() {
	g := eager.New()
	a, b := ops.Const(g, []float32{2, 1, 9, 1}, 2, 2), ops.Const(g, []float32{4, 2}, 2, 1)
	for _, o := range []linalg.TriangleOpts{{}, {Upper: true}, {Upper: true, Adjoint: true}} {
		v, err := linalg.MatrixTriangularSolve(a, b, o).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[2,1]{2, -16} <nil>
	// float32[2,1]{1, 2} <nil>
	// float32[2,1]{2, 0} <nil>
}

// A system whose first pivot is zero is solved by exchanging rows, and not
// without.
func ExampleTridiagonalSolve() {
	g := eager.New()
	diagonals := ops.Const(g, []float32{1, 0, 0, 1, 0, 1}, 3, 2) // above, main, below: {{0, 1}, {1, 1}}
	b := ops.Const(g, []float32{2, 5}, 2, 1)
	for _, o := range []linalg.TridiagonalOpts{{}, {NoPivoting: true}} {
		v, err := linalg.TridiagonalSolve(diagonals, b, o).Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[2,1]{3, 2} <nil>
	// float32[2,1]{NaN, NaN} <nil>
}

// Eigenvalues of a symmetric matrix, in ascending order, without vectors.
func ExampleSelfAdjointEigV2() {
	g := eager.New()
	x := ops.Const(g, []float32{2, 0, 0, 1}, 2, 2)
	e, vectors := linalg.SelfAdjointEigV2(x, linalg.VectorsOpts{ValuesOnly: true})
	v, err := e.Value()
	fmt.Println(v, err)
	fmt.Println(vectors.Shape())
	// Output:
	// float32[2]{1, 2} <nil>
	// [0]
}
