package linalg

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// An Order is the p of a norm.
type Order float64

// Euclidean is the norm of vectors of order 2, and of matrices that of their
// elements: the Frobenius norm.
const Euclidean Order = 0

var keepDims = ops.ReduceOpts{KeepDims: true}

// Norm returns norms of x. With one axis, or with none, for all elements,
// they are those of vectors: (Σ|x|^p)^(1/p), the greatest |x| for p infinite.
// With two axes they are those of matrices: p may be Euclidean, 1 (the
// greatest sum of a column), infinite (of a row), or 2 (the greatest singular
// value). With keep the axes stay, with size 1. The result has the shape of x
// without the axes, and its type, or that of the real part of complex x. More
// than two axes, two that are one, an order that is negative or NaN, another
// order of a matrix norm, axes out of range, and order 2 of matrices of unknown rank or of rank below 2 are
// refused with INVALID_ARGUMENT when the graph is built.
func Norm(x tf.Output, p Order, axes []int, keep bool) tf.Output {
	return scoped("norm", x, func() tf.Output {
		if len(axes) > 2 || math.IsNaN(float64(p)) || p < 0 {
			return refused(x, "norm", "a norm has an order of at least 0 and at most two axes, got order %v, axes %v", float64(p), axes)
		}
		if len(axes) == 2 && p != Euclidean {
			return matrixNorm(x, p, axes, keep)
		}
		if len(axes) == 0 {
			axes = nil
		}
		o := ops.ReduceOpts{KeepDims: keep}
		abs := magnitudes(x)
		switch p {
		case Euclidean, 2:
			return ops.Sqrt(ops.Sum(squares(x), axes, o))
		case 1:
			return ops.Sum(abs, axes, o)
		case Order(math.Inf(1)):
			return ops.Max(abs, axes, o)
		}
		sum := ops.Sum(ops.Pow(abs, constLike(abs, float64(p))), axes, o)
		return ops.Pow(sum, constLike(sum, 1/float64(p)))
	})
}

// magnitudes returns |x|.
func magnitudes(x tf.Output) tf.Output {
	if x.DType().Base().IsComplex() {
		return ops.ComplexAbs(x)
	}
	return ops.Abs(x)
}

// squares returns |x|².
func squares(x tf.Output) tf.Output {
	if x.DType().Base().IsComplex() {
		return ops.Real(ops.Mul(x, conjOf(x)))
	}
	return ops.Square(x)
}

func matrixNorm(x tf.Output, p Order, axes []int, keep bool) tf.Output {
	if err := checkAxes(x.Shape(), axes); err != nil {
		return refused(x, "norm", "%v", err)
	}
	first, second := axes[0], axes[1]
	switch p {
	case 1:
		return sumThenMax(x, first, second, keep)
	case Order(math.Inf(1)):
		return sumThenMax(x, second, first, keep)
	case 2:
		return spectral(x, axes, keep)
	}
	return refused(x, "norm", "the order of a matrix norm is Euclidean, 1, 2 or infinite, got %v", float64(p))
}

// checkAxes refuses axes of matrices that are out of range or the same: the sum along one
// and the maximum along it again would be that of vectors.
func checkAxes(s tf.Shape, axes []int) error {
	a, b, rank := axes[0], axes[1], len(s)
	if s != nil {
		for _, axis := range axes {
			if axis < -rank || axis >= rank {
				return invalid("the axes of a matrix norm must be in [-%d, %d), got %v", rank, rank, axes)
			}
		}
		a, b = (a+rank)%rank, (b+rank)%rank
	}
	if a == b {
		return invalid("a matrix norm has two different axes, got %v", axes)
	}
	return nil
}

// sumThenMax sums |x| along one axis and takes the maximum along the other.
func sumThenMax(x tf.Output, sum, max int, keep bool) tf.Output {
	y := ops.Max(ops.Sum(magnitudes(x), []int{sum}, keepDims), []int{max}, keepDims)
	if keep {
		return y
	}
	return ops.Squeeze(y, []int{sum, max})
}

