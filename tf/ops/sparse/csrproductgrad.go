package sparse

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// csrMatMulGrad: that of a is needed only where a has elements, but is taken
// from a dense product.
func csrMatMulGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	a, b, d, g := op.Input(0), op.Input(1), op.Type("T"), dy[0]
	f, err := csrFormOf(&op.Node)
	if err != nil {
		return tf.Grads(tf.Output{}, tf.Output{})
	}
	if op.Bool("conjugate_output") {
		g = conjugated(g)
	}
	if op.Bool("transpose_output") {
		g = swapped(g)
	}
	x, y := CSRSparseMatrixToDense(a, d), b
	dx, dz := productGrads(x, y, g, f)
	return tf.Grads(patternOf(a, dx), dz)
}

// productGrads returns the gradients of the dense matrices x and y, given that
// of their product.
func productGrads(x, y, g tf.Output, f csrForm) (dx, dy tf.Output) {
	left, right := formed(x, f.transposeA, f.conjugateA), formed(y, f.transposeB, f.conjugateB)
	dx = ops.BatchMatMul(g, right, ops.BatchMatMulOpts{AdjY: true})
	dy = ops.BatchMatMul(left, g, ops.BatchMatMulOpts{AdjX: true})
	return formed(dx, f.transposeA, f.conjugateA), formed(dy, f.transposeB, f.conjugateB)
}

func formed(x tf.Output, transpose, conjugate bool) tf.Output {
	if conjugate {
		x = conjugated(x)
	}
	if transpose {
		x = swapped(x)
	}
	return x
}

func conjugated(x tf.Output) tf.Output {
	if !x.DType().IsComplex() {
		return x
	}
	return ops.Conj(x)
}

// swapped returns x with its last two dimensions exchanged.
func swapped(x tf.Output) tf.Output {
	if x.Shape() != nil {
		perm := [][]int32{2: {1, 0}, 3: {0, 2, 1}}[len(x.Shape())]
		return ops.Transpose(x, ops.Const(x.Graph(), perm))
	}
	number := func(v int32) tf.Output { return ops.Scalar(x.Graph(), v) }
	before := ops.Sub(ops.Rank(x), number(2))
	ends := ops.Add(ops.ExpandDims(before, number(0)), ops.Const(x.Graph(), []int32{1, 0}))
	return ops.Transpose(x, ops.ConcatV2([]tf.Output{ops.Range(nil, number(0), before, number(1)), ends}, number(0)))
}

func csrSparseMatMulGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	a, b, d := op.Input(0), op.Input(1), op.Type("type")
	f, err := csrFormOf(&op.Node)
	if err != nil {
		return tf.Grads(tf.Output{}, tf.Output{})
	}
	dx, dz := productGrads(CSRSparseMatrixToDense(a, d), CSRSparseMatrixToDense(b, d), CSRSparseMatrixToDense(dy[0], d), f)
	return tf.Grads(patternOf(a, dx), patternOf(b, dz))
}
