package ops

import "github.com/gorge-tf/gorge/tf"

// The Go functions of lists. An element shape is a vector of sizes, of which
// -1 is not known, or the scalar -1, of which nothing is.

// EmptyTensorList returns a list without elements for up to limit (-1: any
// number) tensors of type elem. limit is an int32 scalar; shape is an int32 or
// int64 vector in which -1 means unknown, or the scalar -1 if nothing is
// known. The list is a variant scalar. Another rank of limit, another scalar,
// and sizes below -1 are refused with INVALID_ARGUMENT in the step.
func EmptyTensorList(shape, limit tf.Output, elem tf.DType, opts ...tf.Option) tf.Output {
	return apply("EmptyTensorList", tf.Join(opts, tf.Attr("element_dtype", elem)), shape, limit)
}

// TensorListReserve returns a list of size elements of type elem that are not
// set. size is an int32 scalar; shape is an int32 or int64 vector in which -1
// means unknown, or the scalar -1 if nothing is known. The list is a variant
// scalar. A negative size or one of another rank, and shapes that
// EmptyTensorList refuses, are refused with INVALID_ARGUMENT in the step. A list
// that does not fit into the memory limit fails it with RESOURCE_EXHAUSTED.
func TensorListReserve(shape, size tf.Output, elem tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorListReserve", tf.Join(opts, tf.Attr("element_dtype", elem)), shape, size)
}

// TensorListPushBack returns list with t added at its end. list itself does
// not change. The step fails with INVALID_ARGUMENT if list is not a scalar
// that holds a list, if t has not the type and shape of its elements, or if it
// is full.
func TensorListPushBack(list, t tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListPushBack", opts, list, t)
}

// TensorListPushBackBatch adds a row of t to each of lists. lists is a vector
// of lists, and t has as many rows as it has elements; the result is a vector
// of the longer lists. The step fails with INVALID_ARGUMENT if the ranks or
// numbers do not fit, if a row has not the type and shape of the list's
// elements, or if a list is full.
func TensorListPushBackBatch(lists, t tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListPushBackBatch", opts, lists, t)
}

// TensorListPopBack returns list without its last element, and that element.
// shape is an int32 vector in which -1 means unknown, or the scalar -1 if
// nothing is known. An element that is not set is zeros of that shape. The
// step fails with INVALID_ARGUMENT if list is empty or of another type than
// elem, and if the shape is needed but does not follow from shape and the
// list.
func TensorListPopBack(list, shape tf.Output, elem tf.DType, opts ...tf.Option) (rest, last tf.Output) {
	o := outputs(2, "TensorListPopBack", tf.Join(opts, tf.Attr("element_dtype", elem)), list, shape)
	return o[0], o[1]
}

// TensorListLength returns the number of elements of list. The result is an
// int32 scalar, and elements that are not set count. The step fails with
// INVALID_ARGUMENT if list is not a scalar that holds a list.
func TensorListLength(list tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListLength", opts, list)
}

// TensorListElementShape returns the shape that all elements of list have, as
// integers of type d. d is int32 or int64. The result is a vector with -1 for
// sizes that are not known, or the scalar -1 if nothing is known. The step
// fails with INVALID_ARGUMENT if list is not a scalar that holds a list.
func TensorListElementShape(list tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorListElementShape", tf.Join(opts, tf.Attr("shape_type", d)), list)
}

// TensorListConcatLists joins each list of a, of elements of type elem, with
// that of b. a and b are variants of one shape, which the result has too. The
// step fails with INVALID_ARGUMENT if their shapes differ, or if two lists
// have not the type elem and one element shape.
func TensorListConcatLists(a, b tf.Output, elem tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorListConcatLists", tf.Join(opts, tf.Attr("element_dtype", elem)), a, b)
}

// TensorListResize returns list cut or extended to a number of elements. size
// is an int32 scalar, and elements that are added are not set. The step fails
// with INVALID_ARGUMENT if size is negative or list is not a scalar that holds
// a list.
func TensorListResize(list, size tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListResize", opts, list, size)
}

// TensorListGetItem returns an element of list, of type elem. index is an
// int32 scalar; shape is an int32 or int64 vector in which -1 means unknown,
// or the scalar -1 if nothing is known. An element that is not set is zeros of
// that shape. The step fails with INVALID_ARGUMENT if index is out of range,
// if list is of another type than elem, and if the shape is needed but does
// not follow from shape and the list.
func TensorListGetItem(list, index, shape tf.Output, elem tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorListGetItem", tf.Join(opts, tf.Attr("element_dtype", elem)), list, index, shape)
}

