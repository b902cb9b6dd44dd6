package linalg

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// conjugated returns x, or its conjugate for adjoints.
func conjugated(x tf.Output, adjoint bool) tf.Output {
	if adjoint {
		return conjOf(x)
	}
	return x
}

// ofRows returns x, or refuses it if it is known not to be matrices of n rows: what has a
// single row would be broadcast. An n of -1 is not known.
func ofRows(x tf.Output, n int) tf.Output {
	s := x.Shape()
	if s != nil && (len(s) < 2 || n >= 0 && s[len(s)-2] >= 0 && s[len(s)-2] != n) {
		return refused(x, "matmul", "an operator of %d columns needs matrices of as many rows, got shape %v", n, s)
	}
	return x
}

// LinearOperatorDiag is a diagonal matrix with the diagonal d [... N]. d has
// numeric elements. Solve divides by them, so that a 0 gives an infinity or
// NaN, not an error. Matrices that are known to have other than N rows are
// refused with INVALID_ARGUMENT when the graph is built.
func LinearOperatorDiag(d tf.Output) LinearOperator {
	column := func(adjoint bool) tf.Output { return ops.ExpandDims(conjugated(d, adjoint), -1) }
	matrices := func(x tf.Output) tf.Output { return ofRows(x, lastSize(d)) }
	return operator(d.Graph(), structure{
		dense:  func() tf.Output { return ops.MatrixDiag(d) },
		matmul: func(x tf.Output, adjoint bool) tf.Output { return ops.Mul(column(adjoint), matrices(x)) },
		solve:  func(b tf.Output, adjoint bool) tf.Output { return ops.RealDiv(matrices(b), column(adjoint)) },
		diag:   func() tf.Output { return d },
		det:    func() tf.Output { return ops.Prod(d, []int{-1}) },
	})
}

// LinearOperatorIdentity is the identity of n rows. d is its type. MatMul and
// Solve return their argument and check nothing; ToDense is Eye, which
// refuses a negative n with INVALID_ARGUMENT.
func LinearOperatorIdentity(g *tf.Graph, n int, d tf.DType) LinearOperator {
	same := func(x tf.Output, _ bool) tf.Output { return x }
	return operator(g, structure{dense: func() tf.Output { return Eye(g, n, n, d) }, matmul: same, solve: same})
}

// LinearOperatorScaledIdentity is the identity of n rows times multiplier
// [...]. It has the type of multiplier. Solve divides by multiplier, so that
// a 0 gives an infinity or NaN, not an error. Matrices that are known to have
// other than n rows are refused with INVALID_ARGUMENT when the graph is built.
func LinearOperatorScaledIdentity(n int, multiplier tf.Output) LinearOperator {
	factor := func(adjoint bool) tf.Output {
		return ops.ExpandDims(ops.ExpandDims(conjugated(multiplier, adjoint), -1), -1)
	}
	return operator(multiplier.Graph(), structure{
		dense: func() tf.Output {
			return ops.Mul(factor(false), Eye(multiplier.Graph(), n, n, multiplier.DType().Base()))
		},
		matmul: func(x tf.Output, adjoint bool) tf.Output { return ops.Mul(ofRows(x, n), factor(adjoint)) },
		solve:  func(b tf.Output, adjoint bool) tf.Output { return ops.RealDiv(ofRows(b, n), factor(adjoint)) },
	})
}

// LinearOperatorZeros is a matrix of zeros. It has the shape [rows columns]
// and the type d. Negative sizes are refused by Eye with INVALID_ARGUMENT.
// Solve fails, as there is no inverse.
func LinearOperatorZeros(g *tf.Graph, rows, columns int, d tf.DType) LinearOperator {
	return operator(g, structure{dense: func() tf.Output {
		m := Eye(g, rows, columns, d)
		return ops.ZerosLike(m)
	}})
}

