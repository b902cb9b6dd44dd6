package linalg

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// parts returns the lower triangle, with a diagonal of ones, and the upper one of
// what Lu returns.
func parts(lu tf.Output) (lower, upper tf.Output) {
	g := lu.Graph()
	zero, all := ops.Scalar[int64](g, 0), ops.Scalar[int64](g, -1)
	lower = ops.MatrixBandPart(lu, all, zero)
	lower = ops.MatrixSetDiag(lower, ops.OnesLike(ops.MatrixDiagPart(lu)))
	return lower, ops.MatrixBandPart(lu, zero, all)
}

// permuted returns the rows of matrices in the order p. What matrices and orders have
// before their own dimensions is broadcast.
func permuted(x, p tf.Output) tf.Output {
	s, n := x.Shape(), len(p.Shape())
	if n == 0 {
		return refused(p, "permute_rows", "the rank of a permutation must be known and at least 1, got shape %v", p.Shape())
	}
	if n == 1 {
		return ops.Gather(x, p, -2)
	}
	if len(s) == n+1 && s[:n-1].Compatible(p.Shape()[:n-1]) {
		return ops.Gather(x, p, n-1, ops.GatherOpts{BatchDims: n - 1})
	}
	return permutedEach(x, p)
}

// permutedEach is permuted for matrices and orders in batches of different shapes, which
// Gather does not broadcast.
func permutedEach(x, p tf.Output) tf.Output {
	join := func(parts ...tf.Output) tf.Output { return ops.Concat(0, parts) }
	sx, sp := ops.Shape(x), ops.Shape(p)
	batch := ops.BroadcastArgs(sx.At(":-2"), sp.At(":-1"))
	count := ops.Prod(batch, []int{0}, keepDims)
	matrix, order := sx.At("-2:"), sp.At("-1:")
	rows := ops.Reshape(ops.BroadcastTo(x, join(batch, matrix)), join(count, matrix))
	orders := ops.Reshape(ops.BroadcastTo(p, join(batch, order)), join(count, order))
	y := ops.Gather(rows, orders, 1, ops.GatherOpts{BatchDims: 1})
	return ops.Reshape(y, join(batch, order, sx.At("-1:")))
}

// LuReconstruct returns the matrices that Lu has factored into lu and p. lu
// has shape [... N N], which the result keeps, and p shape [... N]. The rank
// of p must be known; else the graph is refused with INVALID_ARGUMENT when it
// is built.
func LuReconstruct(lu, p tf.Output) tf.Output {
	return scoped("lu_reconstruct", lu, func() tf.Output {
		lower, upper := parts(lu)
		return permuted(multiplied(lower, upper), ops.ArgSort(p, -1, false))
	})
}

// LuSolve returns the x for which A·x = b, where Lu has factored A [... M M]
// into lu and p, and b is [... M K]. p has shape [... M], and its rank must
// be known; else the graph is refused with INVALID_ARGUMENT when it is built.
// The result has the shape and the type of b; dimensions before the last two
// broadcast.
func LuSolve(lu, p, b tf.Output) tf.Output {
	return scoped("lu_solve", lu, func() tf.Output {
		lower, upper := parts(lu)
		return MatrixTriangularSolve(upper, MatrixTriangularSolve(lower, permuted(b, p)), TriangleOpts{Upper: true})
	})
}

// LuMatrixInverse returns the inverses of the matrices that Lu has factored
// into lu and p. lu has shape [... N N], which the result keeps, and p shape
// [... N]. The rank of p must be known; else the graph is refused with
// INVALID_ARGUMENT when it is built.
func LuMatrixInverse(lu, p tf.Output) tf.Output {
	return scoped("lu_matrix_inverse", lu, func() tf.Output {
		ones := ops.OnesLike(ops.MatrixDiagPart(lu))
		return LuSolve(lu, p, ops.MatrixDiag(ones))
	})
}

// Tensordot returns the sums of products of a and b along pairs of axes: axis
// axesA[i] of a goes with axis axesB[i] of b. The other axes of a come first,
// then those of b. The ranks must be known. A negative axis counts from the
// end. Unknown ranks, lists of axes of different length, and axes that are
// out of range or occur twice are refused with INVALID_ARGUMENT when the
// graph is built; sizes that do not match are refused by MatMul, which
// computes the result, with the same code.
func Tensordot(a, b tf.Output, axesA, axesB []int) tf.Output {
	return scoped("Tensordot", a, func() tf.Output {
		if b.Err() != nil {
			return b
		}
		if a.Shape() == nil || b.Shape() == nil || len(axesA) != len(axesB) {
			return refused(a, "Tensordot", "tensordot needs known ranks and as many axes of a as of b, got shapes %v and %v, axes %v and %v", a.Shape(), b.Shape(), axesA, axesB)
		}
		left, leftFree, err := unfolded(a, axesA, false)
		if err != nil {
			return refused(a, "Tensordot", "%v", err)
		}
		right, rightFree, err := unfolded(b, axesB, true)
		if err != nil {
			return refused(a, "Tensordot", "%v", err)
		}
		return ops.Reshape(ops.MatMul(left, right), ops.Concat(0, []tf.Output{leftFree, rightFree}))
	})
}

