package core

import (
	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/pb"
)

// VariantData is the form in which the element of a Variant tensor goes from one
// task to another (TensorFlow's VariantTensorData): what its type makes of
// bytes and of tensors.
type VariantData struct {
	TypeName string // TensorFlow's: "tensorflow::TensorList"
	Metadata []byte
	Tensors  []*Tensor
}

// A VariantEncoder is an element of a Variant tensor that can leave its task.
type VariantEncoder interface{ EncodeVariant() (VariantData, error) }

// tensorVariant names variants that hold a tensor.
const tensorVariant = "tensorflow::Tensor"

var variantDecoders = map[string]func(VariantData) (any, error){
	tensorVariant: func(d VariantData) (any, error) {
		if len(d.Tensors) != 1 {
			return nil, Errorf(InvalidArgument, "a variant that holds a tensor must have one, got %d", len(d.Tensors))
		}
		return d.Tensors[0], nil
	},
}

// RegisterVariant makes elements of a type readable: decode makes the element
// of what its EncodeVariant returned, or TensorFlow sent. It is called while a
// program starts, and panics if the name is taken.
func RegisterVariant(typeName string, decode func(VariantData) (any, error)) {
	if variantDecoders[typeName] != nil {
		panic("tf: variant " + typeName + " is registered twice")
	}
	variantDecoders[typeName] = decode
}

// EncodeTensor is TensorProto for a tensor that leaves its task, of which not
// every Variant is able.
func EncodeTensor(t *Tensor) (*pb.TensorProto, error) { return new(nesting).encode(t) }

func (w *nesting) encode(t *Tensor) (*pb.TensorProto, error) {
	p := TensorProto(t)
	for _, v := range t.Variants() {
		data, err := w.variantProto(v)
		if err != nil {
			return nil, err
		}
		p.VariantVal = append(p.VariantVal, data)
	}
	return p, nil
}

func (w *nesting) variantProto(v VariantValue) (*pb.VariantTensorDataProto, error) {
	switch v := v.Value.(type) {
	case nil:
		return &pb.VariantTensorDataProto{}, nil
	case *pb.VariantTensorDataProto: // came from a peer, its type is not registered here
		return v, nil
	case *Tensor:
		return w.proto(VariantData{TypeName: tensorVariant, Tensors: []*Tensor{v}})
	case VariantEncoder:
		data, err := v.EncodeVariant()
		if err != nil {
			return nil, err
		}
		return w.proto(data)
	}
	return nil, Errorf(Unimplemented, "a variant must have an encoding to be sent to another task, %T has none", v.Value)
}

func (w *nesting) proto(d VariantData) (*pb.VariantTensorDataProto, error) {
	p := &pb.VariantTensorDataProto{TypeName: d.TypeName, Metadata: d.Metadata}
	return p, w.within(func() error {
		for _, t := range d.Tensors {
			part, err := w.encode(t)
			if err != nil {
				return err
			}
			p.Tensors = append(p.Tensors, part)
		}
		return nil
	})
}

// maxContentDepth bounds variants that tensor_content holds within one another. Each holds
// all that is in it as bytes once more, so that memory would grow by the square of the
// depth. Messages within messages, the other form, are bounded by package proto.
const maxContentDepth = 100

// variantContent reads variants as tensor_content has them, which is how
// TensorFlow sends them to another task: messages in the manner of strings.
func variantContent(s Shape, b []byte, depth int) (*Tensor, error) {
	if depth++; depth > maxContentDepth {
		return nil, Errorf(InvalidArgument, "tensor_content of variants must not be more than %d deep", maxContentDepth)
	}
	messages, err := stringContent(s, b)
	if err != nil {
		return nil, err
	}
	t := NewTensor(Variant, s)
	for i, m := range Data[string](messages) {
		p := &pb.VariantTensorDataProto{}
		if err := proto.Unmarshal([]byte(m), p); err != nil {
			return nil, Errorf(InvalidArgument, "tensor_content of variants must hold messages: variant %d: %v", i, err)
		}
		if t.Variants()[i].Value, err = variantFromProto(p, depth); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// variantFromProto returns what p stands for; p itself if that is not known
// here, for others it may be sent on to.
func variantFromProto(p *pb.VariantTensorDataProto, depth int) (any, error) {
	if p.GetTypeName() == "" {
		return nil, nil // it is empty
	}
	decode := variantDecoders[p.GetTypeName()]
	if decode == nil {
		return p, nil
	}
	d := VariantData{TypeName: p.GetTypeName(), Metadata: p.GetMetadata()}
	for _, part := range p.GetTensors() {
		t, err := tensorWithin(part, depth)
		if err != nil {
			return nil, err
		}
		d.Tensors = append(d.Tensors, t)
	}
	return decode(d)
}