// TensorListSetItem returns list with one element replaced. index is an int32
// scalar, and list itself does not change. The step fails with
// INVALID_ARGUMENT if index is out of range, or if item has not the type and
// shape of the list's elements.
func TensorListSetItem(list, index, item tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListSetItem", opts, list, index, item)
}

// TensorListGather returns the elements of the given numbers, stacked. indices
// is an int32 vector, and the result has one row for each; shape is an int32
// vector in which -1 means unknown, or the scalar -1 if nothing is known.
// Elements that are not set are zeros. The step fails with INVALID_ARGUMENT if
// an index is out of range, if list is of another type than elem, if the
// shapes of elements differ, and if their shape is not known.
func TensorListGather(list, indices, shape tf.Output, elem tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorListGather", tf.Join(opts, tf.Attr("element_dtype", elem)), list, indices, shape)
}

// TensorListScatter returns a list whose elements of the given numbers are the
// rows of t. indices is int32 with one element for each row, and the
// list is as long as the greatest needs; shape is an int32 or int64 vector in
// which -1 means unknown, or the scalar -1 if nothing is known. Elements
// without a row are not set, and the last of equal indices wins. The step
// fails with INVALID_ARGUMENT if the numbers do not fit, if an index is
// negative, or if rows have not the shape.
func TensorListScatter(t, indices, shape tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListScatter", opts, t, indices, shape)
}

// TensorListScatterV2 is TensorListScatter to a list of a given size; -1: as
// many elements as are needed. size is an int32 scalar. The step fails with
// INVALID_ARGUMENT if it is below -1, if an index is not below a given size,
// and for what TensorListScatter refuses.
func TensorListScatterV2(t, indices, shape, size tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListScatterV2", opts, t, indices, shape, size)
}

// TensorListScatterIntoExistingList replaces elements of list by the rows of
// t. indices is an int32 vector with one element for each row; the list grows
// if an index needs it. The step fails with INVALID_ARGUMENT if the numbers do
// not fit, if an index is negative, or if rows have not the type and shape of
// the list's elements.
func TensorListScatterIntoExistingList(list, t, indices tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListScatterIntoExistingList", opts, list, t, indices)
}

// TensorListStack returns all elements of list, of type elem, as the rows of
// one tensor. shape is an int32 vector in which -1 means unknown, or the
// scalar -1 if nothing is known. Elements that are not set are zeros. The step
// fails with INVALID_ARGUMENT if list is of another type than elem, if the
// shapes of elements differ, and if their shape follows neither from shape nor
// from the list.
func TensorListStack(list, shape tf.Output, elem tf.DType, opts ...tf.Option) tf.Output {
	return apply("TensorListStack", tf.Join(opts, tf.Attr("element_dtype", elem)), list, shape)
}

// TensorListFromTensor returns the rows of t as a list. t has one dimension or
// more and any type; shape is an int32 or int64 vector in which -1 means
// unknown, or the scalar -1 if nothing is known. The list is a variant scalar.
// The step fails with INVALID_ARGUMENT if t is a scalar or its rows have not
// the shape.
func TensorListFromTensor(t, shape tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListFromTensor", opts, t, shape)
}

// TensorListConcatV2 joins the elements of list along their first dimension,
// and returns how long each is. Those that are not set are as long as leading
// says. shape is that of an element, int32 or int64, with -1 for what is not
// known; leading and lengths are int64 vectors. The step fails with
// INVALID_ARGUMENT if list is of another type than elem, if elements are
// scalars or differ in the other dimensions, if these are not known, and if
// the length of an element that is not set is not given.
func TensorListConcatV2(list, shape, leading tf.Output, elem tf.DType, opts ...tf.Option) (joined, lengths tf.Output) {
	o := outputs(2, "TensorListConcatV2", tf.Join(opts, tf.Attr("element_dtype", elem)), list, shape, leading)
	return o[0], o[1]
}

// TensorListSplit returns the pieces of the given lengths into which t falls,
// as a list. lengths is an int64 vector whose sum is the first dimension of t;
// shape is an int32 or int64 vector in which -1 means unknown, or the scalar
// -1 if nothing is known. The step fails with INVALID_ARGUMENT if t is a
// scalar, if a length is negative, if they do not add up, or if a piece has
// not the shape.
func TensorListSplit(t, shape, lengths tf.Output, opts ...tf.Option) tf.Output {
	return apply("TensorListSplit", opts, t, shape, lengths)
}
