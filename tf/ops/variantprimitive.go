package ops

import (
	bytewise "encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// primitives are the C types that variants of TensorFlow may hold, in the form
// in which they come, as messages: their sizes, and how they are added.
var primitives = map[string]struct {
	size int
	add  func(z, x, y []byte)
}{
	"int": {4, func(z, x, y []byte) { little.PutUint32(z, little.Uint32(x)+little.Uint32(y)) }},
	"float": {4, func(z, x, y []byte) {
		little.PutUint32(z, math.Float32bits(math.Float32frombits(little.Uint32(x))+math.Float32frombits(little.Uint32(y))))
	}},
	"double": {8, func(z, x, y []byte) {
		little.PutUint64(z, math.Float64bits(math.Float64frombits(little.Uint64(x))+math.Float64frombits(little.Uint64(y))))
	}},
	"bool": {1, func(z, x, y []byte) { z[0] = x[0] | y[0] }},
}

var little = bytewise.LittleEndian

// isPrimitive reports whether v holds a C type.
func isPrimitive(v any) (*pb.VariantTensorDataProto, bool) {
	p, ok := v.(*pb.VariantTensorDataProto)
	if !ok {
		return nil, false
	}
	t, ok := primitives[p.GetTypeName()]
	return p, ok && len(p.GetMetadata()) == t.size
}

// zeroPrimitive returns a zero like p.
func zeroPrimitive(p *pb.VariantTensorDataProto) *pb.VariantTensorDataProto {
	return &pb.VariantTensorDataProto{TypeName: p.GetTypeName(), Metadata: core.Make[byte](len(p.GetMetadata()))}
}

// addPrimitives returns x+y; false if they are of two types.
func addPrimitives(x, y *pb.VariantTensorDataProto) (*pb.VariantTensorDataProto, bool) {
	if x.GetTypeName() != y.GetTypeName() {
		return nil, false
	}
	z := zeroPrimitive(x)
	primitives[x.GetTypeName()].add(z.Metadata, x.GetMetadata(), y.GetMetadata())
	return z, true
}

// variantText describes v as TensorFlow does.
func variantText(v any) string {
	name, value := fmt.Sprintf("%T", v), ""
	if p, ok := isPrimitive(v); ok {
		name, value = p.GetTypeName(), primitiveText(p)
	} else if p, ok := v.(*pb.VariantTensorDataProto); ok {
		name = p.GetTypeName()
	} else if e, ok := v.(core.VariantEncoder); ok {
		if d, err := e.EncodeVariant(); err == nil {
			name = d.TypeName
		}
	}
	if value == "" {
		value = name[strings.LastIndexByte(name, ':')+1:]
	}
	return "Variant<type: " + name + " value: " + value + ">"
}

func primitiveText(p *pb.VariantTensorDataProto) string {
	switch b := p.GetMetadata(); p.GetTypeName() {
	case "int":
		return strconv.Itoa(int(int32(little.Uint32(b))))
	case "float":
		return strconv.FormatFloat(float64(math.Float32frombits(little.Uint32(b))), 'g', 6, 32)
	case "double":
		return strconv.FormatFloat(math.Float64frombits(little.Uint64(b)), 'g', 6, 64)
	default:
		return strconv.Itoa(int(b[0]))
	}
}