// LinearOperatorLowerTriangular is the lower triangle of a matrix. m has
// shape [... N N]. Solve is MatrixTriangularSolve: a 0 on the diagonal gives
// an infinity or NaN, not an error.
func LinearOperatorLowerTriangular(m tf.Output) LinearOperator {
	diag := func() tf.Output { return ops.MatrixDiagPart(m) }
	return operator(m.Graph(), structure{
		dense: func() tf.Output {
			g := m.Graph()
			return ops.MatrixBandPart(m, ops.Scalar[int64](g, -1), ops.Scalar[int64](g, 0))
		},
		solve: func(b tf.Output, adjoint bool) tf.Output {
			return MatrixTriangularSolve(m, b, TriangleOpts{Adjoint: adjoint})
		},
		diag: diag,
		det:  func() tf.Output { return ops.Prod(diag(), []int{-1}) },
	})
}

// LinearOperatorHouseholder is the reflection at the plane that is orthogonal
// to v [... N]: I - 2·v·vᴴ/|v|². v has floating-point or complex numbers and
// any length but 0. The operator is its own inverse, and its determinant is
// -1. A v of zeros gives NaN. A scalar v, and matrices that do not have N
// rows, are refused with INVALID_ARGUMENT by the functions that compute with
// the operator.
// Such reflections are those of Householder (1958).
func LinearOperatorHouseholder(v tf.Output) LinearOperator {
	reflect := func(x tf.Output, _ bool) tf.Output {
		unit := ops.ExpandDims(ops.RealDiv(v, ops.Cast(Norm(v, Euclidean, []int{-1}, true), v.DType().Base())), -1)
		along := multiplied(unit, multiplied(unit, x, ops.BatchMatMulOpts{AdjX: true}))
		return ops.Sub(x, ops.Mul(constLike(x, 2), along))
	}
	return operator(v.Graph(), structure{
		dense: func() tf.Output {
			return reflect(ops.MatrixDiag(ops.OnesLike(v)), false)
		},
		matmul: reflect, solve: reflect,
		det: func() tf.Output { return ops.Neg(ops.Sum(ops.ZerosLike(v), []int{-1}).Add(1)) },
	})
}

// LinearOperatorPermutation moves element p[i] to place i: p [... N] is a
// permutation of type Int32 or Int64, and d the type of the matrix. The rank
// of p must be known and at least 1; else products are refused with
// INVALID_ARGUMENT when the graph is built. That p has each number once is
// not checked.
func LinearOperatorPermutation(p tf.Output, d tf.DType) LinearOperator {
	move := func(x tf.Output, back bool) tf.Output {
		if back {
			return permuted(x, ops.ArgSort(p, -1, false))
		}
		return permuted(x, p)
	}
	return operator(p.Graph(), structure{
		dense: func() tf.Output {
			g := p.Graph()
			n := ops.Shape(p).At("-1")
			return ops.Cast(ops.OneHot(p, n, ops.Scalar[float32](g, 1), ops.Scalar[float32](g, 0)), d)
		},
		matmul: move,
		solve:  func(b tf.Output, adjoint bool) tf.Output { return move(b, !adjoint) },
	})
}

// LinearOperatorTridiag is a matrix with three diagonals [... 3 N]: the one
// above the main diagonal, whose last element does not count, the main one,
// and the one below, whose first element does not count. Solve is
// TridiagonalSolve, which gives NaN where there is no solution, and takes the
// types of that function; the solution with the adjoint is MatrixSolve of the
// dense matrix. Another number of diagonals than three is refused with
// INVALID_ARGUMENT by TridiagonalSolve and by the functions that need the
// dense matrix.
func LinearOperatorTridiag(diagonals tf.Output) LinearOperator {
	s := structure{
		home: diagonals.Graph(),
		dense: func() tf.Output {
			g := diagonals.Graph()
			all := ops.Scalar[int32](g, -1)
			return ops.MatrixDiagV3(diagonals, ops.Const(g, []int32{-1, 1}), all, all, constLike(diagonals, 0), ops.DiagAlignOpts{Align: "LEFT_RIGHT"})
		},
		diag: func() tf.Output { return diagonals.At("..., 1, :") },
	}
	s.solve = func(b tf.Output, adjoint bool) tf.Output {
		if adjoint {
			a, b := sameBatches(LinearOperator{&s}.ToDense(), b)
			return MatrixSolve(a, b, AdjointOpts{Adjoint: true})
		}
		return TridiagonalSolve(sameBatches(diagonals, b))
	}
	return LinearOperator{&s}
}

