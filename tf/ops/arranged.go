package ops

import "github.com/gorge-tf/gorge/tf"

// SequenceMask returns, for lengths of any shape, masks of maxlen elements in
// a new last dimension: the first lengths[i] are 1, or true, the others 0, in
// type d. A negative maxlen stands for the greatest length. A length greater
// than maxlen fills its mask with ones. lengths holds floating-point numbers
// or integers other than uint8; other types are refused with INVALID_ARGUMENT
// when the graph is built. A d that Cast does not make of bools fails the step
// with UNIMPLEMENTED.
func SequenceMask(lengths tf.Output, maxlen int, d tf.DType) tf.Output {
	return sequenceMask(lengths, d, func() tf.Output {
		if maxlen < 0 {
			return Max(lengths, AllAxes)
		}
		return numberLike(lengths, float64(maxlen))
	})
}

// SequenceMaskTo is SequenceMask with a maxlen that the graph computes, a scalar such
// as the time of a batch: ops.Shape(x).At("1"). A negative one stands for 0. A maxlen
// that is no scalar is refused with INVALID_ARGUMENT when the graph is built.
func SequenceMaskTo(lengths, maxlen tf.Output, d tf.DType) tf.Output {
	if s := maxlen.Shape(); maxlen.Err() == nil && s != nil && len(s) != 0 {
		return refused(lengths, "SequenceMask", "maxlen must be scalar for sequence_mask, got %v", maxlen)
	}
	return sequenceMask(lengths, d, func() tf.Output { return castTo(maxlen, lengths.DType()) })
}

func sequenceMask(lengths tf.Output, d tf.DType, most func() tf.Output) tf.Output {
	return scoped("SequenceMask", lengths, func() tf.Output {
		places := Range(nil, numberLike(lengths, 0), Maximum(most(), numberLike(lengths, 0)), numberLike(lengths, 1))
		return castTo(Less(places, ExpandDims(lengths, -1)), d)
	})
}

// BooleanMask returns the parts of x for which mask is true. The dimensions of
// mask, whose number has to be known, are those of x from axis on; they become
// one. A negative axis counts from the end if the rank of x is known. The
// result has the type of x. A mask that is a scalar or of unknown rank, an axis
// that is not there, and a mask whose known sizes are not those of x are
// refused with INVALID_ARGUMENT when the graph is built.
func BooleanMask(x, mask tf.Output, axis int) tf.Output {
	return scoped("boolean_mask", x, func() tf.Output {
		n := len(mask.Shape())
		at := axis
		if s := x.Shape(); s != nil && axis < 0 {
			at += len(s)
		}
		if mask.Shape() == nil || n == 0 || at < 0 {
			return refused(x, "boolean_mask", "a mask must have a known rank of at least 1, and the axis must be there: got a mask of shape %v, axis %d", mask.Shape(), axis)
		}
		if s := x.Shape(); s != nil && (at+n > len(s) || !s[at:at+n].Compatible(mask.Shape())) {
			return refused(x, "boolean_mask", "Shapes %v and %v are incompatible", s[min(at, len(s)):min(at+n, len(s))], mask.Shape())
		}
		shape := Shape(x)
		zero, one := intScalar(x, tf.Int32, 0), intVec(x, tf.Int32, 1)
		leading := Slice(shape, []int{0}, []int{at})
		size := Reshape(Prod(Slice(shape, []int{at}, []int{n}), []int{0}), one)
		trailing := Slice(shape, []int{at + n}, []int{-1})
		flat := Reshape(x, ConcatV2([]tf.Output{leading, size, trailing}, zero))
		kept := Squeeze(Where(Reshape(mask, []int{-1})), []int{1})
		return Gather(flat, kept, at)
	})
}

// Repeat returns x with its slices along an axis repeated: repeats is how
// often, a scalar or one number for each slice. x is of any type that Gather
// takes. A negative axis counts from the end. repeats are converted to int32.
// If the rank of x is known, an axis that x does not have is refused with
// INVALID_ARGUMENT when the graph is built; repeats that do not broadcast to
// the number of slices are refused with INVALID_ARGUMENT.
func Repeat(x, repeats tf.Output, axis int) tf.Output {
	return scoped("Repeat", x, func() tf.Output {
		n := dim(x, axis)
		times := BroadcastTo(castTo(repeats, tf.Int32), Reshape(n, []int{1}))
		mask := SequenceMask(times, -1, tf.Bool)
		places := Range(nil, intScalar(x, tf.Int32, 0), n, intScalar(x, tf.Int32, 1))
		each := AddV2(ExpandDims(places, 1), ZerosLike(Cast(mask, tf.Int32)))
		return Gather(x, BooleanMask(each, mask, 0), axis)
	})
}

