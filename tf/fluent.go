package tf

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// Methods of Output whose arguments are more than operands; the others are
// generated into zz_fluent.go.

// KeepDims, among the axes of a reduction that is a method of Output, keeps the
// dimensions that are reduced, with size 1: x.Sum(-1, tf.KeepDims). It is no axis of
// its own, so that x.Sum(tf.KeepDims) reduces all. Functions of package ops have
// ops.ReduceOpts instead.
const KeepDims = math.MinInt

// Abs returns |o|, of complex numbers the absolute values, which are real. See
// ops.Abs and ops.ComplexAbs.
func (o Output) Abs(opts ...Option) Output {
	switch o.DType().Base() {
	case Complex64:
		return o.then("ComplexAbs", Join(opts, Attr("Tout", Float32)))
	case Complex128:
		return o.then("ComplexAbs", Join(opts, Attr("Tout", Float64)))
	}
	return o.then("Abs", opts)
}

// Conj returns the complex conjugate of o, which is o itself if o is real. See
// ops.Conj.
func (o Output) Conj(opts ...Option) Output {
	if d := o.DType().Base(); o.Err() == nil && (d.IsFloat() || d.IsInteger()) {
		return o
	}
	return o.then("Conj", opts)
}

// MatMul returns the matrix product of o and y, of stacks of matrices if one of the
// two has more than two dimensions. See ops.MatMul and ops.BatchMatMul.
func (o Output) MatMul(y Output, opts ...Option) Output {
	if o.Err() == nil && y.Err() == nil && max(len(o.Shape()), len(y.Shape())) > 2 {
		return o.then("BatchMatMulV2", opts, y)
	}
	return o.then("MatMul", opts, y)
}

// Div returns o / y as Python's operator / does: integers become floating-point
// numbers first, float32 if they have 8 or 16 bits, else float64. See ops.Div.
func (o Output) Div(y any, opts ...Option) Output {
	return o.quotient().then("RealDiv", opts, asOperand(o, y).quotient())
}

// quotient returns o in the type of its quotients.
func (o Output) quotient() Output {
	if d := o.DType().Base().Quotient(); o.Err() == nil && d != o.DType().Base() {
		return o.Cast(d)
	}
	return o
}

// Clip returns o limited to [low, high]. See ops.ClipByValue.
func (o Output) Clip(low, high any, opts ...Option) Output {
	return o.then("ClipByValue", opts, asOperand(o, low), asOperand(o, high))
}

// Gather returns the slices of o along an axis that indices, integers, name. See
// ops.Gather.
func (o Output) Gather(indices Output, axis int, opts ...Option) Output {
	return o.then("GatherV2", opts, indices, asInt(o, axis))
}

// GatherNd returns the elements or slices of o whose positions are the rows of
// indices. See ops.GatherNd.
func (o Output) GatherNd(indices Output, opts ...Option) Output {
	return o.then("GatherNd", opts, indices)
}

// OneHot returns a new last dimension of depth float32, of which the one that the
// index o names is 1 and the others are 0. See ops.OneHot.
func (o Output) OneHot(depth int, opts ...Option) Output {
	if o.Err() != nil {
		return o
	}
	g := o.Graph()
	return o.then("OneHot", opts, asInt(o, depth), constant(g, core.Scalar(float32(1))), constant(g, core.Scalar(float32(0))))
}

// DynamicShape returns the shape of o as the step finds it, a vector of int32; Shape
// is what is known of it while the graph is built. See ops.Shape.
func (o Output) DynamicShape(opts ...Option) Output { return o.then("Shape", opts) }

// Conv2D returns the convolution of images o [n h w in] with a filter [h w in out].
// See ops.Conv2D.
func (o Output) Conv2D(filter Output, strides []int, padding string, opts ...Option) Output {
	return o.then("Conv2D", Join(opts, Attr("strides", strides), Attr("padding", padding)), filter)
}

// DynamicPartition returns n lists of slices of o: each slice is in that which
// partitions, integers below n, says for it. See ops.DynamicPartition.
func (o Output) DynamicPartition(partitions Output, n int, opts ...Option) []Output {
	return Apply(nil, "DynamicPartition", []Output{o, partitions}, Join(opts, Attr("num_partitions", n))...).outputs(n)
}

// Pad returns o with zeros put around it: as many before and behind each dimension
// as its pair says. See ops.Pad.
func (o Output) Pad(paddings [][2]int, opts ...Option) Output {
	if o.unusable() {
		return o.then("Pad", opts, o)
	}
	var flat []int
	for _, p := range paddings {
		flat = append(flat, p[0], p[1])
	}
	return o.then("Pad", opts, o.Graph().intConstant(flat, Shape{len(paddings), 2}))
}

