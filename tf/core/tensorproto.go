package core

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/pb"
)

// ShapeProto returns s as a TensorShapeProto.
func ShapeProto(s Shape) *pb.TensorShapeProto {
	p := &pb.TensorShapeProto{UnknownRank: s == nil}
	for _, d := range s {
		p.Dim = append(p.Dim, &pb.TensorShapeProto_Dim{Size: int64(max(d, -1))})
	}
	return p
}

// ShapeFromProto reads a TensorShapeProto; a missing one is a scalar's.
func ShapeFromProto(p *pb.TensorShapeProto) (Shape, error) {
	if p.GetUnknownRank() {
		return nil, nil
	}
	return sizesFromProto(p)
}

// sizesFromProto returns the sizes of a value's shape. Like TensorFlow it does not ask
// whether the rank is known: a value has one.
func sizesFromProto(p *pb.TensorShapeProto) (Shape, error) {
	s := make(Shape, len(p.GetDim()))
	for i, d := range p.GetDim() {
		if d.GetSize() < -1 {
			return nil, Errorf(InvalidArgument, "Shape %v has negative dimensions", p.GetDim())
		}
		s[i] = int(d.GetSize())
	}
	return s, nil
}

// TensorProto returns t as a TensorProto, plain elements as tensor_content.
func TensorProto(t *Tensor) *pb.TensorProto {
	p := &pb.TensorProto{Dtype: pb.DataType(t.dtype), TensorShape: ShapeProto(t.shape)}
	switch o := t.obj.(type) {
	case []string:
		for _, s := range o {
			p.StringVal = append(p.StringVal, []byte(s))
		}
	case []ResourceHandle:
		for i := range o {
			p.ResourceHandleVal = append(p.ResourceHandleVal, handleProto(&o[i]))
		}
	default:
		if t.buf != nil {
			p.TensorContent = append([]byte(nil), t.buf.Bytes()...)
		}
	}
	return p
}

func handleProto(h *ResourceHandle) *pb.ResourceHandleProto {
	p := &pb.ResourceHandleProto{Device: h.Device, Container: h.Container, Name: h.Name, HashCode: h.HashCode, MaybeTypeName: h.TypeName}
	if h.DType != Invalid {
		p.DtypesAndShapes = []*pb.ResourceHandleProto_DtypeAndShape{{Dtype: pb.DataType(h.DType), Shape: ShapeProto(h.Shape)}}
	}
	return p
}

func handleFromProto(p *pb.ResourceHandleProto) (ResourceHandle, error) {
	h := ResourceHandle{Device: p.GetDevice(), Container: p.GetContainer(), Name: p.GetName(), HashCode: p.GetHashCode(), TypeName: p.GetMaybeTypeName()}
	if ds := p.GetDtypesAndShapes(); len(ds) > 0 {
		s, err := ShapeFromProto(ds[0].GetShape())
		if err != nil {
			return h, err
		}
		h.DType, h.Shape = DType(ds[0].GetDtype()), s
	}
	return h, nil
}

// maxTensorProto bounds what a few bytes of a TensorProto (one value that
// repeats) may unfold to.
const maxTensorProto = 1 << 31

// elemSize is the memory of an element, Go objects included.
func elemSize(d DType) int {
	if d.Size() == 0 {
		return int(unsafe.Sizeof(ResourceHandle{}))
	}
	return d.Size()
}

// maxRank is the largest rank of TensorFlow's shapes.
const maxRank = 254

// TensorFromProto reads a TensorProto in any of its forms: raw content, one
// value for each element, or fewer, the last of which repeats.
func TensorFromProto(p *pb.TensorProto) (t *Tensor, err error) {
	defer Recover(&err, "the reading of a tensor") // there may be no memory for it
	return tensorWithin(p, 0)
}

