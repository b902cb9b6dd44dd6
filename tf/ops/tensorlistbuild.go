package ops

import "github.com/gorge-tf/gorge/tf"

// The Go functions of lists. An element shape is a vector of sizes, of which
// -1 is not known, or the scalar -1, of which nothing is.

// EmptyTensorList returns a list without elements for up to limit (-1: any
// number) tensors of type elem.
func EmptyTensorList(shape, limit tf.Output, elem tf.DType, opts ...tf.Option) tf.Output {
	return apply("EmptyTensorList", tf.Join(opts, tf.Attr("element_dtype", elem)), shape, limit)
}

// TensorListReserve returns a list of size elements of type elem that are not
// set.
func TensorListReserve(shape, size tf.Output, elem tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorListReserve", tf.Join(opts, tf.Attr("element_dtype", elem)), shape, size)
}

// TensorListPushBack returns list with t added at its end.
func TensorListPushBack(list, t tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListPushBack", opts, list, t)
}

// TensorListPushBackBatch adds a row of t to each of lists.
func TensorListPushBackBatch(lists, t tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListPushBackBatch", opts, lists, t)
}

// TensorListPopBack returns list without its last element, and that element.
func TensorListPopBack(list, shape tf.Output, elem tf.DType, opts ...tf.Option) (rest, last tf.Output) {
	o := outputs(2, "TensorListPopBack", tf.Join(opts, tf.Attr("element_dtype", elem)), list, shape)
	return o[0], o[1]
}

// TensorListLength returns the number of elements of list.
func TensorListLength(list tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListLength", opts, list)
}

// TensorListElementShape returns the shape that all elements of list have, as
// integers of type d.
func TensorListElementShape(list tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorListElementShape", tf.Join(opts, tf.Attr("shape_type", d)), list)
}

// TensorListConcatLists joins each list of a, of elements of type elem, with
// that of b.
func TensorListConcatLists(a, b tf.Output, elem tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorListConcatLists", tf.Join(opts, tf.Attr("element_dtype", elem)), a, b)
}

// TensorListResize returns list cut or extended to a number of elements.
func TensorListResize(list, size tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListResize", opts, list, size)
}

// TensorListGetItem returns an element of list, of type elem.
func TensorListGetItem(list, index, shape tf.Output, elem tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorListGetItem", tf.Join(opts, tf.Attr("element_dtype", elem)), list, index, shape)
}

// TensorListSetItem returns list with one element replaced.
func TensorListSetItem(list, index, item tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListSetItem", opts, list, index, item)
}

// TensorListGather returns the elements of the given numbers, stacked.
func TensorListGather(list, indices, shape tf.Output, elem tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorListGather", tf.Join(opts, tf.Attr("element_dtype", elem)), list, indices, shape)
}

// TensorListScatter returns a list whose elements of the given numbers are the
// rows of t.
func TensorListScatter(t, indices, shape tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListScatter", opts, t, indices, shape)
}

// TensorListScatterV2 is TensorListScatter to a list of a given size; -1: as
// many elements as are needed.
func TensorListScatterV2(t, indices, shape, size tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListScatterV2", opts, t, indices, shape, size)
}

// TensorListScatterIntoExistingList replaces elements of list by the rows of t.
func TensorListScatterIntoExistingList(list, t, indices tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListScatterIntoExistingList", opts, list, t, indices)
}

// TensorListStack returns all elements of list, of type elem, as the rows of
// one tensor.
func TensorListStack(list, shape tf.Output, elem tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorListStack", tf.Join(opts, tf.Attr("element_dtype", elem)), list, shape)
}

// TensorListFromTensor returns the rows of t as a list.
func TensorListFromTensor(t, shape tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListFromTensor", opts, t, shape)
}

// TensorListConcatV2 joins the elements of list along their first dimension,
// and returns how long each is. Those that are not set are as long as leading
// says.
func TensorListConcatV2(list, shape, leading tf.Output, elem tf.DType, opts ...tf.Option) (joined, lengths tf.Output) {
	o := outputs(2, "TensorListConcatV2", tf.Join(opts, tf.Attr("element_dtype", elem)), list, shape, leading)
	return o[0], o[1]
}

// TensorListSplit returns the pieces of the given lengths into which t falls,
// as a list.
func TensorListSplit(t, shape, lengths tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListSplit", opts, t, shape, lengths)
}
