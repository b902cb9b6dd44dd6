package ops

import "github.com/gorge-tf/gorge/tf"

// A TensorArray is an array of tensors of one type that lasts for a step. Its
// methods return a new TensorArray where they write: use that one from then
// on, and in loops carry its Flow as a loop variable and come back by WithFlow.
//
// In an eager graph and in its functions it is a list, as in TensorFlow 2: gradients on a
// tape go through it. It lasts as long as it is used, its elements may be written and read
// again, and in a function Scatter and Split may change its size.
type TensorArray struct {
	handle, flow tf.Output
	dtype        tf.DType
	shape        tf.Shape // of elements, as far as it is known
	anyShape     bool     // elements may have different shapes
	isList       bool     // the flow is a list of the elements
	dynamic      bool     // of a list: it grows
}

// TensorArrayOpts are the optional attributes of a TensorArray.
type TensorArrayOpts struct {
	DynamicSize   bool     // it grows as it is written
	KeepAfterRead bool     // elements may be read more than once
	ElementShape  tf.Shape // what is known of the shape of all elements
	AnyShape      bool     // elements may have different shapes
	ArrayName     string
}

// Apply sets the attributes.
func (o TensorArrayOpts) Apply(s *tf.Spec) {
	s.Set("dynamic_size", o.DynamicSize)
	s.Set("clear_after_read", !o.KeepAfterRead)
	s.Set("element_shape", o.ElementShape)
	s.Set("identical_element_shapes", !o.AnyShape)
	s.Set("tensor_array_name", o.ArrayName)
}

// NewTensorArray makes an array of size elements, a scalar of type int32, of
// type d. Reading an element that was not written to gives zeros if the shape
// of elements is known. A size that is not a scalar, is negative or exceeds
// 2²⁸ is refused with INVALID_ARGUMENT in the step.
func NewTensorArray(size tf.Output, d tf.DType, o TensorArrayOpts, opts ...tf.Option) TensorArray {
	if onTapes(size.Graph()) {
		return newListArray(size, d, o, opts)
	}
	out := outputs(2, "TensorArrayV3", tf.Join(opts, tf.Name("TensorArray"), tf.Attr("dtype", d), o), size)
	return TensorArray{handle: out[0], flow: out[1], dtype: d, shape: o.ElementShape, anyShape: o.AnyShape}
}

// Handle returns the handle of the array; of one that is a list, the list that it
// began as.
func (a TensorArray) Handle() tf.Output { return a.handle }

// Flow returns the number that orders the operations on the array, or the list that
// it is.
func (a TensorArray) Flow() tf.Output { return a.flow }

// DType returns the type of the elements.
func (a TensorArray) DType() tf.DType { return a.dtype }

// ElementShape returns what is known of the shape of the elements.
func (a TensorArray) ElementShape() tf.Shape { return a.shape }

// Err returns the error that keeps the array from being used, if there is one.
func (a TensorArray) Err() error { return a.flow.Err() }

// WithFlow returns the array as it is when flow is there.
func (a TensorArray) WithFlow(flow tf.Output) TensorArray {
	a.flow = flow
	return a
}

// typed refuses value where it is not of the elements' type, and the zero Output.
func (a TensorArray) typed(op string, value tf.Output) TensorArray {
	switch d := value.DType().Base(); {
	case a.handle.IsZero():
		a.flow = tf.Failed(value.Graph(), op, tf.Errorf(tf.InvalidArgument, "the zero TensorArray has no elements: make one by NewTensorArray")).Output(0)
		a.handle = a.flow
	case value.Err() == nil && a.flow.Err() == nil && d != a.dtype:
		err := tf.Errorf(tf.InvalidArgument, "TensorArray dtype is %v but Op is trying to write dtype %v.", a.dtype, d)
		a.flow = tf.Failed(a.handle.Graph(), op, err).Output(0)
	}
	return a
}

// checked merges s into what is known of the elements' shape.
func (a TensorArray) checked(s tf.Shape) TensorArray {
	if a.anyShape {
		return a
	}
	merged, ok := a.shape.Merge(s)
	if !ok {
		err := tf.Errorf(tf.InvalidArgument, "Inconsistent shapes: saw %v but expected %v", s, a.shape)
		a.flow = tf.Failed(a.handle.Graph(), "TensorArrayWriteV3", err).Output(0)
		return a
	}
	a.shape = merged
	return a
}

