package tf

import (
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// Methods of Output whose arguments are more than operands; the others are
// generated into zz_fluent.go.

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
