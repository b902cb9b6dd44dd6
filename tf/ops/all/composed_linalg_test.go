package all_test

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/linalg"
)

var (
	batch   = [][][]float64{{{4, 1}, {1, 3}}, {{2, -0.5}, {-0.5, 1}}}
	skewed  = [][]float64{{1, 2, 3}, {-1, 0.5, 4}}
	general = [][][]float64{{{0, 2, 1}, {1, 1, 0}, {3, 0, 1}}, {{2, 1, 0}, {1, 3, 1}, {0, 1, 4}}}
	inf     = linalg.Order(math.Inf(1))
)

func norm(p linalg.Order, keep bool, axes ...int) func(*tf.Graph, []tf.Output) []tf.Output {
	return one(func(x tf.Output) tf.Output { return linalg.Norm(x, p, axes, keep) })
}

func init() {
	composedCases = append(composedCases, []composed{
		{"tf.linalg.matrix_transpose(a)", []any{batch}, one(linalg.MatrixTranspose), true},
		{"tf.linalg.adjoint(tf.complex(a, 2 * a))", []any{skewed}, one(func(x tf.Output) tf.Output { return linalg.Adjoint(ops.Complex(x, x.Mul(2))) }), false},
		{"tf.linalg.matvec(a, b)", []any{batch, [][]float64{{1, 2}, {3, 4}}}, two(linalg.MatVec), true},
		{"tf.linalg.trace(a)", []any{batch}, one(linalg.Trace), true},
		{"tf.eye(2, 3, batch_shape=[2], dtype=tf.float64)", nil, func(g *tf.Graph, _ []tf.Output) []tf.Output {
			return []tf.Output{linalg.Eye(g, 2, 3, tf.Float64, 2)}
		}, false},
		{"tf.eye(3)", nil, func(g *tf.Graph, _ []tf.Output) []tf.Output { return []tf.Output{linalg.Eye(g, 3, 3, tf.Float32)} }, false},
		{"tf.linalg.cholesky_solve(tf.linalg.cholesky(a), b)", []any{batch, batch}, two(func(x, y tf.Output) tf.Output {
			return linalg.CholeskySolve(linalg.Cholesky(x), y)
		}), true},
		{"tf.linalg.logdet(a)", []any{batch}, one(linalg.LogDet), true},
		{"tf.linalg.eigh_tridiagonal(a, b)", []any{[]float64{1, 2, 3}, []float64{0.5, -1}}, two(func(x, y tf.Output) tf.Output {
			e, _ := linalg.EighTridiagonal(x, y, linalg.VectorsOpts{ValuesOnly: true})
			return e
		}), false},
		{"tf.norm(a)", []any{skewed}, norm(linalg.Euclidean, false), true},
		{"tf.norm(a, axis=1, keepdims=True)", []any{skewed}, norm(linalg.Euclidean, true, 1), true},
		{"tf.norm(a, ord=1, axis=0)", []any{skewed}, norm(1, false, 0), true},
		{"tf.norm(a, ord=np.inf)", []any{skewed}, norm(inf, false), true},
		{"tf.norm(a, ord=3, axis=1)", []any{skewed}, norm(3, false, 1), true},
		{"tf.norm(a, ord='fro', axis=[0, 1])", []any{skewed}, norm(linalg.Euclidean, false, 0, 1), true},
		{"tf.norm(a, ord=1, axis=[-2, -1])", []any{batch}, norm(1, false, -2, -1), true},
		{"tf.norm(a, ord=np.inf, axis=[0, 2], keepdims=True)", []any{batch}, norm(inf, true, 0, 2), true},
		{"tf.norm(a, ord=2, axis=[-2, -1])", []any{batch}, norm(2, false, -2, -1), true},
		{"tf.norm(a, ord=2, axis=[0, 2], keepdims=True)", []any{batch}, norm(2, true, 0, 2), false},
		{"tf.norm(tf.complex(a, -a))", []any{skewed}, one(func(x tf.Output) tf.Output {
			return linalg.Norm(ops.Complex(x, x.Neg()), linalg.Euclidean, nil, false).Cast(tf.Complex128)
		}), false},
		{"tf.linalg.normalize(a, axis=0)", []any{skewed}, pair(func(x []tf.Output) (y, z tf.Output) { return linalg.Normalize(x[0], linalg.Euclidean, []int{0}) }), true},
		{"tf.linalg.matrix_rank(a)", []any{[][]float64{{1, 2}, {2, 4}, {0, 0}}}, one(func(x tf.Output) tf.Output { return linalg.MatrixRank(x, -1) }), false},
		{"tf.linalg.matrix_rank(a, tol=2.0)", []any{batch}, one(func(x tf.Output) tf.Output { return linalg.MatrixRank(x, 2) }), false},
		{"tf.linalg.pinv(a)", []any{skewed}, one(func(x tf.Output) tf.Output { return linalg.Pinv(x, -1) }), false},
		{"tf.linalg.pinv(a, rcond=0.5)", []any{general}, one(func(x tf.Output) tf.Output { return linalg.Pinv(x, 0.5) }), false},
		{"tf.linalg.lu_reconstruct(*tf.linalg.lu(a))", []any{general}, one(func(x tf.Output) tf.Output { return linalg.LuReconstruct(linalg.Lu(x)) }), false},
		{"tf.linalg.lu_solve(*tf.linalg.lu(a), b)", []any{general, general}, two(func(x, y tf.Output) tf.Output {
			lu, p := linalg.Lu(x)
			return linalg.LuSolve(lu, p, y)
		}), false},
		{"tf.linalg.lu_matrix_inverse(*tf.linalg.lu(a))", []any{general}, one(func(x tf.Output) tf.Output { return linalg.LuMatrixInverse(linalg.Lu(x)) }), false},
		{"tf.tensordot(a, tf.concat([tf.transpose(b, [1, 2, 0]), tf.transpose(b, [1, 2, 0])[:, :1]], 1), [[2, 0], [1, 0]])", []any{general, batch}, two(func(x, y tf.Output) tf.Output {
			z := y.Transpose(1, 2, 0)
			return linalg.Tensordot(x, ops.Concat(1, []tf.Output{z, z.At(":, :1")}), []int{2, 0}, []int{1, 0})
		}), false},
		{"tf.tensordot(a, b, 1)", []any{batch, batch}, two(func(x, y tf.Output) tf.Output { return linalg.Tensordot(x, y, []int{2}, []int{0}) }), true},
		{"tf.tensordot(a, b, 0)", []any{skewed, []float64{1, 2}}, two(func(x, y tf.Output) tf.Output { return linalg.Tensordot(x, y, nil, nil) }), true},
		{"tf.linalg.expm(a)", []any{general}, one(linalg.Expm), true},
		{"tf.linalg.expm(a * 5)", []any{batch}, one(func(x tf.Output) tf.Output { return linalg.Expm(x.Mul(5)) }), false},
		{"tf.linalg.expm(tf.cast(a, tf.float32))", []any{batch}, one(func(x tf.Output) tf.Output { return linalg.Expm(x.Cast(tf.Float32)) }), false},
		{"tf.linalg.expm(a * 0)", []any{batch}, one(func(x tf.Output) tf.Output { return linalg.Expm(x.Mul(0)) }), false},
	}...)
}
