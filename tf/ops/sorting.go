package ops

import "github.com/gorge-tf/gorge/tf"

// Sort returns x with its elements in ascending order along an axis, in
// descending order if it is so. Equal elements keep their order only in
// ascending sorts of unsigned and floating-point numbers, as in TensorFlow. x
// holds real numbers, and the result has its shape and type. The axis counts
// from the end if it is negative; one out of range, or other than -1 while the
// rank of x is not known, is refused with INVALID_ARGUMENT when the graph is
// built. Where NaN goes is not defined.
func Sort(x tf.Output, axis int, descending bool) tf.Output {
	return scoped("sort", x, func() tf.Output { return sortedAlong(x, axis, descending, false) })
}

// ArgSort returns the int32 positions along an axis at which the elements of a
// sorted x are found. x holds real numbers, and the result has its shape. The
// axis counts from the end if it is negative; one out of range, or other than
// -1 while the rank of x is not known, is refused with INVALID_ARGUMENT when
// the graph is built. Equal elements come in the order of their positions;
// where NaN goes is not defined.
func ArgSort(x tf.Output, axis int, descending bool) tf.Output {
	return scoped("argsort", x, func() tf.Output { return sortedAlong(x, axis, descending, true) })
}

// sortedAlong moves the axis to the end, where TopK sorts.
func sortedAlong(x tf.Output, axis int, descending, positions bool) tf.Output {
	rank := len(x.Shape())
	at, ok := wrapAxis(axis, rank)
	if x.Shape() == nil && axis == -1 {
		return sortedRows(x, descending, positions)
	}
	if x.Shape() == nil || !ok {
		return refused(x, "sort", "an axis must be in [-rank, rank), and -1 if the rank is not known: got axis %d of shape %v", axis, x.Shape())
	}
	if at == rank-1 {
		return sortedRows(x, descending, positions)
	}
	swap := make([]int, rank)
	for i := range swap {
		swap[i] = i
	}
	swap[at], swap[rank-1] = rank-1, at
	return Transpose(sortedRows(Transpose(x, swap), descending, positions), swap)
}

// sortedRows sorts along the last dimension.
func sortedRows(x tf.Output, descending, positions bool) tf.Output {
	key := x
	if !descending {
		key = mirrored(x)
	}
	values, at := TopK(key, dim(x, -1))
	switch {
	case positions:
		return at
	case descending:
		return values
	}
	return mirrored(values)
}

// mirrored reverses the order of numbers, without overflow: -x, or -1-x for
// integers, which is the complement of their bits.
func mirrored(x tf.Output) tf.Output {
	if x.DType().Base().IsInteger() {
		return Invert(x)
	}
	return Neg(x)
}