// Reverse returns o with the elements in reverse order along axes. See ops.Reverse.
func (o Output) Reverse(axes ...int) Output { return o.then("ReverseV2", nil, asInts(o, axes)) }

// Select returns, where o holds, the elements of t, else those of e; the three are
// broadcast. One of t and e may be a Go number, but not both. See ops.SelectV2.
func (o Output) Select(t, e any, opts ...Option) Output {
	like, ok := t.(Output)
	if !ok {
		like, _ = e.(Output)
	}
	if like.IsZero() {
		err := Errorf(InvalidArgument, "one of the two values must be an Output, from which the other takes its type: got %T and %T", t, e)
		return o.then("SelectV2", []Option{optionFunc(func(s *Spec) { s.Err = err })})
	}
	return o.then("SelectV2", opts, asOperand(like, t), asOperand(like, e))
}

// Unique returns the elements of vector o without repetitions, in the order in which
// they come first, and for each element of o its int32 index there. See ops.Unique.
func (o Output) Unique(opts ...Option) (values, indices Output) {
	out := Apply(nil, "Unique", []Output{o}, opts...).outputs(2)
	return out[0], out[1]
}

// UnsortedSegmentSum returns n sums, each of the slices of o to which ids give its
// number. See ops.UnsortedSegmentSum.
func (o Output) UnsortedSegmentSum(ids Output, n int, opts ...Option) Output {
	return o.then("UnsortedSegmentSum", opts, ids, asInt(o, n))
}

// Xor reports where one of o and y holds, but not both. See ops.LogicalXor.
func (o Output) Xor(y any, opts ...Option) Output {
	other := asOperand(o, y)
	return o.Or(other).then("LogicalAnd", opts, o.And(other).Not())
}

// Slice returns the block of o that begins at begin and has the given size, in
// which -1 means up to the end. See ops.Slice and At.
func (o Output) Slice(begin, size []int, opts ...Option) Output {
	return o.then("Slice", opts, asInts(o, begin), asInts(o, size))
}

// Split cuts o into num parts of equal size along an axis. See ops.Split.
func (o Output) Split(num, axis int, opts ...Option) []Output {
	return Apply(nil, "Split", []Output{asInt(o, axis), o}, Join(opts, Attr("num_split", num))...).outputs(num)
}

// Squeeze returns o without its dimensions of size 1: those that axes names, all of
// them if it names none. See ops.Squeeze.
func (o Output) Squeeze(axes ...int) Output {
	return o.then("Squeeze", []Option{Attr("squeeze_dims", slices.Clone(axes))})
}

// TopK returns the k greatest elements along the last dimension, in descending
// order, and their int32 indices. See ops.TopK.
func (o Output) TopK(k int, opts ...Option) (values, indices Output) {
	out := Apply(nil, "TopKV2", []Output{o, asInt(o, k)}, opts...).outputs(2)
	return out[0], out[1]
}

// Transpose returns o with its dimensions in the order that axes say: all of them
// reversed if there are none. See ops.Transpose.
func (o Output) Transpose(axes ...int) Output {
	if len(axes) > 0 || o.Err() != nil || o.Operation() == nil {
		return o.then("Transpose", nil, asInts(o, axes))
	}
	s := o.Shape()
	if s == nil {
		all := o.axes(nil)
		return o.then("Transpose", nil, o.then("Rank", nil).Sub(1).Sub(all))
	}
	for i := range s {
		axes = append(axes, len(s)-1-i)
	}
	return o.then("Transpose", nil, asInts(o, axes))
}

// Unstack returns the parts of o along an axis, whose size has to be known, without
// that axis. See ops.Unstack.
func (o Output) Unstack(axis int, opts ...Option) []Output {
	num, s := 1, o.Shape()
	if at := axis + len(s); axis < 0 {
		axis = at
	}
	if o.Err() == nil {
		if axis < 0 || axis >= len(s) || s[axis] < 0 {
			err := Errorf(InvalidArgument, "Unstack needs an axis of known size: shape %v, axis %d", s, axis)
			opts = Join(opts, optionFunc(func(s *Spec) { s.Err = err }))
		} else {
			num = s[axis]
		}
	}
	return Apply(nil, "Unpack", []Output{o}, Join(opts, Attr("num", num), Attr("axis", axis))...).outputs(num)
}

// outputs returns the first n outputs of op, with its error if it has one.
func (op *Operation) outputs(n int) []Output {
	out := make([]Output, max(n, 0))
	for k := range out {
		out[k] = op.Output(k)
	}
	return out
}
