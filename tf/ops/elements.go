package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// elementRange returns elements lo to hi of t as a slice of the Go type that
// holds them, for
// loops that tell types apart themselves and are run in pieces.
func elementRange(t *core.Tensor, lo, hi int) any {
	if part := rangesOf[t.DType()]; part != nil {
		return part(t, lo, hi)
	}
	return nil
}

var rangesOf = map[tf.DType]func(*core.Tensor, int, int) any{
	tf.Float32: partOf[float32], tf.Float64: partOf[float64], tf.Float16: partOf[tf.Half], tf.BFloat16: partOf[tf.BF16],
	tf.Int8: partOf[int8], tf.Int16: partOf[int16], tf.Int32: partOf[int32], tf.Int64: partOf[int64],
	tf.Uint8: partOf[uint8], tf.Uint16: partOf[uint16], tf.Uint32: partOf[uint32], tf.Uint64: partOf[uint64],
	tf.QInt8: partOf[int8], tf.QInt16: partOf[int16], tf.QInt32: partOf[int32], tf.QUint8: partOf[uint8], tf.QUint16: partOf[uint16],
	tf.Int4: partOf[int8], tf.Uint4: partOf[uint8], tf.Float8E5M2: partOf[uint8], tf.Float8E4M3: partOf[uint8],
	tf.Complex64: partOf[complex64], tf.Complex128: partOf[complex128], tf.Bool: partOf[bool],
}

func partOf[T tf.Elem](t *core.Tensor, lo, hi int) any { return core.Data[T](t)[lo:hi] }