// Write writes value to element index. index is an int32 scalar. A value whose
// known shape contradicts that of the elements is refused with
// INVALID_ARGUMENT when the graph is built, unless they may differ. The step
// fails with INVALID_ARGUMENT if the type or shape does not fit, the index is
// out of range of an array that does not grow, the element was written or read
// before, or the array is closed, and with RESOURCE_EXHAUSTED for an index of
// 2²⁸ or more.
func (a TensorArray) Write(index, value tf.Output, opts ...tf.Option) TensorArray {
	if a = a.typed("TensorArrayWriteV3", value).checked(value.Shape()); a.flow.Err() != nil {
		return a
	}
	if a.isList {
		return a.writeList(index, value, opts)
	}
	return a.WithFlow(apply("TensorArrayWriteV3", opts, a.handle, index, value, a.flow))
}

// Read returns element index. index is an int32 scalar. The step fails with
// INVALID_ARGUMENT if the index is out of range, the element was read before
// and is not kept, it was not written and the shape of elements is not known,
// or the array is closed.
func (a TensorArray) Read(index tf.Output, opts ...tf.Option) tf.Output {
	var y tf.Output
	if a.isList {
		y = a.readList(index, opts)
	} else {
		y = apply("TensorArrayReadV3", tf.Join(opts, tf.Attr("dtype", a.dtype)), a.handle, index, a.flow)
	}
	y.SetShape(a.shape)
	return y
}

// Gather returns the elements of the given numbers, stacked. indices is an
// int32 vector, and the result has one row for each. The step fails with
// INVALID_ARGUMENT if another rank is given, the shapes of elements differ or
// Read would fail, and with UNIMPLEMENTED if there are no indices and the
// shape of elements is not known.
func (a TensorArray) Gather(indices tf.Output, opts ...tf.Option) tf.Output {
	var y tf.Output
	if a.isList {
		y = a.gatherList(indices, opts)
	} else {
		opts = tf.Join(opts, tf.Attr("dtype", a.dtype), tf.Attr("element_shape", a.shape))
		y = apply("TensorArrayGatherV3", opts, a.handle, indices, a.flow)
	}
	return a.rows(y)
}

// rows returns y, elements that are stacked, as one whose shape is known as far as theirs.
func (a TensorArray) rows(y tf.Output) tf.Output {
	if a.shape != nil {
		y.SetShape(append(tf.Shape{-1}, a.shape...))
	}
	return y
}

// Stack returns all elements, stacked. It fails as Gather does: with
// INVALID_ARGUMENT if their shapes differ or one cannot be read, with
// UNIMPLEMENTED if the array is empty and the shape of elements is not known.
func (a TensorArray) Stack() (y tf.Output) {
	g := a.handle.Graph()
	g.Scope("TensorArrayStack", func() {
		if a.isList {
			y = a.stackList()
			return
		}
		y = a.Gather(a.all(a.Size()))
	})
	return y
}

// all returns the numbers of n elements.
func (a TensorArray) all(n tf.Output) tf.Output {
	return Range(nil, intScalar(a.handle, tf.Int32, 0), n, intScalar(a.handle, tf.Int32, 1), tf.Name("range"))
}

// Scatter writes the rows of value to the elements of the given numbers.
// indices is an int32 vector with one element for each row. A scalar value,
// another number of indices, an index out of range of an array that does not
// grow, and what Write refuses are refused with INVALID_ARGUMENT in the step.
func (a TensorArray) Scatter(indices, value tf.Output, opts ...tf.Option) TensorArray {
	a = a.typed("TensorArrayScatterV3", value)
	if s := value.Shape(); len(s) > 0 {
		a = a.checked(s[1:])
	}
	if a.flow.Err() != nil {
		return a
	}
	if a.isList {
		return a.scatterList(indices, value, opts)
	}
	return a.WithFlow(apply("TensorArrayScatterV3", opts, a.handle, indices, value, a.flow))
}