// tensorWithin is TensorFromProto for a tensor that so many variants, encoded as
// tensor_content, are around.
func tensorWithin(p *pb.TensorProto, depth int) (t *Tensor, err error) {
	d := DType(p.GetDtype())
	if p.GetDtype() < 0 || p.GetDtype() > 255 || !d.Valid() || d.IsRef() {
		return nil, Errorf(InvalidArgument, "a tensor's type must be a known one, got %d", p.GetDtype())
	}
	s, err := sizesFromProto(p.GetTensorShape())
	if err != nil {
		return nil, err
	}
	if len(s) > maxRank {
		return nil, Errorf(InvalidArgument, "a tensor must have at most %d dimensions, got %d", maxRank, len(s))
	}
	if err := CheckSize(d, s); err != nil {
		return nil, err
	}
	if n := s.NumElements(); n > maxTensorProto/elemSize(d) {
		return nil, Errorf(InvalidArgument, "a tensor in a protocol buffer must be smaller than %d bytes, got %v%v", maxTensorProto, d, s)
	}
	if len(p.GetTensorContent()) > 0 {
		return fromContent(d, s, p.GetTensorContent(), depth)
	}
	t = NewTensor(d, s)
	return t, t.fill(p, depth)
}

// AdoptTensorProto is TensorFromProto for a message that the caller gives away:
// the tensor keeps the memory of its raw content where it can.
func AdoptTensorProto(p *pb.TensorProto) (*Tensor, error) {
	d, b := DType(p.GetDtype()), p.GetTensorContent()
	aligned := len(b) > 0 && uintptr(unsafe.Pointer(unsafe.SliceData(b)))%memory.Alignment == 0
	s, err := sizesFromProto(p.GetTensorShape())
	plain := p.GetDtype() > 0 && p.GetDtype() < 100 && d.Valid() && d != String && d != Variant && d != Resource
	if err != nil || !aligned || !plain || d == Bool || len(s) > maxRank || CheckSize(d, s) != nil || len(b) != s.NumElements()*d.Size() {
		return TensorFromProto(p)
	}
	return TensorOf(d, s, memory.Wrap(b, nil)), nil
}

func fromContent(d DType, s Shape, b []byte, depth int) (*Tensor, error) {
	want := s.NumElements() * d.Size()
	switch d {
	case String:
		return stringContent(s, b)
	case Variant:
		return variantContent(s, b, depth)
	case Resource:
		return handleContent(s, b)
	}
	if want == 0 && d.Size() > 0 {
		return NewTensor(d, s), nil // TensorFlow does not look at the bytes
	}
	if d == Bool && slices.ContainsFunc(b, func(c byte) bool { return c > 1 }) {
		return nil, Errorf(InvalidArgument, "tensor_content of a bool must have bytes 0 and 1 only")
	}
	if d.Size() == 0 || len(b) != want {
		return nil, Errorf(InvalidArgument, "tensor_content of a %v%v must have %d bytes, got %d", d, s, want, len(b))
	}
	buf := memory.New(want)
	copy(buf.Bytes(), b)
	return TensorOf(d, s, buf), nil
}

// stringContent reads strings as tensor_content has them: all lengths as
// varints, then all bytes.
func stringContent(s Shape, b []byte) (*Tensor, error) {
	t := NewTensor(String, s)
	strs := Data[string](t)
	lens := make([]uint64, len(strs))
	for i := range lens {
		n, used := binary.Uvarint(b)
		if used <= 0 {
			return nil, Errorf(InvalidArgument, "tensor_content of strings ends in its lengths")
		}
		lens[i], b = n, b[used:]
	}
	for i, n := range lens {
		if n > uint64(len(b)) {
			return nil, Errorf(InvalidArgument, "tensor_content of strings ends in string %d", i)
		}
		strs[i], b = string(b[:n]), b[n:]
	}
	return t, nil
}

