package all_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

// operators are made of the matrix a, the vector b and the permutation [1 2 0].
var operators = map[string]func(a, b tf.Output) linalg.LinearOperator{
	"tf.linalg.LinearOperatorFullMatrix(a)":      func(a, b tf.Output) linalg.LinearOperator { return linalg.LinearOperatorFullMatrix(a) },
	"tf.linalg.LinearOperatorDiag(b)":            func(a, b tf.Output) linalg.LinearOperator { return linalg.LinearOperatorDiag(b) },
	"tf.linalg.LinearOperatorLowerTriangular(a)": func(a, b tf.Output) linalg.LinearOperator { return linalg.LinearOperatorLowerTriangular(a) },
	"tf.linalg.LinearOperatorIdentity(3, dtype=tf.float64)": func(a, b tf.Output) linalg.LinearOperator {
		return linalg.LinearOperatorIdentity(a.Graph(), 3, tf.Float64)
	},
	"tf.linalg.LinearOperatorScaledIdentity(3, b[0])": func(a, b tf.Output) linalg.LinearOperator {
		return linalg.LinearOperatorScaledIdentity(3, b.At("0"))
	},
	"tf.linalg.LinearOperatorHouseholder(b)": func(a, b tf.Output) linalg.LinearOperator { return linalg.LinearOperatorHouseholder(b) },
	"tf.linalg.LinearOperatorPermutation([1, 2, 0], dtype=tf.float64)": func(a, b tf.Output) linalg.LinearOperator {
		return linalg.LinearOperatorPermutation(ops.Const(a.Graph(), []int32{1, 2, 0}), tf.Float64)
	},
	"tf.linalg.LinearOperatorTridiag(a, diagonals_format='compact')": func(a, b tf.Output) linalg.LinearOperator { return linalg.LinearOperatorTridiag(a) },
	"tf.linalg.LinearOperatorToeplitz(b, tf.concat([b[:1], a[0, 1:]], 0))": func(a, b tf.Output) linalg.LinearOperator {
		return linalg.LinearOperatorToeplitz(b, ops.Concat(0, []tf.Output{b.At(":1"), a.At("0, 1:")}))
	},
	"tf.linalg.LinearOperatorAdjoint(tf.linalg.LinearOperatorLowerTriangular(a))": func(a, b tf.Output) linalg.LinearOperator {
		return linalg.LinearOperatorAdjoint(linalg.LinearOperatorLowerTriangular(a))
	},
	"tf.linalg.LinearOperatorInversion(tf.linalg.LinearOperatorFullMatrix(a, is_non_singular=True))": func(a, b tf.Output) linalg.LinearOperator {
		return linalg.LinearOperatorInversion(linalg.LinearOperatorFullMatrix(a))
	},
	"tf.linalg.LinearOperatorComposition([tf.linalg.LinearOperatorFullMatrix(a), tf.linalg.LinearOperatorDiag(b)])": func(a, b tf.Output) linalg.LinearOperator {
		return linalg.LinearOperatorComposition(linalg.LinearOperatorFullMatrix(a), linalg.LinearOperatorDiag(b))
	},
	"tf.linalg.LinearOperatorLowRankUpdate(tf.linalg.LinearOperatorDiag(b, is_non_singular=True), a[:, :1], b[:1], a[:, 1:2])": func(a, b tf.Output) linalg.LinearOperator {
		return linalg.LinearOperatorLowRankUpdate(linalg.LinearOperatorDiag(b), a.At(":, :1"), b.At(":1"), a.At(":, 1:2"))
	},
	"tf.linalg.LinearOperatorBlockDiag([tf.linalg.LinearOperatorFullMatrix(a[:2, :2]), tf.linalg.LinearOperatorDiag(b[:1])])": func(a, b tf.Output) linalg.LinearOperator {
		return linalg.LinearOperatorBlockDiag(linalg.LinearOperatorFullMatrix(a.At(":2, :2")), linalg.LinearOperatorDiag(b.At(":1")))
	},
}

func init() {
	square := [][]float64{{4, 1, 0.5}, {-1, 3, -0.25}, {0.5, 2, 2}}
	in := []any{square, []float64{2, -1, 0.5}, [][]float64{{1, 2}, {3, 4}, {5, 7}}}
	for expr, f := range operators {
		composedCases = append(composedCases, composed{
			expr: fmt.Sprintf("(lambda o: [o.to_dense(), o.matmul(c), o.matmul(c, adjoint=True), o.solve(c), o.matvec(b), o.solvevec(b), o.diag_part(), o.trace(), o.determinant(), o.log_abs_determinant()])(%s)", expr),
			in:   in,
			f: func(_ *tf.Graph, x []tf.Output) []tf.Output {
				o := f(x[0], x[1])
				return []tf.Output{
					o.ToDense(), o.MatMul(x[2]), linalg.LinearOperatorAdjoint(o).MatMul(x[2]), o.Solve(x[2]), o.MatVec(x[1]), o.SolveVec(x[1]),
					o.DiagPart(), o.Trace(), o.Determinant(), o.LogAbsDeterminant(),
				}
			},
		})
	}
	composedCases = append(composedCases,
		composed{"tf.linalg.LinearOperatorZeros(2, 3, dtype=tf.float64, is_square=False, is_self_adjoint=False).matmul(c)", in, func(g *tf.Graph, x []tf.Output) []tf.Output {
			return []tf.Output{linalg.LinearOperatorZeros(g, 2, 3, tf.Float64).MatMul(x[2])}
		}, false},
		composed{"tf.linalg.LinearOperatorKronecker([tf.linalg.LinearOperatorFullMatrix(a), tf.linalg.LinearOperatorFullMatrix(a[:2, :2])]).to_dense()", in, func(g *tf.Graph, x []tf.Output) []tf.Output {
			return []tf.Output{linalg.LinearOperatorKronecker(linalg.LinearOperatorFullMatrix(x[0]), linalg.LinearOperatorFullMatrix(x[0].At(":2, :2"))).ToDense()}
		}, false},
		composed{"(lambda r: [r.x, r.i])(tf.linalg.experimental.conjugate_gradient(tf.linalg.LinearOperatorFullMatrix(tf.matmul(a, a, transpose_a=True), is_self_adjoint=True, is_positive_definite=True), b, tol=1e-9))", in, func(g *tf.Graph, x []tf.Output) []tf.Output {
			m := x[0].Transpose().MatMul(x[0])
			y, n := linalg.ConjugateGradient(linalg.LinearOperatorFullMatrix(m), x[1], 1e-9, 20)
			return []tf.Output{y, n}
		}, false})
}
