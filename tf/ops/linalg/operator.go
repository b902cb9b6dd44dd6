package linalg

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A LinearOperator is a matrix [... M N], or a batch of them, that is known by its
// structure: what can be computed without the matrix is. The functions named
// LinearOperator... make them, as TensorFlow's classes do. The zero LinearOperator is
// none.
type LinearOperator struct{ *structure }

// made returns o, or for the zero LinearOperator one whose results carry the error.
func (o LinearOperator) made() LinearOperator {
	if o.structure == nil {
		return impossible("LinearOperator", invalid("an operator must be made by one of the functions LinearOperator..., got the zero LinearOperator"))
	}
	return o
}

// A structure says how to compute with an operator. What is nil is computed with the
// matrix.
type structure struct {
	home   *tf.Graph // that of what the operator was made of
	matrix tf.Output // once it was needed
	dense  func() tf.Output
	matmul func(x tf.Output, adjoint bool) tf.Output
	solve  func(b tf.Output, adjoint bool) tf.Output
	diag   func() tf.Output
	det    func() tf.Output
}

// ToDense returns the matrix. It has shape [... M N]. An operator computes it
// once and keeps it, except in a loop, a branch or the body of a function,
// outside of which it has no value.
func (o LinearOperator) ToDense() tf.Output {
	o = o.made()
	if !o.matrix.IsZero() {
		return o.matrix
	}
	m := o.dense()
	if op := m.Operation(); op != nil && op.ControlFlowContext() == nil && m.Graph() == o.home {
		o.matrix = m
	}
	return m
}

// MatMul returns the product of the operator and matrices x [... N K]. The
// result has shape [... M K]. Its type is that of the operator, and so is
// that of x; sizes that do not match are refused with INVALID_ARGUMENT by the
// op that computes it, which is BatchMatMulV2 for an operator without a form
// of its own.
func (o LinearOperator) MatMul(x tf.Output) tf.Output { return o.multiply(x, false) }

func (o LinearOperator) multiply(x tf.Output, adjoint bool) tf.Output {
	o = o.made()
	if o.matmul != nil {
		return o.matmul(x, adjoint)
	}
	return multiplied(o.ToDense(), x, ops.BatchMatMulOpts{AdjX: adjoint})
}

// MatVec returns the product of the operator and vectors x [... N]. The
// result has shape [... M]. Types and errors are those of MatMul.
func (o LinearOperator) MatVec(x tf.Output) tf.Output {
	return scoped("matvec", x, func() tf.Output { return ops.Squeeze(o.MatMul(ops.ExpandDims(x, -1)), []int{-1}) })
}

// Solve returns the x [... N K] for which the operator's product with it is b
// [... N K]. The operator must be square and have an inverse. Dimensions
// before the last two broadcast. An operator without a form of its own is
// solved by MatrixSolve, which fails with INVALID_ARGUMENT in the step if
// there is no inverse.
func (o LinearOperator) Solve(b tf.Output) tf.Output { return o.solution(b, false) }

func (o LinearOperator) solution(b tf.Output, adjoint bool) tf.Output {
	o = o.made()
	if o.solve != nil {
		return o.solve(b, adjoint)
	}
	a, b := sameBatches(o.ToDense(), b)
	return MatrixSolve(a, b, AdjointOpts{Adjoint: adjoint})
}

// sameBatches repeats matrices so that the dimensions before the last two are equal: MatMul
// broadcasts these, the ops that solve do not.
func sameBatches(a, b tf.Output) (tf.Output, tf.Output) {
	sa, sb := a.Shape(), b.Shape()
	if len(sa) < 2 || len(sb) < 2 || sa[:len(sa)-2].Compatible(sb[:len(sb)-2]) {
		return a, b
	}
	wholeA, wholeB := ops.Shape(a), ops.Shape(b)
	batch := ops.BroadcastArgs(wholeA.At(":-2"), wholeB.At(":-2"))
	repeated := func(x, whole tf.Output) tf.Output {
		return ops.BroadcastTo(x, ops.Concat(0, []tf.Output{batch, whole.At("-2:")}))
	}
	return repeated(a, wholeA), repeated(b, wholeB)
}