// handleContent reads resource handles as tensor_content has them, which is how
// TensorFlow's clients feed them: messages in the manner of strings.
func handleContent(s Shape, b []byte) (*Tensor, error) {
	messages, err := stringContent(s, b)
	if err != nil {
		return nil, err
	}
	t := NewTensor(Resource, s)
	for i, m := range Data[string](messages) {
		p := &pb.ResourceHandleProto{}
		if err := proto.Unmarshal([]byte(m), p); err != nil {
			return nil, Errorf(InvalidArgument, "tensor_content of resources must hold messages: handle %d: %v", i, err)
		}
		if t.Handles()[i], err = handleFromProto(p); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// fill reads the typed value fields.
func (t *Tensor) fill(p *pb.TensorProto, depth int) error {
	switch dtypes[t.dtype].storage {
	case Float32:
		return spread(t, p.GetFloatVal(), func(v float32) float32 { return v })
	case Float64:
		return spread(t, p.GetDoubleVal(), func(v float64) float64 { return v })
	case Int32:
		return spread(t, p.GetIntVal(), func(v int32) int32 { return v })
	case Int16:
		return spread(t, p.GetIntVal(), func(v int32) int16 { return int16(v) })
	case Int8:
		return spread(t, p.GetIntVal(), func(v int32) int8 { return int8(v) })
	case Uint8:
		return t.fillUint8(p)
	case Uint16:
		return spread(t, p.GetIntVal(), func(v int32) uint16 { return uint16(v) })
	case Uint32:
		return spread(t, p.GetUint32Val(), func(v uint32) uint32 { return v })
	case Int64:
		return spread(t, p.GetInt64Val(), func(v int64) int64 { return v })
	case Uint64:
		return spread(t, p.GetUint64Val(), func(v uint64) uint64 { return v })
	case Bool:
		return spread(t, p.GetBoolVal(), func(v bool) bool { return v })
	case Float16:
		return spread(t, p.GetHalfVal(), func(v int32) Half { return Half(v) })
	case BFloat16:
		return spread(t, p.GetHalfVal(), func(v int32) BF16 { return BF16(v) })
	case Complex64:
		return spread(t, pairs(p.GetScomplexVal()), func(v [2]float32) complex64 { return complex(v[0], v[1]) })
	case Complex128:
		return spread(t, pairs(p.GetDcomplexVal()), func(v [2]float64) complex128 { return complex(v[0], v[1]) })
	case String:
		return spread(t, p.GetStringVal(), func(v []byte) string { return string(v) })
	case Resource:
		return t.fillHandles(p)
	}
	return t.fillVariants(p, depth)
}

// fillUint8 tells the 8-bit floats, which have a field of their own, from integers.
func (t *Tensor) fillUint8(p *pb.TensorProto) error {
	if t.dtype.isSmallFloat() {
		return spread(t, p.GetFloat8Val(), func(v byte) uint8 { return v })
	}
	return spread(t, p.GetIntVal(), func(v int32) uint8 { return uint8(v) })
}

// spread copies vals to the elements of t. The last one repeats; those that are too many
// are left out, as in TensorFlow.
func spread[T Elem, V any](t *Tensor, vals []V, conv func(V) T) error {
	dst := Data[T](t)
	vals = vals[:min(len(vals), len(dst))]
	if len(vals) == 0 {
		return nil
	}
	for i, v := range vals {
		dst[i] = conv(v)
	}
	last := conv(vals[len(vals)-1])
	for i := len(vals); i < len(dst); i++ {
		dst[i] = last
	}
	return nil
}

func pairs[F float32 | float64](v []F) [][2]F {
	out := make([][2]F, len(v)/2)
	for i := range out {
		out[i] = [2]F{v[2*i], v[2*i+1]}
	}
	return out
}

func (t *Tensor) fillHandles(p *pb.TensorProto) error {
	vals := p.GetResourceHandleVal()
	if len(vals) > t.Len() {
		return Errorf(InvalidArgument, "a resource%v has %d elements, the protocol buffer gives %d", t.shape, t.Len(), len(vals))
	}
	for i, v := range vals {
		h, err := handleFromProto(v)
		if err != nil {
			return err
		}
		t.Handles()[i] = h
	}
	return nil
}

func (t *Tensor) fillVariants(p *pb.TensorProto, depth int) error {
	vals := p.GetVariantVal()
	if len(vals) > t.Len() {
		return Errorf(InvalidArgument, "a variant%v has %d elements, the protocol buffer gives %d", t.shape, t.Len(), len(vals))
	}
	for i, v := range vals {
		x, err := variantFromProto(v, depth)
		if err != nil {
			return err
		}
		t.Variants()[i].Value = x
	}
	return nil
}