// unfolded returns x as a matrix whose columns, or rows if first, are what lies along
// axes, and the sizes of its other axes.
func unfolded(x tf.Output, axes []int, first bool) (m, free tf.Output, err error) {
	rank := len(x.Shape())
	taken := make([]bool, rank)
	var along, rest []int
	for _, a := range axes {
		k := a
		if k < 0 {
			k += rank
		}
		if k < 0 || k >= rank || taken[k] {
			return m, free, invalid("axes must be different and in [-%d, %d), got %v", rank, rank, axes)
		}
		taken[k] = true
		along = append(along, k)
	}
	for k := range rank {
		if !taken[k] {
			rest = append(rest, k)
		}
	}
	shape := ops.Shape(x)
	pick := func(which []int) tf.Output { return ops.Gather(shape, ints(x, which), 0) }
	sizes := [2]tf.Output{ops.Prod(pick(rest), []int{0}), ops.Prod(pick(along), []int{0})}
	perm := append(append([]int{}, rest...), along...)
	if first {
		sizes[0], sizes[1] = sizes[1], sizes[0]
		perm = append(append([]int{}, along...), rest...)
	}
	return ops.Reshape(ops.Transpose(x, perm), ops.Stack(sizes[:], 0)), pick(rest), nil
}

func ints(x tf.Output, v []int) tf.Output {
	out := make([]int32, len(v))
	for i, k := range v {
		out[i] = int32(k)
	}
	return ops.Const(x.Graph(), out, len(v))
}

// The coefficients of the numerators of Padé approximants of e^x, of orders 7 and 13,
// and the norms up to which they are exact to the last bit: Higham, "The Scaling and
// Squaring Method for the Matrix Exponential Revisited", 2005.
var (
	pade7  = []float64{17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1}
	pade13 = []float64{64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
		670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}
)

const (
	bound7  = 3.925724783138660
	bound13 = 5.371920351148152
)

// Expm returns the exponentials of square matrices: Σ xⁿ/n!. x has shape
// [... N N], which the result keeps, and the types of MatrixSolve. It is a
// Padé approximant of order 7, or 13 for float64 and complex128, of a scaled
// matrix that is squared again (Higham, 2005). What MatrixSolve cannot solve,
// such as matrices with NaN, fails with INVALID_ARGUMENT in the step.
func Expm(x tf.Output) tf.Output {
	return scoped("matrix_exponential", x, func() tf.Output {
		coefficients, bound := pade7, bound7
		if d := x.DType().Base(); d == tf.Float64 || d == tf.Complex128 {
			coefficients, bound = pade13, bound13
		}
		norm := ops.Max(ops.Sum(magnitudes(x), []int{-2}, keepDims), []int{-1}, keepDims)
		two := constLike(norm, 2)
		times := ops.Floor(ops.RealDiv(ops.Log(ops.RealDiv(norm, constLike(norm, bound))), ops.Log(two)))
		times = ops.Maximum(constLike(norm, 0), ops.AddV2(times, constLike(norm, 1)))
		times = ops.SelectV2(ops.IsFinite(times), times, ops.ZerosLike(times)) // the norm is 0 or no number
		small := ops.RealDiv(x, ops.Cast(ops.Pow(two, times), x.DType().Base()))
		return squared(approximant(small, coefficients), times)
	})
}

// approximant returns the quotient of two polynomials of x that is close to e^x: the
// odd powers have another sign in the denominator.
func approximant(x tf.Output, c []float64) tf.Output {
	one := ops.MatrixSetDiag(ops.ZerosLike(x), ops.OnesLike(ops.MatrixDiagPart(x)))
	power, square := one, multiplied(x, x)
	var even, odd []tf.Output
	for k := 0; k+1 < len(c); k += 2 {
		if k > 0 {
			power = multiplied(power, square)
		}
		even = append(even, ops.Mul(constLike(x, c[k]), power))
		odd = append(odd, ops.Mul(constLike(x, c[k+1]), power))
	}
	u, v := multiplied(x, ops.AddN(odd)), ops.AddN(even)
	return MatrixSolve(ops.Sub(v, u), ops.AddV2(v, u))
}

// squared squares matrix i of x times[i] times.
func squared(x, times tf.Output) tf.Output {
	most := ops.Max(times, ops.AllAxes)
	out := tf.While([]tf.Output{x, ops.ZerosLike(most)},
		func(v []tf.Output) tf.Output { return ops.Less(v[1], most) },
		func(v []tf.Output) []tf.Output {
			again := ops.BroadcastTo(ops.Less(v[1], times), ops.Shape(v[0]))
			return []tf.Output{ops.SelectV2(again, multiplied(v[0], v[0]), v[0]), v[1].Add(constLike(most, 1))}
		})
	return out[0]
}
