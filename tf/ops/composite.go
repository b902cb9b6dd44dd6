package ops

import (
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

const compositeTypeName = "CompositeTensorVariant"

func init() {
	core.Register(core.OpDef{
		Name: "CompositeTensorVariantFromComponents", In: "components: Tcomponents", Out: "encoded: variant", Attrs: "metadata: string; Tcomponents: list(type) >= 0",
		Shape: core.ScalarShape, Grad: tf.GradFunc(compositeFromGrad), Kernels: core.AnyType(compositeFrom),
	})
	core.Register(core.OpDef{
		Name: "CompositeTensorVariantToComponents", In: "encoded: variant", Out: "components: Tcomponents", Attrs: "metadata: string; Tcomponents: list(type) >= 0",
		Shape: noOutputs, Grad: tf.GradFunc(compositeToGrad), Kernels: core.AnyType(compositeTo),
	})
	core.RegisterVariant(compositeTypeName, func(d core.VariantData) (any, error) {
		m, err := compositeMetadata(string(d.Metadata))
		return &composite{m, slices.Clone(d.Tensors)}, err
	})
}

// A composite is a value that is made of tensors, as one element of a variant.
type composite struct {
	metadata
	parts []*core.Tensor
}

// metadata says what kind of value it is: a protocol buffer that holds a
// TypeSpecProto.
type metadata struct {
	raw  string
	kind pb.TypeSpecProto_TypeSpecClass
}

// EncodeVariant writes it as TensorFlow does.
func (v *composite) EncodeVariant() (core.VariantData, error) {
	return core.VariantData{TypeName: compositeTypeName, Metadata: []byte(v.raw), Tensors: v.parts}, nil
}

// CompositeTensorVariantFromComponents returns a variant that holds a value
// made of tensors, which metadata, a CompositeTensorVariantMetadata, tells the
// kind of. The result is a scalar; the components are of any types and shapes.
// Metadata that cannot be parsed fails the step with INVALID_ARGUMENT.
func CompositeTensorVariantFromComponents(g *tf.Graph, components []tf.Output, metadata string, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "CompositeTensorVariantFromComponents", components, tf.Join(opts, tf.Attr("metadata", metadata), tf.Attr("Tcomponents", typesOf(components)))...).Output(0)
}

// CompositeTensorVariantToComponents returns the tensors, of the given types,
// that the value in a variant is made of. It has to be of the kind that
// metadata tells. An empty variant, one that holds no such value, a value of
// another kind, and components of another number or of other types fail the
// step with INVALID_ARGUMENT, as does metadata that cannot be parsed.
func CompositeTensorVariantToComponents(encoded tf.Output, metadata string, types []tf.DType, opts ...tf.Option) []tf.Output {
	return outputs(len(types), "CompositeTensorVariantToComponents", tf.Join(opts, tf.Attr("metadata", metadata), tf.Attr("Tcomponents", types)), encoded)
}

func typesOf(xs []tf.Output) []tf.DType {
	types := make([]tf.DType, len(xs))
	for i, x := range xs {
		types[i] = x.DType().Base()
	}
	return types
}

// compositeMetadata reads field 1, a TypeSpecProto.
func compositeMetadata(s string) (metadata, error) {
	m, bad := metadata{raw: s}, tf.Errorf(tf.InvalidArgument, "Error parsing metadata")
	for b := []byte(s); len(b) > 0; {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return m, bad
		}
		size := protowire.ConsumeFieldValue(num, typ, b[n:])
		if size < 0 {
			return m, bad
		}
		if num == 1 && typ == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(b[n:])
			var spec pb.TypeSpecProto
			if proto.Unmarshal(value, &spec) != nil {
				return m, bad
			}
			m.kind = spec.GetTypeSpecClass()
		}
		b = b[n+size:]
	}
	return m, nil
}

func compositeFrom(n *core.Node) (core.Kernel, error) {
	m, err := compositeMetadata(n.Str("metadata"))
	if err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		v := &composite{metadata: m, parts: make([]*core.Tensor, c.Inputs())}
		for i := range v.parts {
			v.parts[i] = keep(c.Input(i))
		}
		c.Set(0, variantOf(v))
		return nil
	}), nil
}

func compositeTo(n *core.Node) (core.Kernel, error) {
	m, err := compositeMetadata(n.Str("metadata"))
	if err != nil {
		return nil, tf.Errorf(tf.InvalidArgument, "Error parsing `metadata`")
	}
	types := n.TypesAttr("Tcomponents")
	return core.Compute(func(c *core.OpContext) error {
		v, err := compositeInput(c)
		if err != nil {
			return err
		}
		if err := v.check(m, types); err != nil {
			return err
		}
		for i, t := range v.parts {
			c.Set(i, t.Share())
		}
		return nil
	}), nil
}

func compositeInput(c *core.OpContext) (*composite, error) {
	t := c.Input(0)
	if t.Len() == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Input `encoded` must not be an empty variant tensor, but got %v", t)
	}
	if v, ok := t.Variants()[0].Value.(*composite); ok {
		return v, nil
	}
	return nil, tf.Errorf(tf.InvalidArgument, "The input `encoded` is not a valid CompositeTensorVariant tensor, got %v", t)
}

// check compares the value with what is expected of it.
func (v *composite) check(m metadata, types []tf.DType) error {
	if v.kind != m.kind {
		return tf.Errorf(tf.InvalidArgument, "Expected a %v (based on `type_spec`), but `encoded` contains a %v", m.kind, v.kind)
	}
	if len(types) != len(v.parts) {
		return tf.Errorf(tf.InvalidArgument, "Encoded value has %d tensor components; expected %d components based on type_spec", len(v.parts), len(types))
	}
	for i, t := range v.parts {
		if t.DType() != types[i].Base() {
			return tf.Errorf(tf.InvalidArgument, "Tensor component %d had dtype %s; expected dtype %s", i, enumName(t.DType()), enumName(types[i]))
		}
	}
	return nil
}

// enumName returns what TensorFlow's protocol buffers call a type.
func enumName(d tf.DType) string { return pb.DataType(d).String() }

func compositeFromGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(CompositeTensorVariantToComponents(dy[0], op.Str("metadata"), op.TypesAttr("Tcomponents"))...)
}

// compositeToGrad takes, as TensorFlow's, the components themselves for gradients
// that are not there.
func compositeToGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	d := slices.Clone(dy)
	for i := range d {
		if d[i].IsZero() {
			d[i] = op.Output(i)
		}
	}
	return tf.Grads(CompositeTensorVariantFromComponents(op.Output(0).Graph(), d, op.Str("metadata")))
}