// SolveVec is Solve for vectors b [... N]. The result has the shape of b;
// errors are those of Solve.
func (o LinearOperator) SolveVec(b tf.Output) tf.Output {
	return scoped("solvevec", b, func() tf.Output { return ops.Squeeze(o.Solve(ops.ExpandDims(b, -1)), []int{-1}) })
}

// DiagPart returns the diagonal. The result has shape [... P], where P is the
// smaller of M and N.
func (o LinearOperator) DiagPart() tf.Output {
	o = o.made()
	if o.diag != nil {
		return o.diag()
	}
	return ops.MatrixDiagPart(o.ToDense())
}

// Trace returns the sum of the diagonal. The result has shape [...] and the
// type of the operator.
func (o LinearOperator) Trace() tf.Output { return ops.Sum(o.DiagPart(), []int{-1}) }

// Determinant returns the determinant of a square operator. The result has
// shape [...] and the type of the operator. An operator that is not square is
// refused with INVALID_ARGUMENT where MatrixDeterminant computes the result.
func (o LinearOperator) Determinant() tf.Output {
	o = o.made()
	if o.det != nil {
		return o.det()
	}
	return MatrixDeterminant(o.ToDense())
}

// LogAbsDeterminant returns the logarithm of the absolute value of the
// determinant. The result has shape [...]; it is minus infinity for an
// operator without inverse. Errors are those of Determinant.
func (o LinearOperator) LogAbsDeterminant() tf.Output {
	o = o.made()
	if o.det != nil {
		return ops.Log(magnitudes(o.det()))
	}
	_, log := LogMatrixDeterminant(o.ToDense())
	return log
}

// operator makes a LinearOperator of what belongs to a graph.
func operator(home *tf.Graph, s structure) LinearOperator {
	s.home = home
	return LinearOperator{&s}
}

// LinearOperatorFullMatrix is a matrix without structure. m has shape
// [... M N]. Shapes and types are checked by the functions that compute with
// the matrix: MatMul and MatrixSolve among others. LinearOperatorFullMatrix
// itself refuses nothing.
func LinearOperatorFullMatrix(m tf.Output) LinearOperator {
	return operator(m.Graph(), structure{matrix: m, dense: func() tf.Output { return m }}) // m may be the zero Output
}

// LinearOperatorAdjoint is the conjugate transpose of an operator. It computes
// with o and keeps the structure of o. Its functions refuse what those of o
// refuse.
func LinearOperatorAdjoint(o LinearOperator) LinearOperator {
	o = o.made()
	return operator(o.home, structure{
		dense:  func() tf.Output { return Adjoint(o.ToDense()) },
		matmul: func(x tf.Output, adjoint bool) tf.Output { return o.multiply(x, !adjoint) },
		solve:  func(b tf.Output, adjoint bool) tf.Output { return o.solution(b, !adjoint) },
		diag:   func() tf.Output { return conjOf(o.DiagPart()) },
		det:    func() tf.Output { return conjOf(o.Determinant()) },
	})
}

// LinearOperatorInversion is the inverse of a square operator. MatMul solves
// with o, and Solve multiplies by o. An operator that is not square or has no
// inverse fails with INVALID_ARGUMENT where MatrixSolve or MatrixInverse says
// so.
func LinearOperatorInversion(o LinearOperator) LinearOperator {
	o = o.made()
	return operator(o.home, structure{
		dense:  func() tf.Output { return MatrixInverse(o.ToDense()) },
		matmul: o.solution,
		solve:  o.multiply,
		det:    func() tf.Output { return ops.Reciprocal(o.Determinant()) },
	})
}

// LinearOperatorComposition is the product of operators, the last of which is
// applied first. No operators are refused with INVALID_ARGUMENT. MatMul and
// Solve use one operator after the other; only ToDense and what depends on it
// multiply the matrices.
func LinearOperatorComposition(os ...LinearOperator) LinearOperator {
	if len(os) == 0 {
		return none("LinearOperatorComposition")
	}
	return operator(os[0].made().home, structure{
		dense: func() tf.Output {
			m := os[0].ToDense()
			for _, o := range os[1:] {
				m = multiplied(m, o.ToDense())
			}
			return m
		},
		matmul: func(x tf.Output, adjoint bool) tf.Output {
			return through(os, x, !adjoint, func(o LinearOperator, x tf.Output) tf.Output { return o.multiply(x, adjoint) })
		},
		solve: func(b tf.Output, adjoint bool) tf.Output {
			return through(os, b, adjoint, func(o LinearOperator, b tf.Output) tf.Output { return o.solution(b, adjoint) })
		},
	})
}

