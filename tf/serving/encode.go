package serving

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// encode returns a tensor as a message: its elements in the field of their type, as
// TensorFlow Serving answers by default, or as raw content.
func encode(t *tf.Tensor, content bool) (*pb.TensorProto, error) {
	if content || !typed(t.DType()) {
		return core.EncodeTensor((*core.Tensor)(t))
	}
	p := &pb.TensorProto{Dtype: pb.DataType(t.DType()), TensorShape: core.ShapeProto(t.Shape())}
	fillTyped(p, t)
	return p, nil
}

// typed reports whether messages have a field for elements of a type that
// fillTyped fills. The fields of small floats and integers hold no more than their
// raw content would.
func typed(d tf.DType) bool {
	switch d {
	case tf.Float32, tf.Float64, tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64, tf.Bool, tf.Complex64, tf.Complex128, tf.Float16, tf.BFloat16:
		return true
	}
	return false
}

func fillTyped(p *pb.TensorProto, t *tf.Tensor) {
	switch t.DType() {
	case tf.Float32:
		p.FloatVal = tf.Data[float32](t)
	case tf.Float64:
		p.DoubleVal = tf.Data[float64](t)
	case tf.Int64:
		p.Int64Val = tf.Data[int64](t)
	case tf.Int32:
		p.IntVal = tf.Data[int32](t)
	case tf.Uint32:
		p.Uint32Val = tf.Data[uint32](t)
	case tf.Uint64:
		p.Uint64Val = tf.Data[uint64](t)
	case tf.Bool:
		p.BoolVal = tf.Data[bool](t)
	case tf.Complex64:
		for _, x := range tf.Data[complex64](t) {
			p.ScomplexVal = append(p.ScomplexVal, real(x), imag(x))
		}
	case tf.Complex128:
		for _, x := range tf.Data[complex128](t) {
			p.DcomplexVal = append(p.DcomplexVal, real(x), imag(x))
		}
	default:
		fillSmall(p, t)
	}
}

// fillSmall widens elements of 8 and 16 bits.
func fillSmall(p *pb.TensorProto, t *tf.Tensor) {
	switch t.DType() {
	case tf.Int8:
		p.IntVal = widen(tf.Data[int8](t))
	case tf.Int16:
		p.IntVal = widen(tf.Data[int16](t))
	case tf.Uint8:
		p.IntVal = widen(tf.Data[uint8](t))
	case tf.Uint16:
		p.IntVal = widen(tf.Data[uint16](t))
	case tf.Float16:
		p.HalfVal = widen(tf.Data[tf.Half](t))
	case tf.BFloat16:
		p.HalfVal = widen(tf.Data[tf.BF16](t))
	}
}

func widen[T ~int8 | ~int16 | ~uint8 | ~uint16](in []T) []int32 {
	out := make([]int32, len(in))
	for i, x := range in {
		out[i] = int32(x)
	}
	return out
}
