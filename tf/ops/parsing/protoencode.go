package parsing

import (
	"cmp"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	register("EncodeProto", "sizes: int32; values: Tinput_types", "bytes: string",
		"field_names: list(string); message_type: string; descriptor_source: string = 'local://'; Tinput_types: list(type) >= 1",
		encodeProtoShape, core.AnyType(encodeProto))
}

// EncodeProtoOpts are the optional attributes of EncodeProto: where its type is
// described, see ProtoOpts.
type EncodeProtoOpts struct{ DescriptorSource string }

// Apply sets the attributes.
func (o EncodeProtoOpts) Apply(s *tf.Spec) {
	if o.DescriptorSource != "" {
		s.Set("descriptor_source", o.DescriptorSource)
	}
}

// EncodeProto writes protocol buffers of a type, the inverse of DecodeProtoV2:
// values hold the fields, in rows of which sizes tells how much counts. The
// values have two dimensions or more and agree in all but the last; the result
// has the shape of these, and sizes, int32, has one more dimension, as long as
// fields. Values of fewer dimensions, or that do not agree, are refused with
// INVALID_ARGUMENT, when the graph is built if the shapes are known, else in
// the step; so are, in the step, a type that does not fit its field, an
// unknown field or message type, and a size that is negative or larger than a
// row. Its options are [EncodeProtoOpts].
func EncodeProto(sizes tf.Output, values []tf.Output, messageType string, fields []string, opts ...tf.Option) tf.Output {
	opts = tf.Join(opts, tf.Attr("message_type", messageType), tf.Attr("field_names", fields))
	return apply("EncodeProto", opts, append([]tf.Output{sizes}, values...)...)
}

// encodeProtoShape: all values agree in all dimensions but the last.
func encodeProtoShape(c *core.Infer) error {
	var out tf.Shape
	for i := 1; i < c.NumIn(); i++ {
		s := c.In(i)
		if s == nil {
			continue
		}
		if len(s) < 2 {
			return tf.Errorf(tf.InvalidArgument, "Shape must be at least rank 2 but is rank %d", len(s))
		}
		s = s[:len(s)-1]
		if out == nil {
			out = s.Clone()
			continue
		}
		if len(s) != len(out) {
			return tf.Errorf(tf.InvalidArgument, "Shapes must be equal rank, but are %d and %d", len(s), len(out))
		}
		for k, d := range s {
			if out[k] >= 0 && d >= 0 && out[k] != d {
				return tf.Errorf(tf.InvalidArgument, "Dimension %d in both shapes must be equal, but are %d and %d", k, d, out[k])
			}
			out[k] = max(out[k], d)
		}
	}
	c.Set(0, out)
	return nil
}

// A protoEncoder writes the fields that a node names.
type protoEncoder struct {
	names  []string
	fields []protoreflect.FieldDescriptor
	order  []int // of the fields by their numbers
}

func encodeProto(n *core.Node) (core.Kernel, error) {
	m, err := messageTypeOf(n)
	if err != nil {
		return nil, err
	}
	e := &protoEncoder{names: n.Strs("field_names")}
	for i, name := range e.names {
		f, err := m.field(name, false)
		if err != nil {
			return nil, err
		}
		e.fields, e.order = append(e.fields, f), append(e.order, i)
	}
	slices.SortFunc(e.order, func(a, b int) int { return cmp.Compare(e.fields[a].Number(), e.fields[b].Number()) })
	return core.Compute(e.compute), nil
}

func (e *protoEncoder) compute(c *core.OpContext) error {
	if len(e.fields) != len(c.In)-1 {
		return tf.Errorf(tf.InvalidArgument, "Length of inputs list must match field_names")
	}
	sizes := c.Input(0)
	values := make([]*core.Tensor, len(e.fields))
	for i := range values {
		values[i] = c.Input(i + 1)
	}
	prefix, err := e.check(sizes, values)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, tf.String, prefix)
	if err != nil {
		return err
	}
	counts := core.Data[int32](sizes)
	for m := range core.Data[string](out) {
		var b []byte
		for _, i := range e.order {
			v := values[i]
			width := v.Dim(v.Rank() - 1)
			b = appendField(b, e.fields[i], v, m*width, int(counts[m*len(e.fields)+i]))
		}
		core.Data[string](out)[m] = string(b)
	}
	return nil
}

