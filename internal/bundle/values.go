package bundle

import (
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Slice files have the values of a slice one by one in the fields of a
// TensorProto, without a type and a shape.

// listed returns the values of a tensor in that form.
func listed(t *core.Tensor) (*pb.TensorProto, error) {
	p := &pb.TensorProto{}
	if f := listers[t.DType()]; f != nil {
		f(p, t)
		return p, nil
	}
	return nil, core.Errorf(core.Unimplemented, "Saving data type %s not yet supported", t.DType().CName())
}

var listers = map[core.DType]func(*pb.TensorProto, *core.Tensor){
	core.Float32:    func(p *pb.TensorProto, t *core.Tensor) { p.FloatVal = core.Data[float32](t) },
	core.Float64:    func(p *pb.TensorProto, t *core.Tensor) { p.DoubleVal = core.Data[float64](t) },
	core.Int64:      func(p *pb.TensorProto, t *core.Tensor) { p.Int64Val = core.Data[int64](t) },
	core.Uint32:     func(p *pb.TensorProto, t *core.Tensor) { p.Uint32Val = core.Data[uint32](t) },
	core.Uint64:     func(p *pb.TensorProto, t *core.Tensor) { p.Uint64Val = core.Data[uint64](t) },
	core.Bool:       func(p *pb.TensorProto, t *core.Tensor) { p.BoolVal = core.Data[bool](t) },
	core.Int32:      ints[int32],
	core.QInt32:     ints[int32],
	core.Int16:      ints[int16],
	core.QInt16:     ints[int16],
	core.Int8:       ints[int8],
	core.QInt8:      ints[int8],
	core.Uint8:      ints[uint8],
	core.QUint8:     ints[uint8],
	core.Uint16:     ints[uint16],
	core.QUint16:    ints[uint16],
	core.Float16:    halves[core.Half],
	core.BFloat16:   halves[core.BF16],
	core.Complex64:  listComplex64,
	core.Complex128: listComplex128,
	core.String:     listStrings,
}

func ints[T int8 | int16 | int32 | uint8 | uint16](p *pb.TensorProto, t *core.Tensor) {
	p.IntVal = widened(core.Data[T](t))
}

func halves[T core.Half | core.BF16](p *pb.TensorProto, t *core.Tensor) {
	p.HalfVal = widened(core.Data[T](t))
}

func widened[T ~int8 | ~int16 | ~int32 | ~uint8 | ~uint16](data []T) []int32 {
	out := make([]int32, len(data))
	for i, v := range data {
		out[i] = int32(v)
	}
	return out
}

func listComplex64(p *pb.TensorProto, t *core.Tensor) {
	for _, v := range core.Data[complex64](t) {
		p.ScomplexVal = append(p.ScomplexVal, real(v), imag(v))
	}
}

func listComplex128(p *pb.TensorProto, t *core.Tensor) {
	for _, v := range core.Data[complex128](t) {
		p.DcomplexVal = append(p.DcomplexVal, real(v), imag(v))
	}
}

func listStrings(p *pb.TensorProto, t *core.Tensor) {
	for _, v := range core.Data[string](t) {
		p.StringVal = append(p.StringVal, []byte(v))
	}
}

// unlisted makes listed values a tensor, all of whose elements there must be.
func unlisted(p *pb.TensorProto, d core.DType, shape core.Shape) (*core.Tensor, error) {
	have := valuesOf(p, d)
	if listers[d] == nil || p == nil || have != shape.NumElements() {
		return nil, core.Errorf(core.DataLoss, "a slice must have the values of a %s%s, got %d", d.CName(), shape.String(), have)
	}
	p.Dtype, p.TensorShape, p.TensorContent = pb.DataType(d), core.ShapeProto(shape), nil
	return core.TensorFromProto(p)
}

// valuesOf returns how many values of a type a message lists. What is in the fields of other
// types does not count: the tensor would be zeros in its place.
func valuesOf(p *pb.TensorProto, d core.DType) int {
	switch d {
	case core.Float32:
		return len(p.GetFloatVal())
	case core.Float64:
		return len(p.GetDoubleVal())
	case core.Int64:
		return len(p.GetInt64Val())
	case core.Uint32:
		return len(p.GetUint32Val())
	case core.Uint64:
		return len(p.GetUint64Val())
	case core.Bool:
		return len(p.GetBoolVal())
	case core.Float16, core.BFloat16:
		return len(p.GetHalfVal())
	case core.Complex64:
		return len(p.GetScomplexVal()) / 2
	case core.Complex128:
		return len(p.GetDcomplexVal()) / 2
	case core.String:
		return len(p.GetStringVal())
	}
	return len(p.GetIntVal())
}