// Meshgrid returns the coordinates of a grid: for n vectors n tensors of n
// dimensions. Dimension 0 is that of the second vector and dimension 1 that of
// the first, as for images, unless matrix: then dimension i is that of vector
// i. Every result has the type of its vector, and all have one shape. Without
// vectors there are no results. A tensor of another rank counts as the vector
// of its elements. Types are those of BroadcastTo; vectors of different graphs
// are refused with INVALID_ARGUMENT when the graph is built.
func Meshgrid(xs []tf.Output, matrix bool) []tf.Output {
	out := make([]tf.Output, len(xs))
	for i, x := range xs {
		out[i] = scoped("meshgrid", x, func() tf.Output { return gridCoordinate(xs, i, matrix) })
	}
	return out
}

func gridCoordinate(xs []tf.Output, i int, matrix bool) tf.Output {
	at := func(k int) int {
		if !matrix && k < 2 && len(xs) > 1 {
			return 1 - k
		}
		return k
	}
	sizes, shape := make([]tf.Output, len(xs)), make([]int, len(xs))
	for k, v := range xs {
		sizes[at(k)], shape[at(k)] = Reshape(Size(v), []int{1}), 1
	}
	shape[at(i)] = -1
	grid := sizes[0]
	if len(sizes) > 1 {
		grid = ConcatV2(sizes, intScalar(xs[i], tf.Int32, 0))
	}
	return BroadcastTo(Reshape(xs[i], shape), grid)
}

// ConfusionMatrix returns how often each class, the row, was predicted as each
// class, the column: a matrix [classes classes] of type d. With classes 0 there
// are as many as the greatest label or prediction needs. weights, which may be
// the zero Output, say how much each pair counts. labels, predictions and
// weights are vectors of one length; labels and predictions are converted to
// int64. A negative one, or one that is not less than the number of classes,
// fails the step with INVALID_ARGUMENT.
func ConfusionMatrix(labels, predictions tf.Output, classes int, weights tf.Output, d tf.DType) tf.Output {
	return scoped("confusion_matrix", predictions, func() tf.Output {
		p, l := Cast(predictions, tf.Int64), Cast(labels, tf.Int64)
		n := numberLike(p, float64(classes))
		if classes <= 0 {
			n = AddV2(Maximum(Max(p, AllAxes), Max(l, AllAxes)), numberLike(p, 1))
		}
		count := weights
		if weights.IsZero() {
			count = Cast(OnesLike(p), d)
		}
		var y tf.Output
		g := p.Graph()
		g.ControlDependencies([]*tf.Operation{AssertNonNegative(l), AssertNonNegative(p), AssertLess(l, n), AssertLess(p, n)}, func() {
			y = ScatterNd(Stack([]tf.Output{l, p}, 1), castTo(count, d), Stack([]tf.Output{n, n}, 0))
		})
		return y
	})
}

// HistogramFixedWidthBins returns into which of n parts, of equal width, of a
// range [low high] each element of x falls: int32 numbers. What lies beyond
// counts to the first or the last. The result has the shape of x. x and
// valueRange, a vector of two, have one type of real numbers. Other types, and
// types that differ, are refused with INVALID_ARGUMENT when the graph is
// built; a valueRange of fewer than two elements, too, if its shape is known
// there, else in the step. An n below 1 is not refused and counts as 1.
func HistogramFixedWidthBins(x, valueRange tf.Output, n int) tf.Output {
	return scoped("histogram_fixed_width_bins", x, func() tf.Output {
		low, high := valueRange.At("0"), valueRange.At("1")
		scaled := Div(Sub(x, low), Sub(high, low))
		bins := numberLike(scaled, float64(n))
		place := Floor(Mul(bins, scaled))
		return Cast(ClipByValue(place, numberLike(scaled, 0), Sub(bins, numberLike(scaled, 1))), tf.Int32)
	})
}