// check returns the shape of the messages.
func (e *protoEncoder) check(sizes *core.Tensor, values []*core.Tensor) (tf.Shape, error) {
	var prefix tf.Shape
	for i, v := range values {
		f := e.fields[i]
		switch {
		case !holds(v.DType(), f.Kind()):
			return nil, tf.Errorf(tf.InvalidArgument, "Incompatible type for field %s.  Saw dtype: %s but field type is: %s", e.names[i], v.DType().CName(), f.Kind())
		case v.Rank() < 2:
			return nil, tf.Errorf(tf.InvalidArgument, "Invalid shape for field %s.  Saw shape %s but it should be at least a matrix.", e.names[i], v.Shape().String())
		}
		s := v.Shape()[:v.Rank()-1]
		if prefix == nil {
			prefix = s.Clone()
		} else if !prefix.Equal(s) {
			return nil, tf.Errorf(tf.InvalidArgument, "Values must match up to the last dimension")
		}
	}
	want := append(prefix.Clone(), len(values))
	if !sizes.Shape().Equal(want) {
		return nil, tf.Errorf(tf.InvalidArgument, "sizes should be batch_size + [len(field_names)].  Saw: %s but expected: %s", sizes.Shape().String(), want.String())
	}
	return prefix, checkSizes(sizes, values)
}

// checkSizes compares sizes with the rows that are there.
func checkSizes(sizes *core.Tensor, values []*core.Tensor) error {
	counts := core.Data[int32](sizes)
	for i, v := range values {
		most := v.Dim(v.Rank() - 1)
		for m := range len(counts) / len(values) {
			n := int(counts[m*len(values)+i])
			if n > most {
				return tf.Errorf(tf.InvalidArgument, "Size to write must not be larger than value tensor; but saw: %d > %d at message %d field %d", n, most, m, i)
			}
			if n < 0 {
				return tf.Errorf(tf.InvalidArgument, "Size to write must not be negative; but saw: %d at message %d field %d", n, m, i)
			}
		}
	}
	return nil
}

// appendField writes n values of v, the first of which is number at.
func appendField(b []byte, f protoreflect.FieldDescriptor, v *core.Tensor, at, n int) []byte {
	if n > 0 && f.IsPacked() {
		var data []byte
		for i := range n {
			data = appendValue(data, f.Kind(), v, at+i)
		}
		return protowire.AppendBytes(protowire.AppendTag(b, f.Number(), protowire.BytesType), data)
	}
	for i := range n {
		b = protowire.AppendTag(b, f.Number(), wireTypes[f.Kind()])
		b = appendValue(b, f.Kind(), v, at+i)
		if f.Kind() == protoreflect.GroupKind {
			b = protowire.AppendTag(b, f.Number(), protowire.EndGroupType)
		}
	}
	return b
}

// appendValue writes element i of v without a tag.
func appendValue(b []byte, k protoreflect.Kind, v *core.Tensor, i int) []byte {
	switch k {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.AppendString(b, core.Data[string](v)[i])
	case protoreflect.GroupKind:
		return append(b, core.Data[string](v)[i]...)
	case protoreflect.DoubleKind:
		return protowire.AppendFixed64(b, math.Float64bits(core.Data[float64](v)[i]))
	case protoreflect.FloatKind:
		return protowire.AppendFixed32(b, math.Float32bits(single(v, i)))
	}
	switch x := integer(v, i); k {
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind:
		return protowire.AppendFixed32(b, uint32(x))
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
		return protowire.AppendFixed64(b, x)
	case protoreflect.Sint32Kind:
		return protowire.AppendVarint(b, protowire.EncodeZigZag(int64(int32(x))))
	case protoreflect.Sint64Kind:
		return protowire.AppendVarint(b, protowire.EncodeZigZag(int64(x)))
	case protoreflect.Int32Kind, protoreflect.EnumKind:
		return protowire.AppendVarint(b, uint64(int32(x)))
	case protoreflect.Uint32Kind:
		return protowire.AppendVarint(b, uint64(uint32(x)))
	default:
		return protowire.AppendVarint(b, x)
	}
}

func single(v *core.Tensor, i int) float32 {
	if v.DType() == tf.Float64 {
		return float32(core.Data[float64](v)[i])
	}
	return core.Data[float32](v)[i]
}

// integer returns element i of v, its sign extended.
func integer(v *core.Tensor, i int) uint64 {
	switch v.DType() {
	case tf.Bool:
		return protowire.EncodeBool(core.Data[bool](v)[i])
	case tf.Int32:
		return uint64(core.Data[int32](v)[i])
	case tf.Int64:
		return uint64(core.Data[int64](v)[i])
	case tf.Uint32:
		return uint64(core.Data[uint32](v)[i])
	default:
		return core.Data[uint64](v)[i]
	}
}
