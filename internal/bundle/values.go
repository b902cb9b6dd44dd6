package bundle

import (
	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
)

// Slice files have the values of a slice one by one in the fields of a
// TensorProto, without a type and a shape.

// listed returns the values of a tensor in that form.
func listed(t *tf.Tensor) (*pb.TensorProto, error) {
	p := &pb.TensorProto{}
	if f := listers[t.DType()]; f != nil {
		f(p, t)
		return p, nil
	}
	return nil, tf.Errorf(tf.Unimplemented, "Saving data type %s not yet supported", t.DType().CName())
}

var listers = map[tf.DType]func(*pb.TensorProto, *tf.Tensor){
	tf.Float32:    func(p *pb.TensorProto, t *tf.Tensor) { p.FloatVal = tf.Data[float32](t) },
	tf.Float64:    func(p *pb.TensorProto, t *tf.Tensor) { p.DoubleVal = tf.Data[float64](t) },
	tf.Int64:      func(p *pb.TensorProto, t *tf.Tensor) { p.Int64Val = tf.Data[int64](t) },
	tf.Uint32:     func(p *pb.TensorProto, t *tf.Tensor) { p.Uint32Val = tf.Data[uint32](t) },
	tf.Uint64:     func(p *pb.TensorProto, t *tf.Tensor) { p.Uint64Val = tf.Data[uint64](t) },
	tf.Bool:       func(p *pb.TensorProto, t *tf.Tensor) { p.BoolVal = tf.Data[bool](t) },
	tf.Int32:      ints[int32],
	tf.QInt32:     ints[int32],
	tf.Int16:      ints[int16],
	tf.QInt16:     ints[int16],
	tf.Int8:       ints[int8],
	tf.QInt8:      ints[int8],
	tf.Uint8:      ints[uint8],
	tf.QUint8:     ints[uint8],
	tf.Uint16:     ints[uint16],
	tf.QUint16:    ints[uint16],
	tf.Float16:    halves[tf.Half],
	tf.BFloat16:   halves[tf.BF16],
	tf.Complex64:  listComplex64,
	tf.Complex128: listComplex128,
	tf.String:     listStrings,
}

func ints[T int8 | int16 | int32 | uint8 | uint16](p *pb.TensorProto, t *tf.Tensor) {
	p.IntVal = widened(tf.Data[T](t))
}

func halves[T tf.Half | tf.BF16](p *pb.TensorProto, t *tf.Tensor) { p.HalfVal = widened(tf.Data[T](t)) }

func widened[T ~int8 | ~int16 | ~int32 | ~uint8 | ~uint16](data []T) []int32 {
	out := make([]int32, len(data))
	for i, v := range data {
		out[i] = int32(v)
	}
	return out
}

func listComplex64(p *pb.TensorProto, t *tf.Tensor) {
	for _, v := range tf.Data[complex64](t) {
		p.ScomplexVal = append(p.ScomplexVal, real(v), imag(v))
	}
}

func listComplex128(p *pb.TensorProto, t *tf.Tensor) {
	for _, v := range tf.Data[complex128](t) {
		p.DcomplexVal = append(p.DcomplexVal, real(v), imag(v))
	}
}

func listStrings(p *pb.TensorProto, t *tf.Tensor) {
	for _, v := range tf.Data[string](t) {
		p.StringVal = append(p.StringVal, []byte(v))
	}
}

// unlisted makes listed values a tensor, all of whose elements there must be.
func unlisted(p *pb.TensorProto, d tf.DType, shape tf.Shape) (*tf.Tensor, error) {
	have := len(p.GetFloatVal()) + len(p.GetDoubleVal()) + len(p.GetInt64Val()) + len(p.GetUint32Val()) + len(p.GetUint64Val()) +
		len(p.GetBoolVal()) + len(p.GetIntVal()) + len(p.GetHalfVal()) + len(p.GetStringVal()) +
		len(p.GetScomplexVal())/2 + len(p.GetDcomplexVal())/2
	if listers[d] == nil || p == nil || have != shape.NumElements() {
		return nil, tf.Errorf(tf.DataLoss, "a slice must have the values of a %s%s, got %d", d.CName(), shape.Text(), have)
	}
	p.Dtype, p.TensorShape, p.TensorContent = pb.DataType(d), tf.ShapeProto(shape), nil
	return tf.TensorFromProto(p)
}
