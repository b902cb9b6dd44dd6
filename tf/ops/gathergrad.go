package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
)

// gatherGrad is sparse for rows; otherwise the gathered dimension is moved to
// the front and the slices of each index are summed.
func gatherGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	dxs := make([]tf.Gradient, len(op.Inputs()))
	params, indices := op.Input(0), op.Input(1)
	if axis, ok := gatherAxis(op); ok && axis == 0 {
		dxs[0] = rowsGrad(sizes(params), indices, dy[0])
		return dxs
	}
	if s := indices.Shape(); op.Int("batch_dims") < 0 && s == nil {
		err := tf.Errorf(tf.Unimplemented, "the gradient of a gather with negative batch_dims needs indices of known rank")
		dxs[0] = tf.Dense(apply("GatherV2", []tf.Option{invalid{err}}, op.Inputs()...))
		return dxs
	}
	dxs[0] = tf.Dense(alongAxisGrad(op, dy[0]))
	return dxs
}

// gatherAxis returns the axis of a gather if it is known.
func gatherAxis(op *tf.Operation) (int, bool) {
	if len(op.Inputs()) < 3 {
		return 0, true
	}
	at := op.Input(2).Operation()
	t := at.TensorAttr("value")
	if v, err := author.Computed(op.Input(2)); err == nil {
		t = v
	}
	if t == nil {
		return 0, false
	}
	v, err := scalarInt(t, "axis")
	return v, err == nil
}

// rowsGrad returns the gradient of gathering rows of a tensor of the given
// shape.
func rowsGrad(shape, indices, dy tf.Output) tf.Gradient {
	count := ExpandDims(Size(indices), intScalar(indices, tf.Int32, 0))
	values := Reshape(dy, ConcatV2([]tf.Output{count, tail(shape)}, intScalar(shape, tf.Int32, 0)))
	return tf.Sparse(tf.IndexedSlices{Values: values, Indices: Reshape(indices, count), DenseShape: shape})
}

// tail returns x without its first element.
func tail(x tf.Output) tf.Output { return span(x, intVec(x, tf.Int32, 1), tf.Output{}) }

// span returns elements begin to end of vector x; no end means all.
func span(x, begin, end tf.Output) tf.Output {
	o := StridedSliceOpts{}
	if end.IsZero() {
		o.EndMask, end = 1, intVec(x, begin.DType(), 0)
	}
	return StridedSlice(x, begin, end, intVec(x, begin.DType(), 1), o)
}

// element returns element i, a scalar, of vector x.
func element(x, i tf.Output) tf.Output { return GatherV2(x, i, intScalar(x, tf.Int32, 0)) }

func alongAxisGrad(op *tf.Operation, dy tf.Output) tf.Output {
	params, indices := op.Input(0), op.Input(1)
	batch := op.Int("batch_dims")
	if batch < 0 {
		batch += len(indices.Shape())
	}
	constant := func(v int) tf.Output { return intScalar(dy, tf.Int32, v) }
	vec := func(x tf.Output) tf.Output { return Reshape(x, intVec(dy, tf.Int32, 1)) }
	cat := func(xs ...tf.Output) tf.Output { return ConcatV2(xs, constant(0)) }
	seq := func(from, to tf.Output) tf.Output { return Range(nil, from, to, constant(1)) }

	shape := sizes(params)
	axis := FloorMod(castTo(op.Input(2), tf.Int32), Rank(params))
	outer, inner := span(shape, intVec(dy, tf.Int32, 0), vec(axis)), span(shape, Add(vec(axis), intVec(dy, tf.Int32, 1)), tf.Output{})
	valuesShape := cat(outer, intVec(dy, tf.Int32, -1), inner)
	batches, between := seq(constant(0), constant(batch)), seq(constant(batch), axis)
	innerAxes := seq(Add(axis, constant(1)), Size(valuesShape))

	front := cat(batches, vec(axis), between, innerAxes)
	values := Transpose(Reshape(dy, valuesShape), front)
	moved := GatherV2(shape, front, constant(0))
	dx := batchGatherGrad(moved, values, indices, batch, element(shape, axis))
	back := cat(batches, Add(between, constant(1)), intVec(dy, tf.Int32, batch), innerAxes)
	return Reshape(Transpose(dx, back), shape)
}

// batchGatherGrad sums the slices of values that belong to one index. The
// first batch dimensions are made one with the indices.
func batchGatherGrad(shape, values, indices tf.Output, batch int, n tf.Output) tf.Output {
	count := ExpandDims(Size(indices), intScalar(indices, tf.Int32, 0))
	if batch == 0 {
		return UnsortedSegmentSum(values, Reshape(indices, count), n)
	}
	vs := Shape(values)
	at := func(i int) tf.Output { return intVec(vs, tf.Int32, i) }
	outer, inner := span(vs, at(0), at(batch)), span(vs, at(batch+1), tf.Output{})
	flat := ConcatV2([]tf.Output{at(-1), inner}, intScalar(vs, tf.Int32, 0))
	n = Mul(n, apply("Prod", nil, outer, at(0)))
	indices = Reshape(batchIndices(shape, indices, batch), count)
	sum := UnsortedSegmentSum(Reshape(values, flat), indices, n)
	return Reshape(sum, ConcatV2([]tf.Output{outer, flat}, intScalar(vs, tf.Int32, 0)))
}

// batchIndices adds to each index where its batch begins when all batches of
// params, of the given shape, are put one after the other.
func batchIndices(shape, indices tf.Output, batch int) tf.Output {
	d := indices.DType()
	constant := func(v int) tf.Output { return intScalar(indices, tf.Int32, v) }
	ones := func(n tf.Output) tf.Output { return Fill(Reshape(n, intVec(indices, tf.Int32, 1)), constant(1)) }
	stride := constant(1)
	for dim := batch; dim > 0; dim-- {
		n := element(shape, constant(dim-1))
		stride = Mul(stride, element(shape, constant(dim)))
		offsets := Mul(Range(nil, constant(0), n, constant(1)), stride)
		form := ConcatV2([]tf.Output{ones(constant(dim - 1)), Reshape(n, intVec(indices, tf.Int32, 1)), ones(Sub(Rank(indices), constant(dim)))}, constant(0))
		indices = Add(indices, castTo(Reshape(offsets, form), d))
	}
	return indices
}
