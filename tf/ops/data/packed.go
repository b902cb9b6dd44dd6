package data

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/snappy"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func init() {
	core.Register(core.OpDef{
		Name: "CompressElement", In: "components: input_types", Out: "compressed: variant", Attrs: "input_types: list(type) >= 1",
		Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(compressElement),
	})
	core.Register(core.OpDef{
		Name: "UncompressElement", In: "compressed: variant", Out: "components: output_types", Attrs: outputs,
		Shape: declaredShapes, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(uncompressElement),
	})
	core.RegisterVariant(packedType, func(d core.VariantData) (any, error) { return &packed{string(d.Metadata)}, nil })
}

// packedType names packed elements among variants, as TensorFlow does.
const packedType = "tensorflow.data.CompressedElement"

// packed is an element in the form of a message.
type packed struct{ message string }

// EncodeVariant lets the element leave its process.
func (p *packed) EncodeVariant() (core.VariantData, error) {
	return core.VariantData{TypeName: packedType, Metadata: []byte(p.message)}, nil
}

// Fields of that message, and of those that tell of the components.
const (
	packedData      protowire.Number = 1
	packedComponent protowire.Number = 2
	packedVersion   protowire.Number = 3

	componentType  protowire.Number = 1
	componentShape protowire.Number = 2
	componentSizes protowire.Number = 4
)

func compressElement(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		p, err := pack(c.Tensors(0, c.Inputs()))
		if err != nil {
			return err
		}
		t := core.NewTensor(tf.Variant, tf.Shape{})
		t.Variants()[0].Value = p
		c.Set(0, t)
		return nil
	}), nil
}

// pack puts the bytes of all components, one after the other, in one block.
func pack(e []*core.Tensor) (*packed, error) {
	var plain, message []byte
	for _, t := range e {
		parts, err := bytesOf(t)
		if err != nil {
			return nil, err
		}
		m := protowire.AppendVarint(protowire.AppendTag(nil, componentType, protowire.VarintType), uint64(t.DType()))
		shape, err := proto.Marshal(core.ShapeProto(t.Shape()))
		if err != nil {
			return nil, err
		}
		m = protowire.AppendBytes(protowire.AppendTag(m, componentShape, protowire.BytesType), shape)
		var sizes []byte
		for _, part := range parts {
			plain = append(plain, part...)
			sizes = protowire.AppendVarint(sizes, uint64(len(part)))
		}
		m = protowire.AppendBytes(protowire.AppendTag(m, componentSizes, protowire.BytesType), sizes)
		message = protowire.AppendBytes(protowire.AppendTag(message, packedComponent, protowire.BytesType), m)
	}
	message = protowire.AppendBytes(protowire.AppendTag(message, packedData, protowire.BytesType), snappy.Encode(nil, plain))
	return &packed{string(message)}, nil
}

// bytesOf returns what a tensor consists of: one string of bytes, one for each
// element that is a string, or none if it is empty.
func bytesOf(t *core.Tensor) (parts []string, err error) {
	switch {
	case t.DType() == tf.String:
		return core.Data[string](t), nil
	case t.DType() == tf.Resource || t.DType() == tf.Variant:
		p, err := core.EncodeTensor(t)
		if err != nil {
			return nil, err
		}
		b, err := proto.Marshal(p)
		return []string{string(b)}, err
	case t.Len() == 0:
		return nil, nil
	}
	return []string{string(t.Buffer().Bytes()[:t.Len()*t.DType().Size()])}, nil
}

func uncompressElement(n *core.Node) (core.Kernel, error) {
	want := n.TypesAttr("output_types")
	return core.Compute(func(c *core.OpContext) error {
		if rank := c.Input(0).Rank(); rank != 0 {
			return tf.Errorf(tf.InvalidArgument, "UncompressElement requires its input to be a scalar, but encountered an input with %d dimensions.", rank)
		}
		p, ok := c.Input(0).Variants()[0].Value.(*packed)
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "Input does not contain a compressed element. Instead got tensor %v", c.Input(0))
		}
		e, err := p.unpack()
		if err != nil {
			return err
		}
		if len(e) != len(want) {
			return tf.Errorf(tf.FailedPrecondition, "Expected %d outputs from uncompress, but got %d", len(want), len(e))
		}
		for i, t := range e {
			if t.DType() != want[i] {
				return tf.Errorf(tf.FailedPrecondition, "Expected a tensor of type %s but got a tensor of type %s", want[i].CName(), t.DType().CName())
			}
			c.Set(i, t)
		}
		return nil
	}), nil
}

// A component is what the message tells of one.
type component struct {
	dtype tf.DType
	shape tf.Shape
	sizes []uint64
}

var errPacked = tf.Errorf(tf.Internal, "a compressed element must be a message as CompressElement makes it")

