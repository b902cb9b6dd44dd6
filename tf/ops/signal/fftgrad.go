package signal

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// complexGrad is the gradient of FFT and IFFT: the other one, times or divided
// by the number of elements.
func complexGrad(prefix, suffix string, rank int) tf.GradFunc {
	return func(_ *tf.Operation, dy []tf.Output) []tf.Gradient {
		size := elementCount(dy[0], rank)
		if prefix == "FFT" {
			return tf.Grads(ops.Mul(apply("IFFT"+suffix, nil, dy[0]), ops.Cast(size, dy[0].DType().Base())))
		}
		part := ops.Reciprocal(ops.Cast(size, partType(dy[0])))
		return tf.Grads(ops.Mul(apply("FFT"+suffix, nil, dy[0]), ops.Cast(part, dy[0].DType().Base())))
	}
}

// elementCount returns the number of elements in the last dimensions of x.
func elementCount(x tf.Output, rank int) tf.Output {
	last := ops.StridedSlice(ops.Shape(x), vector(x, int32(-rank)), vector(x, 0), vector(x, 1), ops.StridedSliceOpts{EndMask: 1})
	return ops.Prod(last, vector(x, 0))
}

// partType is the type of a part of complex numbers like x.
func partType(x tf.Output) tf.DType {
	if x.DType().Base() == tf.Complex128 {
		return tf.Float64
	}
	return tf.Float32
}

// wholeType is the type of complex numbers that x is a part of.
func wholeType(x tf.Output) tf.DType {
	if x.DType().Base() == tf.Float64 {
		return tf.Complex128
	}
	return tf.Complex64
}

func vector(x tf.Output, v ...int32) tf.Output { return ops.Const(x.Graph(), v, len(v)) }

func number(x tf.Output, v int32) tf.Output { return ops.ConstValue(x.Graph(), core.Scalar(v)) }

// element returns element i of a vector, counted from the end if negative.
func element(v tf.Output, i int32) tf.Output {
	end, o := vector(v, i+1), ops.StridedSliceOpts{ShrinkAxisMask: 1}
	if i == -1 {
		o.EndMask = 1
	}
	return ops.StridedSlice(v, vector(v, i), end, vector(v, 1), o)
}

// column returns the columns of x from a to the one before b.
func column(x tf.Output, a, b int32) tf.Output {
	return ops.StridedSlice(x, vector(x, 0, a), vector(x, 0, b), vector(x, 1, 1), ops.StridedSliceOpts{EllipsisMask: 1})
}

// suffixes are those of the names of ops, by rank.
var suffixes = [...]string{1: "", 2: "2D"}

// realGrad is the gradient of RFFT.
func realGrad(rank int) tf.GradFunc {
	return func(op *tf.Operation, dy []tf.Output) []tf.Gradient {
		return tf.Grads(realGradOf(op, dy[0], rank), tf.Output{})
	}
}

// realGradOf transforms back and adds what the first and, if the length is even,
// the middle column count for once more: they have no conjugates. What the transform
// took of x has its lengths.
func realGradOf(op *tf.Operation, dy tf.Output, rank int) tf.Output {
	x, length := op.Input(0), op.Input(1)
	whole, part := dy.DType().Base(), partType(dy)
	even := ops.Cast(ops.Sub(number(x, 1), ops.FloorMod(element(length, -1), number(x, 2))), whole)
	first, middle := column(dy, 0, 1), column(dy, -1, math.MaxInt32)
	if rank == 2 {
		mask := fourierMatrix(element(length, -2), whole)
		first, middle = ops.BatchMatMulV2(mask, ops.Conj(first)), ops.BatchMatMulV2(mask, ops.Conj(middle))
	}
	count := element(length, -1)
	signs := ops.Sub(number(x, 1), ops.Mul(number(x, 2), ops.FloorMod(ops.Range(nil, number(x, 0), count, number(x, 1)), number(x, 2))))
	extra := ops.AddV2(first, ops.Mul(ops.Mul(even, middle), ops.Cast(signs, whole)))
	back := ops.Mul(realOp("IRFFT"+suffixes[rank], dy, nil, length), ops.Cast(ops.Prod(length, vector(x, 0)), part))
	sum := ops.AddV2(back, ops.Real(extra, ops.PartOpts{Tout: part}))
	return uncut(ops.Mul(ops.Cast(ops.ConstValue(x.Graph(), core.Scalar(0.5)), part), sum), x)
}

// fourierMatrix returns the matrix e^(-2πi·j·k/n).
func fourierMatrix(n tf.Output, d tf.DType) tf.Output {
	k := ops.Range(nil, number(n, 0), n, number(n, 1))
	products := ops.Mul(ops.ExpandDims(k, number(n, 0)), ops.ExpandDims(k, number(n, 1)))
	turn := ops.Cast(ops.ConstValue(n.Graph(), core.Scalar(complex(0, -2*math.Pi))), d)
	return ops.Exp(ops.RealDiv(ops.Mul(turn, ops.Cast(products, d)), ops.Cast(n, d)))
}

// inverseRealGrad is the gradient of IRFFT.
func inverseRealGrad(rank int) tf.GradFunc {
	return func(op *tf.Operation, dy []tf.Output) []tf.Gradient {
		return tf.Grads(inverseRealGradOf(op, dy[0], rank), tf.Output{})
	}
}

// inverseRealGradOf transforms and counts those elements twice that have
// conjugates.
func inverseRealGradOf(op *tf.Operation, dy tf.Output, rank int) tf.Output {
	d, length := dy.DType().Base(), op.Input(1)
	odd := ops.FloorMod(element(length, -1), number(dy, 2))
	count := ops.AddV2(ops.FloorDiv(element(length, -1), number(dy, 2)), number(dy, 1))
	fill := func(n tf.Output, v float64) tf.Output {
		return ops.Fill(ops.Reshape(n, vector(dy, 1)), ops.Cast(ops.ConstValue(dy.Graph(), core.Scalar(v)), d))
	}
	twice := ops.AddV2(ops.Sub(count, number(dy, 2)), odd)
	mask := ops.ConcatV2([]tf.Output{fill(number(dy, 1), 1), fill(twice, 2), fill(ops.Sub(number(dy, 1), odd), 1)}, number(dy, 0))
	scale := ops.Mul(ops.Reciprocal(ops.Cast(elementCount(dy, rank), d)), mask)
	return uncut(ops.Mul(realOp("RFFT"+suffixes[rank], dy, nil, length), ops.Cast(scale, wholeType(dy))), op.Input(0))
}

// uncut gives dx, the gradient of what a transform took of x, the shape of x: what was cut off
// has none. TensorFlow has no gradients of such transforms.
func uncut(dx, x tf.Output) tf.Output {
	if s := x.Shape(); s.Known() && slices.Equal(s, dx.Shape()) {
		return dx
	}
	after := ops.Maximum(ops.Sub(ops.Shape(x), ops.Shape(dx)), number(x, 0))
	return ops.Pad(dx, ops.Stack([]tf.Output{ops.ZerosLike(after), after}, 1))
}
