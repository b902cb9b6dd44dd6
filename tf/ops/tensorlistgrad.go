package ops

import "github.com/gorge-tf/gorge/tf"

// Gradients of lists: the gradient of a list is a list of the gradients of its
// elements.

// listOp adds a list op whose elements are of type elem.
func listOp(op string, elem tf.DType, n int, in ...tf.Output) []tf.Output {
	return outputs(n, op, []tf.Option{tf.Attr("element_dtype", elem)}, in...)
}

// elementShapeOf returns the shape of the elements of a list.
func elementShapeOf(list tf.Output) tf.Output {
	return apply("TensorListElementShape", []tf.Option{tf.Attr("shape_type", tf.Int32)}, list)
}

func lengthOf(list tf.Output) tf.Output { return apply("TensorListLength", nil, list) }

// restOf returns the shape of t without its first dimension.
func restOf(t tf.Output) tf.Output {
	return Slice(Shape(t), intVec(t, tf.Int32, 1), intVec(t, tf.Int32, -1))
}

func pushBackGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	o := listOp("TensorListPopBack", op.Type("element_dtype"), 2, dy[0], Shape(op.Input(1)))
	return tf.Grads(o...)
}

func popBackGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	list, elem := dy[0], dy[1]
	if list.IsZero() {
		list = ZerosLike(op.Output(0)) // as many as are left: the list of which an element was taken has its gradient
	}
	if elem.IsZero() {
		elem = ZerosLike(op.Output(1))
	}
	return tf.Grads(apply("TensorListPushBack", nil, list, elem), tf.Output{})
}

func resizeListGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(apply("TensorListResize", nil, dy[0], lengthOf(op.Input(0))), tf.Output{})
}

func getItemGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	list := op.Input(0)
	zeros := listOp("TensorListReserve", op.Type("element_dtype"), 1, elementShapeOf(list), lengthOf(list))[0]
	return tf.Grads(apply("TensorListSetItem", nil, zeros, op.Input(1), dy[0]), tf.Output{}, tf.Output{})
}

func setItemGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	list, index, item := op.Input(0), op.Input(1), op.Input(2)
	dlist := apply("TensorListSetItem", nil, dy[0], index, ZerosLike(item))
	ditem := listOp("TensorListGetItem", item.DType(), 1, dy[0], index, Shape(item))[0]
	if op.Bool("resize_if_index_out_of_bounds") {
		dlist = apply("TensorListResize", nil, dlist, lengthOf(list))
	}
	return tf.Grads(dlist, tf.Output{}, ditem)
}

// gatherListGrad adds up the gradients of an element that was gathered several times: of
// what is scattered to one place the last stays.
func gatherListGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	list, indices := op.Input(0), op.Input(1)
	rows := GatherV2(UnsortedSegmentSum(dy[0], indices, lengthOf(list)), indices, intScalar(list, tf.Int32, 0))
	zeros := listOp("TensorListReserve", op.Type("element_dtype"), 1, elementShapeOf(list), lengthOf(list))[0]
	return tf.Grads(apply("TensorListScatterIntoExistingList", nil, zeros, rows, indices), tf.Output{}, tf.Output{})
}

// scatterListGrad serves both versions.
func scatterListGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	t := op.Input(0)
	out := make([]tf.Gradient, len(op.Inputs()))
	out[0] = tf.Dense(listOp("TensorListGather", t.DType(), 1, dy[0], op.Input(1), restOf(t))[0])
	return out
}

func scatterIntoGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	t, index := op.Input(1), op.Input(2)
	dt := listOp("TensorListGather", t.DType(), 1, dy[0], index, restOf(t))[0]
	return tf.Grads(apply("TensorListScatterIntoExistingList", nil, dy[0], ZerosLike(t), index), dt, tf.Output{})
}

func stackListGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(apply("TensorListFromTensor", nil, dy[0], restOf(dy[0])), tf.Output{})
}

func fromTensorGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	t := op.Input(0)
	rows := -1
	if s := t.Shape(); len(s) > 0 {
		rows = s[0]
	}
	opts := []tf.Option{tf.Attr("element_dtype", t.DType()), tf.Attr("num_elements", rows)}
	return tf.Grads(apply("TensorListStack", opts, dy[0], restOf(t)), tf.Output{})
}

// concatListGrad serves both versions.
func concatListGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	out := make([]tf.Gradient, len(op.Inputs()))
	if !dy[0].IsZero() {
		out[0] = tf.Dense(apply("TensorListSplit", nil, dy[0], elementShapeOf(op.Input(0)), op.Output(1)))
	}
	return out
}

func splitListGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	t := op.Input(0)
	shape := ConcatV2([]tf.Output{intVec(t, tf.Int32, -1), restOf(t)}, intScalar(t, tf.Int32, 0))
	o := listOp("TensorListConcatV2", t.DType(), 2, dy[0], shape, op.Input(2))
	return tf.Grads(o[0], tf.Output{}, tf.Output{})
}
