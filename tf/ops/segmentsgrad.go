package ops

import "github.com/gorge-tf/gorge/tf"

// rowsOf returns the rows of x that ids name.
func rowsOf(x, ids tf.Output) tf.Output { return GatherV2(x, ids, intScalar(x, tf.Int32, 0)) }

func segmentSumGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(rowsOf(dy[0], op.Input(1)), tf.Output{})
}

// segmentMeanGrad divides the gradient by the sizes of the segments.
func segmentMeanGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, ids := op.Input(0), op.Input(1)
	one := intScalar(x, tf.Int32, 1)
	rest := Fill(ExpandDims(Sub(Rank(x), one), intScalar(x, tf.Int32, 0)), one)
	form := ConcatV2([]tf.Output{Shape(ids), rest}, intScalar(x, tf.Int32, 0))
	size := SegmentSum(Fill(form, numberLike(dy[0], 1)), ids)
	return tf.Grads(rowsOf(RealDiv(dy[0], size), ids), tf.Output{})
}

// segmentExtremeGrad shares the gradient among the elements that are equal to
// the result.
func segmentExtremeGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, ids := op.Input(0), op.Input(1)
	selected := Equal(x, rowsOf(op.Output(0), ids))
	count := SegmentSum(castTo(selected, dy[0].DType()), ids)
	shares := rowsOf(RealDiv(dy[0], count), ids)
	return tf.Grads(apply("SelectV2", nil, selected, shares, ZerosLike(x)), tf.Output{})
}

// segmentProdGrad divides products by elements. A segment with one 0 has a
// gradient at that place alone, one with more has none.
func segmentProdGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, ids := op.Input(0), op.Input(1)
	zero := Equal(x, numberLike(x, 0))
	zeros := SegmentSum(castTo(zero, tf.Int32), ids)
	grad := apply("SelectV2", nil, Greater(zeros, intScalar(x, tf.Int32, 1)), ZerosLike(dy[0]), dy[0])
	nonZero := apply("SelectV2", nil, zero, OnesLike(x), x)
	others := rowsOf(SegmentProd(nonZero, ids), ids)
	quotient := RealDiv(rowsOf(op.Output(0), ids), nonZero)
	partial := apply("SelectV2", nil, zero, others, quotient)
	return tf.Grads(Mul(rowsOf(grad, ids), partial), tf.Output{})
}

// droppedRows gathers rows, zeros for negative ids. It returns where ids are
// not negative, too.
func droppedRows(x, ids tf.Output) (rows, counted tf.Output) {
	rows = rowsOf(x, clippedIDs(ids))
	counted = apply("GreaterEqual", nil, ids, castTo(intScalar(ids, tf.Int32, 0), ids.DType()))
	shape := Shape(counted)
	missing := Reshape(Sub(Rank(rows), Rank(counted)), intVec(ids, tf.Int32, 1))
	form := ConcatV2([]tf.Output{shape, Fill(missing, intScalar(ids, tf.Int32, 1))}, intScalar(ids, tf.Int32, 0))
	counted = apply("LogicalAnd", nil, Reshape(counted, form), OnesLike(castTo(rows, tf.Bool)))
	return apply("SelectV2", nil, counted, rows, ZerosLike(rows)), counted
}

func clippedIDs(ids tf.Output) tf.Output { return apply("Maximum", nil, ids, ZerosLike(ids)) }

func unsortedExtremeGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, ids, n := op.Input(0), op.Input(1), op.Input(2)
	best, counted := droppedRows(op.Output(0), ids)
	selected := apply("LogicalAnd", nil, Equal(x, best), counted)
	count := UnsortedSegmentSum(castTo(selected, dy[0].DType()), ids, n)
	shares, _ := droppedRows(RealDiv(dy[0], count), ids)
	return tf.Grads(apply("SelectV2", nil, selected, shares, ZerosLike(shares)), tf.Output{}, tf.Output{})
}

func unsortedProdGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, ids, n := op.Input(0), op.Input(1), op.Input(2)
	zero := Equal(x, numberLike(x, 0))
	zeros := UnsortedSegmentSum(castTo(zero, tf.Int32), ids, n)
	grad := apply("SelectV2", nil, Greater(zeros, intScalar(x, tf.Int32, 1)), ZerosLike(dy[0]), dy[0])
	nonZero := apply("SelectV2", nil, zero, OnesLike(x), x)
	clipped := clippedIDs(ids)
	others := rowsOf(UnsortedSegmentProd(nonZero, ids, n), clipped)
	quotient := RealDiv(rowsOf(op.Output(0), clipped), x)
	partial := apply("SelectV2", nil, zero, others, quotient)
	kept, _ := droppedRows(grad, ids)
	return tf.Grads(Mul(kept, partial), tf.Output{}, tf.Output{})
}
