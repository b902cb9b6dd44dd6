package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
)

// zipInto returns the update v = f(v, by), element by element.
func zipInto[T tf.Elem](f func(z, x, y []T)) update {
	return func(c *tf.OpContext, v, by *tf.Tensor) {
		dst, src := tf.Data[T](v), tf.Data[T](by)
		c.ParallelFor(len(dst), elementGrain, func(lo, hi int) { f(dst[lo:hi], dst[lo:hi], src[lo:hi]) })
	}
}

func widened2[H kernel.HalfFloat](f func(z, x, y []float32)) func(z, x, y []H) {
	return func(z, x, y []H) { kernel.Widen2(z, x, y, f) }
}

var addTo = map[tf.DType]update{
	tf.Float32: zipInto(kernel.Add[float32]), tf.Float64: zipInto(kernel.Add[float64]),
	tf.Float16: zipInto(widened2[tf.Half](kernel.Add[float32])), tf.BFloat16: zipInto(widened2[tf.BF16](kernel.Add[float32])),
	tf.Int8: zipInto(kernel.Add[int8]), tf.Int16: zipInto(kernel.Add[int16]), tf.Int32: zipInto(kernel.Add[int32]), tf.Int64: zipInto(kernel.Add[int64]),
	tf.Uint8: zipInto(kernel.Add[uint8]), tf.Uint16: zipInto(kernel.Add[uint16]), tf.Uint32: zipInto(kernel.Add[uint32]), tf.Uint64: zipInto(kernel.Add[uint64]),
	tf.Complex64: zipInto(kernel.Add[complex64]), tf.Complex128: zipInto(kernel.Add[complex128]),
}

var subtractFrom = map[tf.DType]update{
	tf.Float32: zipInto(kernel.Sub[float32]), tf.Float64: zipInto(kernel.Sub[float64]),
	tf.Float16: zipInto(widened2[tf.Half](kernel.Sub[float32])), tf.BFloat16: zipInto(widened2[tf.BF16](kernel.Sub[float32])),
	tf.Int8: zipInto(kernel.Sub[int8]), tf.Int16: zipInto(kernel.Sub[int16]), tf.Int32: zipInto(kernel.Sub[int32]), tf.Int64: zipInto(kernel.Sub[int64]),
	tf.Uint8: zipInto(kernel.Sub[uint8]), tf.Uint16: zipInto(kernel.Sub[uint16]), tf.Uint32: zipInto(kernel.Sub[uint32]), tf.Uint64: zipInto(kernel.Sub[uint64]),
	tf.Complex64: zipInto(kernel.Sub[complex64]), tf.Complex128: zipInto(kernel.Sub[complex128]),
}