// Unstack writes the rows of value to all elements. value has one dimension or
// more. It fails as Scatter does: with INVALID_ARGUMENT in the step if there
// are more rows than elements and the array does not grow.
func (a TensorArray) Unstack(value tf.Output) (b TensorArray) {
	g := a.handle.Graph()
	g.Scope("TensorArrayUnstack", func() {
		var n tf.Output
		if s := value.Shape(); len(s) > 0 && s[0] >= 0 {
			n = intScalar(value, tf.Int32, s[0])
		} else {
			n = sliceRow(Shape(value), 0)
		}
		b = a.Scatter(a.all(n), value)
	})
	return b
}

// sliceRow returns element i of vector x.
func sliceRow(x tf.Output, i int) tf.Output {
	return GatherV2(x, intScalar(x, tf.Int32, i), intScalar(x, tf.Int32, 0))
}

// Concat returns all elements, joined along their first dimension. The step
// fails with INVALID_ARGUMENT if an element is a scalar, the other dimensions
// differ or Read would fail, and with UNIMPLEMENTED if the array is empty and
// the other dimensions are not known.
func (a TensorArray) Concat(opts ...tf.Option) tf.Output {
	if a.isList {
		return a.concatList(opts)
	}
	var rest tf.Shape
	if len(a.shape) > 0 {
		rest = a.shape[1:]
	}
	opts = tf.Join(opts, tf.Attr("dtype", a.dtype), tf.Attr("element_shape_except0", rest))
	return apply("TensorArrayConcatV3", opts, a.handle, a.flow)
}

// Split writes parts of value, of the given lengths, to the elements. lengths
// is an int64 vector with one element for each of the array's, and their sum
// is the first dimension of value. The step fails with INVALID_ARGUMENT if
// they are negative, do not add up or are of another number, unless the array
// grows, and for what Write refuses.
func (a TensorArray) Split(value, lengths tf.Output, opts ...tf.Option) TensorArray {
	if a.isList {
		return a.splitList(value, lengths, opts)
	}
	return a.WithFlow(apply("TensorArraySplitV3", opts, a.handle, value, lengths, a.flow))
}

// Size returns the number of elements. The result is an int32 scalar. The step
// fails with INVALID_ARGUMENT if the array is closed.
func (a TensorArray) Size(opts ...tf.Option) tf.Output {
	if a.isList {
		return TensorListLength(a.flow, opts...)
	}
	return apply("TensorArraySizeV3", opts, a.handle, a.flow)
}

// Close deletes the array. Its elements are dropped, and later operations on
// it in the step fail with INVALID_ARGUMENT. A list needs not be closed, and is
// left as it is.
func (a TensorArray) Close(opts ...tf.Option) *tf.Operation {
	if a.isList {
		return tf.Apply(a.handle.Graph(), "NoOp", nil, opts...)
	}
	return tf.Apply(nil, "TensorArrayCloseV3", []tf.Output{a.handle}, opts...)
}

// Grad returns the array of the gradients that come from source. It has the
// type and number of elements of a, which grows no more, and writes to one
// element are added up. The step fails with INVALID_ARGUMENT if a is closed or
// has had values added to an element. An array that is a list has no such array:
// UNIMPLEMENTED.
func (a TensorArray) Grad(source string, flow tf.Output) (d TensorArray) {
	g := a.handle.Graph()
	if d = a; a.isList {
		return a.failed("TensorArrayGradV3", tf.Errorf(tf.Unimplemented, "arrays of gradients are those of graphs for sessions: in an eager graph gradients are taken on a tape, which eager.Record makes"))
	}
	g.Scope("TensorArrayGrad", func() {
		out := outputs(2, "TensorArrayGradV3", []tf.Option{tf.Attr("source", source), tf.ColocateWith(a.handle.Operation())}, a.handle, flow)
		if d.handle = out[0]; d.handle.Err() != nil {
			d.flow = d.handle
			return
		}
		g.ControlDependencies([]*tf.Operation{d.handle.Operation()}, func() { d.flow = Identity(flow, tf.Name("gradient_flow")) })
	})
	return d
}