// LinearOperatorToeplitz is a square matrix whose diagonals are constant, with
// the first column and the first row that are given, [... N]; the column has
// the corner. The first element of row is not looked at. All computations use
// the dense matrix. Vectors of different types, and of different lengths where
// those are known, are refused with INVALID_ARGUMENT when the graph is built;
// else a row that is shorter than the column is refused in the step.
func LinearOperatorToeplitz(column, row tf.Output) LinearOperator {
	if c, r := lastSize(column), lastSize(row); c >= 0 && r >= 0 && c != r {
		return impossible("LinearOperatorToeplitz", invalid("Expected square matrix, got row and col with mismatched dimensions: %d and %d", r, c))
	}
	return operator(column.Graph(), structure{dense: func() tf.Output {
		g := column.Graph()
		n := ops.Shape(column).At("-1")
		all := ops.Concat(-1, []tf.Output{ops.Reverse(row.At("..., 1:"), []int{-1}), column})
		i := ops.Range(nil, ops.Scalar[int32](g, 0), n, ops.Scalar[int32](g, 1))
		at := ops.ExpandDims(i, 1).Sub(ops.ExpandDims(i, 0)).Add(n).Sub(1)
		return ops.Gather(all, at, -1)
	}})
}

// lastSize returns the last dimension of x, -1 if it is not known.
func lastSize(x tf.Output) int {
	s := x.Shape()
	if len(s) == 0 {
		return -1
	}
	return s[len(s)-1]
}

// LinearOperatorKronecker is the Kronecker product of operators. No operators
// are refused with INVALID_ARGUMENT. All computations use the dense matrix,
// whose rows and columns are the products of those of the operators.
func LinearOperatorKronecker(os ...LinearOperator) LinearOperator {
	if len(os) == 0 {
		return none("LinearOperatorKronecker")
	}
	return operator(os[0].made().home, structure{dense: func() tf.Output {
		m := os[0].ToDense()
		for _, o := range os[1:] {
			m = kronecker(m, o.ToDense())
		}
		return m
	}})
}

func kronecker(a, b tf.Output) tf.Output {
	left := ops.ExpandDims(ops.ExpandDims(a, -2), -1)
	right := ops.ExpandDims(ops.ExpandDims(b, -3), -2)
	y := ops.Mul(left, right.At("..., :, :, :, :"))
	s := ops.Shape(y)
	size := ops.Stack([]tf.Output{s.At("-4").Mul(s.At("-3")), s.At("-2").Mul(s.At("-1"))}, 0)
	return ops.Reshape(y, ops.Concat(0, []tf.Output{s.At(":-4"), size}))
}

// LinearOperatorBlockDiag has operators, of which the sizes must be known, on
// its diagonal, and zeros elsewhere. A number of columns that is not known is
// refused with INVALID_ARGUMENT when the dense matrix is built, which all
// computations use, and so are no operators. The blocks have the same
// dimensions before the last two.
func LinearOperatorBlockDiag(os ...LinearOperator) LinearOperator {
	if len(os) == 0 {
		return none("LinearOperatorBlockDiag")
	}
	return operator(os[0].made().home, structure{dense: func() tf.Output {
		columns, before := 0, 0
		blocks := make([]tf.Output, len(os))
		for i, o := range os {
			blocks[i] = o.ToDense()
			s := blocks[i].Shape()
			if len(s) < 2 || s[len(s)-1] < 0 {
				return refused(blocks[i], "LinearOperatorBlockDiag", "the sizes of blocks must be known, got shape %v", s)
			}
			columns += s[len(s)-1]
		}
		var rows []tf.Output
		for _, m := range blocks {
			s := m.Shape()
			n := s[len(s)-1]
			pad := make([][2]int, len(s))
			pad[len(s)-1] = [2]int{before, columns - before - n}
			rows = append(rows, ops.Pad(m, pad))
			before += n
		}
		return ops.Concat(-2, rows)
	}})
}