// unpack returns the components.
func (p *packed) unpack() ([]*core.Tensor, error) {
	var block []byte
	var parts []component
	err := eachField([]byte(p.message), func(num protowire.Number, v uint64, b []byte) (err error) {
		switch num {
		case packedData:
			block = b
		case packedComponent:
			var one component
			one, err = parseComponent(b)
			parts = append(parts, one)
		case packedVersion:
			if v != 0 {
				err = tf.Errorf(tf.Internal, "Unsupported compressed element version: %d", v)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	plain, err := plainOf(block)
	if err != nil {
		return nil, err
	}
	var e []*core.Tensor
	for _, part := range parts {
		var t *core.Tensor
		if t, plain, err = part.tensor(plain); err != nil {
			return nil, err
		}
		e = append(e, t)
	}
	if len(plain) > 0 {
		return nil, tf.Errorf(tf.Internal, "Uncompressed size mismatch. Snappy has %d bytes more than the tensor metadata suggests", len(plain))
	}
	return e, nil
}

// plainOf returns what a block has in compressed form.
func plainOf(block []byte) ([]byte, error) {
	plain, err := snappy.Decode(block)
	switch {
	case core.Exhausted(err):
		return nil, core.AsError(err)
	case err != nil:
		return nil, tf.Errorf(tf.Internal, "Failed to perform snappy decompression.")
	}
	return plain, nil
}

// eachField calls f for the fields of a message: with v, if they are numbers, or
// with b.
func eachField(m []byte, f func(num protowire.Number, v uint64, b []byte) error) error {
	for len(m) > 0 {
		num, typ, n := protowire.ConsumeTag(m)
		if n < 0 {
			return errPacked
		}
		m = m[n:]
		size := protowire.ConsumeFieldValue(num, typ, m)
		if size < 0 {
			return errPacked
		}
		var v uint64
		var b []byte
		switch typ {
		case protowire.VarintType:
			v, _ = protowire.ConsumeVarint(m)
		case protowire.BytesType:
			b, _ = protowire.ConsumeBytes(m)
		}
		if err := f(num, v, b); err != nil {
			return err
		}
		m = m[size:]
	}
	return nil
}

func parseComponent(m []byte) (c component, err error) {
	err = eachField(m, func(num protowire.Number, v uint64, b []byte) error {
		switch num {
		case componentType:
			c.dtype = tf.DType(v)
		case componentShape:
			p := &pb.TensorShapeProto{}
			if proto.Unmarshal(b, p) != nil {
				return errPacked
			}
			c.shape, err = core.ShapeFromProto(p)
			return err
		case componentSizes:
			if b == nil {
				c.sizes = append(c.sizes, v)
			}
			for len(b) > 0 {
				x, n := protowire.ConsumeVarint(b)
				if n < 0 {
					return errPacked
				}
				c.sizes, b = append(c.sizes, x), b[n:]
			}
		}
		return nil
	})
	return c, err
}

// tensor makes the component of the first bytes of plain, and returns the rest.
func (c *component) tensor(plain []byte) (*core.Tensor, []byte, error) {
	var parts [][]byte
	for _, n := range c.sizes {
		if n > uint64(len(plain)) {
			return nil, nil, tf.Errorf(tf.Internal, "Uncompressed size mismatch. Snappy has fewer bytes than the tensor metadata suggests")
		}
		parts, plain = append(parts, plain[:n]), plain[n:]
	}
	if c.dtype.IsRef() || !c.dtype.Valid() || core.CheckSize(c.dtype, c.shape) != nil {
		return nil, nil, errPacked
	}
	elements := c.shape.NumElements()
	switch {
	case c.dtype == tf.String && len(parts) == elements:
		t := core.NewTensor(tf.String, c.shape)
		for i, part := range parts {
			core.Data[string](t)[i] = string(part)
		}
		return t, plain, nil
	case (c.dtype == tf.Resource || c.dtype == tf.Variant) && len(parts) == 1:
		p := &pb.TensorProto{}
		if proto.Unmarshal(parts[0], p) != nil {
			return nil, nil, tf.Errorf(tf.Internal, "Could not parse TensorProto")
		}
		t, err := core.TensorFromProto(p)
		return t, plain, err
	case c.dtype.Size() > 0 && elements == 0:
		return core.NewTensor(c.dtype, c.shape), plain, nil
	case c.dtype.Size() > 0 && len(parts) == 1 && len(parts[0]) == elements*c.dtype.Size():
		t := core.NewTensor(c.dtype, c.shape)
		copy(t.Buffer().Bytes(), parts[0])
		core.NormalizeBools(c.dtype, t.Buffer().Bytes())
		return t, plain, nil
	}
	return nil, nil, errPacked
}
