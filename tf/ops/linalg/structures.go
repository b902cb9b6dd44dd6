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

// LinearOperatorDiag is a diagonal matrix with the diagonal d [... N].
func LinearOperatorDiag(d tf.Output) LinearOperator {
	column := func(adjoint bool) tf.Output { return ops.ExpandDims(conjugated(d, adjoint), -1) }
	return operator(structure{
		dense:  func() tf.Output { return ops.MatrixDiag(d) },
		matmul: func(x tf.Output, adjoint bool) tf.Output { return ops.Mul(column(adjoint), x) },
		solve:  func(b tf.Output, adjoint bool) tf.Output { return ops.RealDiv(b, column(adjoint)) },
		diag:   func() tf.Output { return d },
		det:    func() tf.Output { return ops.Prod(d, []int{-1}) },
	})
}

// LinearOperatorIdentity is the identity of n rows.
func LinearOperatorIdentity(g *tf.Graph, n int, d tf.DType) LinearOperator {
	same := func(x tf.Output, _ bool) tf.Output { return x }
	return operator(structure{dense: func() tf.Output { return Eye(g, n, n, d) }, matmul: same, solve: same})
}

// LinearOperatorScaledIdentity is the identity of n rows times multiplier [...].
func LinearOperatorScaledIdentity(n int, multiplier tf.Output) LinearOperator {
	factor := func(adjoint bool) tf.Output {
		return ops.ExpandDims(ops.ExpandDims(conjugated(multiplier, adjoint), -1), -1)
	}
	return operator(structure{
		dense: func() tf.Output {
			return ops.Mul(factor(false), Eye(multiplier.Graph(), n, n, multiplier.DType().Base()))
		},
		matmul: func(x tf.Output, adjoint bool) tf.Output { return ops.Mul(x, factor(adjoint)) },
		solve:  func(b tf.Output, adjoint bool) tf.Output { return ops.RealDiv(b, factor(adjoint)) },
	})
}

// LinearOperatorZeros is a matrix of zeros.
func LinearOperatorZeros(g *tf.Graph, rows, columns int, d tf.DType) LinearOperator {
	return operator(structure{dense: func() tf.Output {
		m := Eye(g, rows, columns, d)
		return ops.ZerosLike(m)
	}})
}

// LinearOperatorLowerTriangular is the lower triangle of a matrix.
func LinearOperatorLowerTriangular(m tf.Output) LinearOperator {
	diag := func() tf.Output { return ops.MatrixDiagPart(m) }
	return operator(structure{
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

// LinearOperatorHouseholder is the reflection at the plane that is orthogonal to v
// [... N]: I - 2·v·vᴴ/|v|².
func LinearOperatorHouseholder(v tf.Output) LinearOperator {
	reflect := func(x tf.Output, _ bool) tf.Output {
		unit := ops.ExpandDims(ops.RealDiv(v, ops.Cast(Norm(v, Euclidean, []int{-1}, true), v.DType().Base())), -1)
		along := multiplied(unit, multiplied(unit, x, ops.BatchMatMulOpts{AdjX: true}))
		return ops.Sub(x, ops.Mul(constLike(x, 2), along))
	}
	return operator(structure{
		dense: func() tf.Output {
			return reflect(ops.MatrixDiag(ops.OnesLike(v)), false)
		},
		matmul: reflect, solve: reflect,
		det: func() tf.Output { return ops.Neg(ops.Sum(ops.ZerosLike(v), []int{-1}).Add(1)) },
	})
}

// LinearOperatorPermutation moves element p[i] to place i: p [... N] is a permutation
// of type Int32 or Int64, and d the type of the matrix.
func LinearOperatorPermutation(p tf.Output, d tf.DType) LinearOperator {
	move := func(x tf.Output, back bool) tf.Output {
		if back {
			return permuted(x, ops.ArgSort(p, -1, false))
		}
		return permuted(x, p)
	}
	return operator(structure{
		dense: func() tf.Output {
			g := p.Graph()
			n := ops.Shape(p).At("-1")
			return ops.Cast(ops.OneHot(p, n, ops.Scalar[float32](g, 1), ops.Scalar[float32](g, 0)), d)
		},
		matmul: move,
		solve:  func(b tf.Output, adjoint bool) tf.Output { return move(b, !adjoint) },
	})
}

// LinearOperatorTridiag is a matrix with three diagonals [... 3 N]: the one above the
// main diagonal, whose last element does not count, the main one, and the one below,
// whose first element does not count.
func LinearOperatorTridiag(diagonals tf.Output) LinearOperator {
	s := structure{
		dense: func() tf.Output {
			g := diagonals.Graph()
			all := ops.Scalar[int32](g, -1)
			return ops.MatrixDiagV3(diagonals, ops.Const(g, []int32{-1, 1}), all, all, constLike(diagonals, 0), ops.DiagAlignOpts{Align: "LEFT_RIGHT"})
		},
		diag: func() tf.Output { return diagonals.At("..., 1, :") },
	}
	s.solve = func(b tf.Output, adjoint bool) tf.Output {
		if adjoint {
			return MatrixSolve(LinearOperator{&s}.ToDense(), b, AdjointOpts{Adjoint: true})
		}
		return TridiagonalSolve(diagonals, b)
	}
	return LinearOperator{&s}
}

// LinearOperatorToeplitz is a square matrix whose diagonals are constant, with the first
// column and the first row that are given, [... N]; the column has the corner.
func LinearOperatorToeplitz(column, row tf.Output) LinearOperator {
	return operator(structure{dense: func() tf.Output {
		g := column.Graph()
		n := ops.Shape(column).At("-1")
		all := ops.Concat(-1, []tf.Output{ops.Reverse(row.At("..., 1:"), []int{-1}), column})
		i := ops.Range(nil, ops.Scalar[int32](g, 0), n, ops.Scalar[int32](g, 1))
		at := ops.ExpandDims(i, 1).Sub(ops.ExpandDims(i, 0)).Add(n).Sub(1)
		return ops.Gather(all, at, -1)
	}})
}

// LinearOperatorKronecker is the Kronecker product of operators.
func LinearOperatorKronecker(os ...LinearOperator) LinearOperator {
	return operator(structure{dense: func() tf.Output {
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

// LinearOperatorBlockDiag has operators, of which the sizes must be known, on its
// diagonal, and zeros elsewhere.
func LinearOperatorBlockDiag(os ...LinearOperator) LinearOperator {
	return operator(structure{dense: func() tf.Output {
		columns, before := 0, 0
		for _, o := range os {
			s := o.ToDense().Shape()
			if len(s) < 2 || s[len(s)-1] < 0 {
				return refused(o.ToDense(), "LinearOperatorBlockDiag", "the sizes of blocks must be known, got shape %v", s)
			}
			columns += s[len(s)-1]
		}
		var rows []tf.Output
		for _, o := range os {
			m := o.ToDense()
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
