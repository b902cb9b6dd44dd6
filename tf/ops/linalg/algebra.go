package linalg

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// What gradients are written in: operations on batches of matrices.

func mul(x, y tf.Output) tf.Output { return ops.BatchMatMulV2(x, y) }

// mulAdjointX returns xᴴ·y.
func mulAdjointX(x, y tf.Output) tf.Output {
	return ops.BatchMatMulV2(x, y, ops.BatchMatMulOpts{AdjX: true})
}

// mulAdjointY returns x·yᴴ.
func mulAdjointY(x, y tf.Output) tf.Output {
	return ops.BatchMatMulV2(x, y, ops.BatchMatMulOpts{AdjY: true})
}

// minusOuter returns the gradient for the matrix of a solver, given that for
// the right-hand side and the solution.
func minusOuter(db, x tf.Output, adjoint bool) tf.Output {
	if adjoint {
		return ops.Neg(mulAdjointY(x, db))
	}
	return ops.Neg(mulAdjointY(db, x))
}

// adjoint returns the conjugate transposes of matrices.
func adjoint(x tf.Output) tf.Output { return ops.ConjugateTranspose(x, swapLast(x)) }

// conjugates returns the conjugates of numbers that may be real.
func conjugates(x tf.Output) tf.Output {
	if x.DType().IsComplex() {
		return ops.Conj(x)
	}
	return x
}

// transpose returns the transposes of matrices.
func transpose(x tf.Output) tf.Output { return ops.Transpose(x, swapLast(x)) }

// swapLast returns the permutation that transposes matrices.
func swapLast(x tf.Output) tf.Output {
	if s := x.Shape(); s != nil {
		perm := make([]int, len(s))
		for i := range perm {
			perm[i] = i
		}
		if n := len(s); n >= 2 {
			perm[n-2], perm[n-1] = n-1, n-2
		}
		return vector(x, perm...)
	}
	rank := ops.Rank(x)
	last, before := ops.Sub(rank, number(x, 1)), ops.Sub(rank, number(x, 2))
	batch := ops.Range(nil, number(x, 0), before, number(x, 1))
	return concat(batch, ops.Pack([]tf.Output{last, before}))
}

// vector adds a constant vector of int32 to the graph of x. It is x itself if that cannot be
// computed, as are number and constLike, so that what they are for tells why.
func vector(x tf.Output, v ...int) tf.Output {
	if x.Err() != nil {
		return x
	}
	t := core.NewTensor(tf.Int32, tf.Shape{len(v)})
	for i, n := range v {
		core.Data[int32](t)[i] = int32(n)
	}
	return ops.ConstValue(x.Graph(), t)
}

// number adds a constant int32 to the graph of x.
func number(x tf.Output, v int) tf.Output {
	if x.Err() != nil {
		return x
	}
	return ops.ConstValue(x.Graph(), core.Scalar(int32(v)))
}

// constLike adds a constant of the type of x, and refuses types that matrices do not have.
func constLike(x tf.Output, v float64) tf.Output {
	if x.Err() != nil {
		return x
	}
	d := x.DType().Base()
	if elementsOf[d] == nil {
		return refused(x, "Const", "matrices of type %v are not computed with", d)
	}
	t := core.NewTensor(d, tf.Shape{})
	put(t, v)
	return ops.ConstValue(x.Graph(), t)
}

// concat joins vectors.
func concat(x ...tf.Output) tf.Output { return ops.ConcatV2(x, number(x[0], 0)) }

// band keeps the diagonals from lower below the main one to upper above it.
func band(x tf.Output, lower, upper int) tf.Output {
	return ops.MatrixBandPart(x, number(x, lower), number(x, upper))
}

// diagonalOf returns the main diagonals of matrices.
func diagonalOf(x tf.Output) tf.Output {
	return ops.MatrixDiagPartV3(x, number(x, 0), constLike(x, 0))
}

// diagonal returns matrices with the given main diagonals.
func diagonal(x tf.Output) tf.Output {
	least := number(x, -1)
	return ops.MatrixDiagV3(x, number(x, 0), least, least, constLike(x, 0))
}

// withDiagonal returns x with other main diagonals.
func withDiagonal(x, d tf.Output) tf.Output { return ops.MatrixSetDiagV3(x, d, number(x, 0)) }

// halfDiagonal returns x with its main diagonals halved.
func halfDiagonal(x tf.Output) tf.Output {
	return withDiagonal(x, ops.Mul(constLike(x, 0.5), diagonalOf(x)))
}

// toEnd is a bound that lies behind the last row or column.
const toEnd = math.MaxInt32

// window returns the rows (axis -2) or columns (axis -1) [from, to) of
// matrices.
func window(x tf.Output, axis, from, to int) tf.Output {
	begin, end, strides := []int{0, from}, []int{0, to}, []int{1, 1}
	if axis == -2 {
		begin, end, strides = append(begin, 0), append(end, toEnd), append(strides, 1)
	}
	return ops.StridedSlice(x, vector(x, begin...), vector(x, end...), vector(x, strides...), ops.StridedSliceOpts{EllipsisMask: 1})
}

// unbroadcast returns the gradients of the operands a and b of a solver: da and
// db summed over what was broadcast.
func unbroadcast(da, a, b, db tf.Output) (tf.Output, tf.Output) {
	sa, sb := a.Shape(), b.Shape()
	if sa.Known() && sb.Known() && sa[:len(sa)-2].Equal(sb[:len(sb)-2]) {
		return da, db
	}
	wholeA, wholeB := ops.Shape(a), ops.Shape(b)
	ra, rb := ops.BroadcastGradientArgs(withoutLast(wholeA, 2), withoutLast(wholeB, 2))
	return ops.Reshape(ops.Sum(da, ra), wholeA), ops.Reshape(ops.Sum(db, rb), wholeB)
}

// withoutLast returns a vector without its last n elements.
func withoutLast(v tf.Output, n int) tf.Output {
	return ops.StridedSlice(v, vector(v, 0), vector(v, -n), vector(v, 1), ops.StridedSliceOpts{BeginMask: 1})
}

// orZeros returns the gradient dy of output i, zeros if nothing depends on it.
func orZeros(op *tf.Operation, dy []tf.Output, i int) tf.Output {
	if dy[i].IsZero() {
		return ops.ZerosLike(op.Output(i))
	}
	return dy[i]
}

// refuse makes an op's gradient fail.
func refuse(op *tf.Operation, format string, args ...any) []tf.Gradient {
	err := tf.Errorf(tf.Unimplemented, format, args...)
	return tf.Grads(tf.Failed(op.Graph(), op.OpName()+"Grad", err).Output(0))
}

// put sets the only element of t.
func put(t *core.Tensor, v float64) { elementwise.Cast(elements(t, 0, 1), []float64{v}) }

// identityLike returns identity matrices of the shape of x.
func identityLike(x tf.Output) tf.Output {
	return withDiagonal(ops.ZerosLike(x), ops.OnesLike(diagonalOf(x)))
}
