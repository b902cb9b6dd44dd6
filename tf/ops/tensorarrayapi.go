package ops

import "github.com/gorge-tf/gorge/tf"

// A TensorArray is an array of tensors of one type that lasts for a step. Its
// methods return a new TensorArray where they write: use that one from then
// on, and in loops carry its Flow as a loop variable and come back by WithFlow.
type TensorArray struct {
	handle, flow tf.Output
	dtype        tf.DType
	shape        tf.Shape // of elements, as far as it is known
	anyShape     bool     // elements may have different shapes
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
// of elements is known.
func NewTensorArray(size tf.Output, d tf.DType, o TensorArrayOpts, opts ...tf.Option) TensorArray {
	out := outputs(2, "TensorArrayV3", tf.Join(opts, tf.Name("TensorArray"), tf.Attr("dtype", d), o), size)
	return TensorArray{handle: out[0], flow: out[1], dtype: d, shape: o.ElementShape, anyShape: o.AnyShape}
}

// Handle returns the handle of the array.
func (a TensorArray) Handle() tf.Output { return a.handle }

// Flow returns the number that orders the operations on the array.
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

// Write writes value to element index.
func (a TensorArray) Write(index, value tf.Output, opts ...tf.Option) TensorArray {
	if a = a.checked(value.Shape()); a.flow.Err() != nil {
		return a
	}
	return a.WithFlow(apply("TensorArrayWriteV3", opts, a.handle, index, value, a.flow))
}

// Read returns element index.
func (a TensorArray) Read(index tf.Output, opts ...tf.Option) tf.Output {
	y := apply("TensorArrayReadV3", tf.Join(opts, tf.Attr("dtype", a.dtype)), a.handle, index, a.flow)
	y.SetShape(a.shape)
	return y
}

// Gather returns the elements of the given numbers, stacked.
func (a TensorArray) Gather(indices tf.Output, opts ...tf.Option) tf.Output {
	opts = tf.Join(opts, tf.Attr("dtype", a.dtype), tf.Attr("element_shape", a.shape))
	y := apply("TensorArrayGatherV3", opts, a.handle, indices, a.flow)
	if a.shape != nil {
		y.SetShape(append(tf.Shape{-1}, a.shape...))
	}
	return y
}

// Stack returns all elements, stacked.
func (a TensorArray) Stack() (y tf.Output) {
	g := a.handle.Graph()
	g.Scope("TensorArrayStack", func() { y = a.Gather(a.all(a.Size())) })
	return y
}

// all returns the numbers of n elements.
func (a TensorArray) all(n tf.Output) tf.Output {
	return Range(nil, intScalar(a.handle, tf.Int32, 0), n, intScalar(a.handle, tf.Int32, 1), tf.Name("range"))
}

// Scatter writes the rows of value to the elements of the given numbers.
func (a TensorArray) Scatter(indices, value tf.Output, opts ...tf.Option) TensorArray {
	if s := value.Shape(); len(s) > 0 {
		a = a.checked(s[1:])
	}
	if a.flow.Err() != nil {
		return a
	}
	return a.WithFlow(apply("TensorArrayScatterV3", opts, a.handle, indices, value, a.flow))
}

// Unstack writes the rows of value to all elements.
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

// Concat returns all elements, joined along their first dimension.
func (a TensorArray) Concat(opts ...tf.Option) tf.Output {
	var rest tf.Shape
	if len(a.shape) > 0 {
		rest = a.shape[1:]
	}
	opts = tf.Join(opts, tf.Attr("dtype", a.dtype), tf.Attr("element_shape_except0", rest))
	return apply("TensorArrayConcatV3", opts, a.handle, a.flow)
}

// Split writes parts of value, of the given lengths, to the elements.
func (a TensorArray) Split(value, lengths tf.Output, opts ...tf.Option) TensorArray {
	return a.WithFlow(apply("TensorArraySplitV3", opts, a.handle, value, lengths, a.flow))
}

// Size returns the number of elements.
func (a TensorArray) Size(opts ...tf.Option) tf.Output {
	return apply("TensorArraySizeV3", opts, a.handle, a.flow)
}

// Close deletes the array.
func (a TensorArray) Close(opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "TensorArrayCloseV3", []tf.Output{a.handle}, opts...)
}

// Grad returns the array of the gradients that come from source.
func (a TensorArray) Grad(source string, flow tf.Output) (d TensorArray) {
	g := a.handle.Graph()
	d = a
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
