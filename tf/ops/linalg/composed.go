package linalg

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// scoped returns what f builds of x in a scope, or x itself if it cannot be
// computed.
func scoped(scope string, x tf.Output, f func() tf.Output) (y tf.Output) {
	if x.Err() != nil {
		return x
	}
	x.Graph().Scope(scope, func() { y = f() })
	return y
}

// refused returns an Output that carries an error: that of x if it has one, since nothing is
// known of the shape of such an x.
func refused(x tf.Output, name, format string, args ...any) tf.Output {
	if x.Err() != nil {
		return x
	}
	return tf.Failed(x.Graph(), name, invalid(format, args...)).Output(0)
}

// multiplied is the product of the matrices in the last two dimensions.
func multiplied(a, b tf.Output, opts ...tf.Option) tf.Output { return ops.BatchMatMulV2(a, b, opts...) }

// MatrixTranspose returns x with its last two dimensions exchanged. x has two
// dimensions or more, any type, and may be of unknown rank. A known rank
// below 2 is refused with INVALID_ARGUMENT when the graph is built.
func MatrixTranspose(x tf.Output) tf.Output {
	return scoped("matrix_transpose", x, func() tf.Output {
		s := x.Shape()
		if s == nil {
			n, g := ops.Rank(x), x.Graph()
			first := ops.Range(nil, ops.Scalar[int32](g, 0), n.Sub(2), ops.Scalar[int32](g, 1))
			last := ops.Stack([]tf.Output{n.Sub(1), n.Sub(2)}, 0)
			return ops.Transpose(x, ops.Concat(0, []tf.Output{first, last}))
		}
		if len(s) < 2 {
			return refused(x, "matrix_transpose", "Argument `a` should be a (batch) matrix with rank >= 2. Received `a` = %s with shape: %v", x.Name(), s)
		}
		perm := make([]int, len(s))
		for i := range perm {
			perm[i] = i
		}
		perm[len(s)-2], perm[len(s)-1] = len(s)-1, len(s)-2
		return ops.Transpose(x, perm)
	})
}

// Adjoint returns the conjugate transposes of the matrices in the last two
// dimensions of x. x has two dimensions or more; for types that are not
// complex it is MatrixTranspose. A known rank below 2 is refused with
// INVALID_ARGUMENT when the graph is built.
func Adjoint(x tf.Output) tf.Output {
	return scoped("adjoint", x, func() tf.Output { return conjOf(MatrixTranspose(x)) })
}

// MatVec returns the products of matrices [... M N] and vectors [... N]:
// [... M]. The dimensions before these broadcast as those of BatchMatMulV2,
// which computes the result and refuses what does not fit with
// INVALID_ARGUMENT.
func MatVec(a, b tf.Output) tf.Output {
	return scoped("MatVec", a, func() tf.Output {
		return ops.Squeeze(multiplied(a, ops.ExpandDims(b, -1)), []int{-1})
	})
}

// Trace returns the sums of the diagonals of the matrices in the last two
// dimensions of x. x has shape [... M N], the result shape [...] and the type
// of x. The matrices need not be square. x holds numbers; types that are none
// are refused with INVALID_ARGUMENT when the graph is built. Fewer than two
// dimensions are refused with INVALID_ARGUMENT, when the graph is built if
// they are known, else in the step.
func Trace(x tf.Output) tf.Output {
	return scoped("Trace", x, func() tf.Output { return ops.Sum(ops.MatrixDiagPart(x), []int{-1}) })
}

// Eye returns a matrix of rows and columns with ones on the main diagonal and
// zeros elsewhere, repeated for each element of a batch of the given sizes.
// The result has the shape [batch... rows columns] and the numeric type d.
// Negative rows or columns are refused with INVALID_ARGUMENT when the graph
// is built.
func Eye(g *tf.Graph, rows, columns int, d tf.DType, batch ...int) (y tf.Output) {
	one, err := core.ScalarOf(d, 1)
	if err != nil || rows < 0 || columns < 0 {
		if err == nil {
			err = invalid("a matrix has at least 0 rows and columns, got %d and %d", rows, columns)
		}
		return tf.Failed(g, "eye", err).Output(0)
	}
	if g == nil {
		return ops.ConstValue(nil, one) // which has the error
	}
	g.Scope("eye", func() {
		v := ops.ConstValue(g, one)
		sizes := append([]int{}, batch...)
		ones := ops.Fill(append(sizes, min(rows, columns)), v)
		if rows == columns {
			y = ops.MatrixDiag(ones)
			return
		}
		y = ops.MatrixSetDiag(ops.Fill(append(sizes[:len(batch):len(batch)], rows, columns), ops.ZerosLike(v)), ones)
	})
	return y
}

// CholeskySolve returns the x for which A·x = b, where chol is the Cholesky
// factor of A, [... M M], and b is [... M K]. The result has the shape and
// the type of MatrixTriangularSolve, which runs twice: dimensions before the
// last two broadcast, and what does not fit is refused with INVALID_ARGUMENT.
// Only the lower triangle of chol is looked at.
func CholeskySolve(chol, b tf.Output) tf.Output {
	return scoped("cholesky_solve", chol, func() tf.Output {
		return MatrixTriangularSolve(chol, MatrixTriangularSolve(chol, b), TriangleOpts{Adjoint: true})
	})
}

// LogDet returns the logarithms of the determinants of Hermitian positive
// definite matrices. x has shape [... N N] and the types of Cholesky, the
// result shape [...] and, for complex x, the type of its real part. The
// result for a matrix that is not positive definite is NaN. Matrices that are
// not square are refused with INVALID_ARGUMENT.
func LogDet(x tf.Output) tf.Output {
	return scoped("logdet", x, func() tf.Output {
		d := ops.MatrixDiagPart(Cholesky(x))
		if x.DType().Base().IsComplex() {
			d = ops.Real(d)
		}
		sum := ops.Sum(ops.Log(d), []int{-1})
		return ops.Mul(constLike(sum, 2), sum)
	})
}

// EighTridiagonal returns the eigenvalues, in ascending order, and
// eigenvectors of Hermitian matrices [N N] with the diagonals alpha [... N]
// and beta [... N-1] below them. Only the real part of alpha counts. The
// matrices are built as dense ones; options, results and errors are those of
// SelfAdjointEigV2, but values are real for complex alpha too.
func EighTridiagonal(alpha, beta tf.Output, opts ...tf.Option) (values, vectors tf.Output) {
	var dense tf.Output
	values = scoped("eigh_tridiagonal", alpha, func() tf.Output {
		g := alpha.Graph()
		k, all := ops.Scalar[int32](g, -1), ops.Scalar[int32](g, -1)
		dense = ops.AddV2(ops.MatrixDiag(alpha), ops.MatrixDiagV3(beta, k, all, all, constLike(beta, 0)))
		var e tf.Output
		e, vectors = SelfAdjointEigV2(dense, opts...)
		if e.DType().Base().IsComplex() {
			e = ops.Real(e)
		}
		return e
	})
	if alpha.Err() != nil {
		vectors = alpha
	}
	return values, vectors
}