// RequiredSpaceToBatchPaddings returns the paddings that SpaceToBatchND needs
// for an input whose spatial dimensions have the given sizes, and the crops
// that BatchToSpaceND needs to undo them. All are of int32; base, vectors of
// pairs, are the paddings that are wanted in any case, and may be the zero
// Output. input and block are vectors of one length n; paddings and crops are
// matrices [n 2]. Lengths that differ and another shape of base are refused
// with INVALID_ARGUMENT, when the graph is built if they are known, else in
// the step; types that differ when the graph is built. A 0 in block fails the
// step with INVALID_ARGUMENT.
func RequiredSpaceToBatchPaddings(input, block, base tf.Output) (paddings, crops tf.Output) {
	paddings = scoped("required_space_to_batch_paddings", input, func() tf.Output {
		start := ZerosLike(block)
		end := start
		if !base.IsZero() {
			start, end = base.At(":, 0"), base.At(":, 1")
		}
		full := AddN([]tf.Output{input, start, end})
		extra := Mod(Sub(block, Mod(full, block)), block)
		crops = Stack([]tf.Output{ZerosLike(block), extra}, 1)
		return Stack([]tf.Output{start, AddV2(end, extra)}, 1)
	})
	if input.Err() != nil {
		crops = input
	}
	return paddings, crops
}

// ParallelStack returns values, of equal shapes that are known, stacked along a
// new first dimension as soon as each is there. The result has their shape
// behind their number. A first value whose shape is not fully known is refused
// with INVALID_ARGUMENT when the graph is built. Without values the result is
// the zero Output.
func ParallelStack(values []tf.Output) tf.Output {
	if len(values) == 0 {
		return tf.Output{}
	}
	return scoped("parallel_stack", values[0], func() tf.Output {
		s := values[0].Shape()
		if !s.Known() {
			return refused(values[0], "parallel_stack", "the shape of the values must be known, got %v", s)
		}
		rows := make([]tf.Output, len(values))
		for i, v := range values {
			rows[i] = ExpandDims(v, 0)
		}
		return ParallelConcat(rows, append(tf.Shape{len(values)}, s...))
	})
}

// Tuple returns xs, none of which is passed on before all of them, and the
// operations after, are done. The results have the types and the shapes of xs.
// If one of xs carries an error, xs are returned as they are; without xs the
// result is nil.
func Tuple(xs []tf.Output, after ...*tf.Operation) []tf.Output {
	if len(xs) == 0 {
		return nil
	}
	for _, x := range xs {
		if x.Err() != nil {
			return xs
		}
		after = append(after[:len(after):len(after)], x.Operation())
	}
	out, g := make([]tf.Output, len(xs)), xs[0].Graph()
	g.Scope("tuple", func() {
		gate := tf.Group(g, "group_deps", after...)
		for i, x := range xs {
			out[i] = Identity(x, tf.Name("control_dependency"), tf.After(gate), tf.ColocateWith(x.Operation()))
		}
	})
	return out
}

// UnsortedSegmentMean returns the means of the slices of x with each of n ids;
// 0 where there are none. The shape of ids begins that of x; the result has a
// first dimension of size n, followed by the other dimensions of x. x holds
// floating-point numbers (float16, bfloat16, float32, float64); integers fail
// the step with NOT_FOUND. An x that does not begin with the shape of ids, a
// negative n, and an id of n or more are refused with INVALID_ARGUMENT, as by
// UnsortedSegmentSum.
func UnsortedSegmentMean(x, ids, n tf.Output) tf.Output {
	return scoped("UnsortedSegmentMean", x, func() tf.Output {
		return RealDiv(UnsortedSegmentSum(x, ids, n), segmentSizes(x, ids, n))
	})
}

// UnsortedSegmentSqrtN returns the sums of the slices of x with each of n ids,
// divided by the square roots of how many there are. Shapes, types and errors
// are those of UnsortedSegmentMean. An id without slices has 0.
func UnsortedSegmentSqrtN(x, ids, n tf.Output) tf.Output {
	return scoped("UnsortedSegmentSqrtN", x, func() tf.Output {
		return RealDiv(UnsortedSegmentSum(x, ids, n), Sqrt(segmentSizes(x, ids, n)))
	})
}

// segmentSizes returns how many slices each id has, at least 1, in a shape that
// broadcasts against the sums.
func segmentSizes(x, ids, n tf.Output) tf.Output {
	ones := Cast(OnesLike(ids), x.DType().Base())
	size := UnsortedSegmentSum(ones, ids, n)
	inner := Sub(Rank(x), Rank(ids))
	shape := ConcatV2([]tf.Output{Shape(size), Fill(Reshape(inner, []int{1}), intScalar(x, tf.Int32, 1))}, intScalar(x, tf.Int32, 0))
	return Maximum(Reshape(size, shape), numberLike(x, 1))
}