// none is what is made of a list of operators that must not be empty.
func none(name string) LinearOperator {
	return impossible(name, invalid("%s: Expected a non-empty list of operators.", name))
}

// impossible is an operator that cannot be.
func impossible(name string, err error) LinearOperator {
	return LinearOperatorFullMatrix(tf.Failed(nil, name, err).Output(0))
}

// through applies f by one operator after the other, the last one first if it is so.
func through(os []LinearOperator, x tf.Output, last bool, f func(o LinearOperator, x tf.Output) tf.Output) tf.Output {
	for i := range os {
		if last {
			i = len(os) - 1 - i
		}
		x = f(os[i], x)
	}
	return x
}

// LinearOperatorLowRankUpdate is base + u·diag(d)·vᴴ, for matrices u [... M K]
// and v [... N K] and a vector d [... K]. d, which stands for ones, and v,
// which stands for u, may be the zero Output. The product with a matrix does
// not build the dense one; Solve and Determinant do. All have one type. Other
// types, and sizes that neither match nor broadcast, are refused with
// INVALID_ARGUMENT: those of u and d when the operator is made, if they are
// known then, the others by the functions that compute with it.
func LinearOperatorLowRankUpdate(base LinearOperator, u, d, v tf.Output) LinearOperator {
	if v.IsZero() {
		v = u
	}
	scaled := u
	if !d.IsZero() {
		scaled = ops.Mul(u, ops.ExpandDims(d, -2))
	}
	return operator(u.Graph(), structure{
		dense: func() tf.Output {
			return ops.AddV2(base.ToDense(), multiplied(scaled, v, ops.BatchMatMulOpts{AdjY: true}))
		},
		matmul: func(x tf.Output, adjoint bool) tf.Output {
			left, right := scaled, v
			if adjoint {
				left, right = v, scaled
			}
			return ops.AddV2(base.multiply(x, adjoint), multiplied(left, multiplied(right, x, ops.BatchMatMulOpts{AdjX: true})))
		},
	})
}

// ConjugateGradient returns the x for which a·x = b, for an operator a that
// is Hermitian and positive definite and vectors b [... N], and how many
// iterations it took, int32. The method is that of Hestenes and Stiefel
// (1952). It ends after the given number of iterations, or when the norm of
// the residual is at most tolerance times the norm of b. All vectors of the
// batch take as many iterations as the one that needs most. x has the shape
// and the type of b, which are floating-point or complex numbers. Errors are
// those of a's MatVec. A vector of zeros beside others gives NaN.
func ConjugateGradient(a LinearOperator, b tf.Output, tolerance float64, iterations int) (x, taken tf.Output) {
	if b.Err() != nil {
		return b, b
	}
	g, most := b.Graph(), int32(min(iterations, math.MaxInt32))
	dot := func(x, y tf.Output) tf.Output { return ops.Sum(ops.Mul(conjOf(x), y), []int{-1}, keepDims) }
	size := func(x tf.Output) tf.Output { return Norm(x, Euclidean, []int{-1}, false) }
	g.Scope("conjugate_gradient", func() {
		limit := ops.Mul(size(b), constLike(size(b), tolerance))
		out := tf.While([]tf.Output{ops.Scalar[int32](g, 0), ops.ZerosLike(b), b, b, dot(b, b)},
			func(v []tf.Output) tf.Output {
				far := ops.Any(ops.Greater(size(v[2]), limit), ops.AllAxes)
				return far.And(v[0].Less(ops.Scalar(g, most)))
			},
			func(v []tf.Output) []tf.Output {
				i, x, r, p, gamma := v[0], v[1], v[2], v[3], v[4]
				z := a.MatVec(p)
				alpha := ops.RealDiv(gamma, dot(p, z))
				x, r = ops.AddV2(x, ops.Mul(alpha, p)), ops.Sub(r, ops.Mul(alpha, z))
				next := dot(r, r)
				p = ops.AddV2(r, ops.Mul(ops.RealDiv(next, gamma), p))
				return []tf.Output{i.Add(1), x, r, p, next}
			})
		x, taken = out[1], out[0]
	})
	return x, taken
}