// spectral returns the greatest singular values.
func spectral(x tf.Output, axes []int, keep bool) tf.Output {
	rank := len(x.Shape())
	if rank < 2 {
		return refused(x, "norm", "this norm needs a known rank of at least 2, got shape %v", x.Shape())
	}
	var perm []int
	at := [2]int{(axes[0] + rank) % rank, (axes[1] + rank) % rank}
	for i := range rank {
		if i != at[0] && i != at[1] {
			perm = append(perm, i)
		}
	}
	s, _, _ := Svd(ops.Transpose(x, append(perm, at[0], at[1])), SvdOpts{ValuesOnly: true})
	y := ops.Max(realPart(s), []int{-1})
	if !keep {
		return y
	}
	for _, a := range []int{min(at[0], at[1]), max(at[0], at[1])} {
		y = ops.ExpandDims(y, a)
	}
	return y
}

// Normalize returns x divided by its norm, and the norm, with the axes kept.
// y has the shape and the type of x. A norm of 0 gives NaN. Orders and axes
// are refused as by Norm.
func Normalize(x tf.Output, p Order, axes []int) (y, norm tf.Output) {
	y = scoped("normalize", x, func() tf.Output {
		norm = Norm(x, p, axes, true)
		return ops.RealDiv(x, ops.Cast(norm, x.DType().Base()))
	})
	if x.Err() != nil {
		norm = x
	}
	return y, norm
}

// precision is the distance from 1 to the next number of a type.
func precision(d tf.DType) float64 {
	if d == tf.Float64 || d == tf.Complex128 {
		return 0x1p-52
	}
	return 0x1p-23
}

// longer returns the greater of the sizes of the matrices in x, in the type of y.
func longer(x, y tf.Output) tf.Output {
	s := ops.Shape(x)
	return ops.Cast(ops.Max(s.At("-2:"), ops.AllAxes), y.DType().Base())
}

// MatrixRank returns how many singular values of matrices exceed a tolerance:
// int32 numbers. A negative tolerance stands for that of NumPy, the greatest
// singular value times the greater size times the precision of the type. x has
// shape [... M N] and the types of Svd, the result shape [...]. Matrices with
// an element that is NaN or infinite have rank 0, since their singular values
// are NaN. Errors are those of Svd.
func MatrixRank(x tf.Output, tolerance float64) tf.Output {
	return scoped("matrix_rank", x, func() tf.Output {
		s, _, _ := Svd(x, SvdOpts{ValuesOnly: true})
		s = realPart(s)
		limit := constLike(s, tolerance)
		if tolerance < 0 {
			limit = ops.Mul(ops.Mul(constLike(s, precision(x.DType().Base())), longer(x, s)), ops.Max(s, []int{-1}, keepDims))
		}
		return ops.Sum(ops.Cast(ops.Greater(s, limit), tf.Int32), []int{-1})
	})
}

// Pinv returns the Moore-Penrose inverses of matrices (Penrose, 1955).
// Singular values below rcond times the greatest count as 0; a negative rcond
// stands for ten times the greater size times the precision of the type. x
// has shape [... M N] and the types of Svd, the result shape [... N M] and
// the type of x. Matrices of fewer than two dimensions are refused with
// INVALID_ARGUMENT.
func Pinv(x tf.Output, rcond float64) tf.Output {
	return scoped("pinv", x, func() tf.Output {
		s, u, v := Svd(x)
		s = realPart(s)
		part := constLike(s, rcond)
		if rcond < 0 {
			part = ops.Mul(constLike(s, 10*precision(x.DType().Base())), longer(x, s))
		}
		cutoff := ops.Mul(part, ops.Max(s, []int{-1}, keepDims))
		s = ops.SelectV2(ops.Greater(s, cutoff), s, constLike(s, math.Inf(1)))
		scaled := ops.RealDiv(v, ops.Cast(ops.ExpandDims(s, -2), x.DType().Base()))
		return multiplied(scaled, u, ops.BatchMatMulOpts{AdjY: true})
	})
}

// conjOf returns the conjugate of x, which is x itself if it is real.
func conjOf(x tf.Output) tf.Output {
	if x.DType().Base().IsComplex() {
		return ops.Conj(x)
	}
	return x
}

// realPart returns the real part of x, which is x itself if it is real. Svd gives singular
// values the type of its matrix; complex numbers cannot be compared.
func realPart(x tf.Output) tf.Output {
	if x.DType().Base().IsComplex() {
		return ops.Real(x)
	}
	return x
}
