package ops

import (
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A rowOp binds two tensors of one type. What it returns combines the n
// elements of dst from d on with those of src from s on. Ops that find their
// rows by index are written once over it, not per type.
type rowOp func(dst, src *core.Tensor) func(d, s, n int)

// rowOps holds a rowOp by type.
type rowOps map[tf.DType]rowOp

// zipRows returns the rowOp dst = f(dst, src).
func zipRows[T tf.Elem](f func(z, x, y []T)) rowOp {
	return func(dst, src *core.Tensor) func(d, s, n int) {
		z, x := core.Data[T](dst), core.Data[T](src)
		return func(d, s, n int) { f(z[d:d+n], z[d:d+n], x[s:s+n]) }
	}
}

// copyRows is the rowOp dst = src.
func copyRows[C cell](dst, src *core.Tensor) func(d, s, n int) {
	z, x := cells[C](dst), cells[C](src)
	return func(d, s, n int) { copy(z[d:d+n], x[s:s+n]) }
}

// realRows lists a rowOp for each type of real numbers; float16 and bfloat16
// are computed in float32.
func realRows(f32 func(z, x, y []float32), f64 func(z, x, y []float64),
	i8 func(z, x, y []int8), i16 func(z, x, y []int16), i32 func(z, x, y []int32), i64 func(z, x, y []int64),
	u8 func(z, x, y []uint8), u16 func(z, x, y []uint16), u32 func(z, x, y []uint32), u64 func(z, x, y []uint64),
) rowOps {
	return rowOps{
		tf.Float32: zipRows(f32), tf.Float64: zipRows(f64), tf.Float16: zipRows(widened2[tf.Half](f32)), tf.BFloat16: zipRows(widened2[tf.BF16](f32)),
		tf.Int8: zipRows(i8), tf.Int16: zipRows(i16), tf.Int32: zipRows(i32), tf.Int64: zipRows(i64),
		tf.Uint8: zipRows(u8), tf.Uint16: zipRows(u16), tf.Uint32: zipRows(u32), tf.Uint64: zipRows(u64),
	}
}

// with returns r and the rowOps of complex numbers.
func (r rowOps) with(c64 func(z, x, y []complex64), c128 func(z, x, y []complex128)) rowOps {
	r[tf.Complex64], r[tf.Complex128] = zipRows(c64), zipRows(c128)
	return r
}

var (
	setRows = newSetRows()

	addRows = realRows(elementwise.Add[float32], elementwise.Add[float64], elementwise.Add[int8], elementwise.Add[int16], elementwise.Add[int32], elementwise.Add[int64],
		elementwise.Add[uint8], elementwise.Add[uint16], elementwise.Add[uint32], elementwise.Add[uint64]).with(elementwise.Add[complex64], elementwise.Add[complex128])
	subRows = realRows(elementwise.Sub[float32], elementwise.Sub[float64], elementwise.Sub[int8], elementwise.Sub[int16], elementwise.Sub[int32], elementwise.Sub[int64],
		elementwise.Sub[uint8], elementwise.Sub[uint16], elementwise.Sub[uint32], elementwise.Sub[uint64]).with(elementwise.Sub[complex64], elementwise.Sub[complex128])
	mulRows = realRows(elementwise.Mul[float32], elementwise.Mul[float64], elementwise.Mul[int8], elementwise.Mul[int16], elementwise.Mul[int32], elementwise.Mul[int64],
		elementwise.Mul[uint8], elementwise.Mul[uint16], elementwise.Mul[uint32], elementwise.Mul[uint64]).with(elementwise.Mul[complex64], elementwise.Mul[complex128])
	maxRows = realRows(elementwise.Max[float32], elementwise.Max[float64], elementwise.Max[int8], elementwise.Max[int16], elementwise.Max[int32], elementwise.Max[int64],
		elementwise.Max[uint8], elementwise.Max[uint16], elementwise.Max[uint32], elementwise.Max[uint64])
	minRows = realRows(elementwise.Min[float32], elementwise.Min[float64], elementwise.Min[int8], elementwise.Min[int16], elementwise.Min[int32], elementwise.Min[int64],
		elementwise.Min[uint8], elementwise.Min[uint16], elementwise.Min[uint32], elementwise.Min[uint64])

	// addCells and subCells are addRows and subRows with what TensorFlow's
	// scattering makes of bool.
	addCells = addRows.and(tf.Bool, zipRows(elementwise.Or))
	subCells = subRows.and(tf.Bool, zipRows(elementwise.NotEqual[bool]))
)

// newSetRows lists copyRows by type.
func newSetRows() rowOps {
	r := rowOps{tf.String: copyRows[string], tf.Resource: copyRows[core.ResourceHandle], tf.Variant: copyRows[core.VariantValue]}
	bySize := map[int]rowOp{1: copyRows[uint8], 2: copyRows[uint16], 4: copyRows[uint32], 8: copyRows[uint64], 16: copyRows[complex128]}
	for _, d := range slices.Concat(plainTypes, allQuantized, smallFloats) {
		r[d] = bySize[d.Size()]
	}
	return r
}

// and returns r with one more type.
func (r rowOps) and(d tf.DType, f rowOp) rowOps {
	r = maps.Clone(r)
	r[d] = f
	return r
}

// kernels returns the kernels that mk makes of each rowOp.
func (r rowOps) kernels(mk func(rowOp) core.NewKernel) byType {
	by := byType{}
	for d, f := range r {
		by[d] = mk(f)
	}
	return by
}

// sameFor returns the kernels of an op that one factory serves for all types
// given.
func sameFor(k core.NewKernel, types ...tf.DType) byType {
	by := byType{}
	for _, d := range types {
		by[d] = k
	}
	return by
}

// The types that ops which move elements serve.
var (
	dataTypes   = slices.Concat(plainTypes, []tf.DType{tf.String})
	numberTypes = plainTypesBut(tf.Bool)
	realTypes   = plainTypesBut(tf.Bool, tf.Complex64, tf.Complex128)
	objectTypes = slices.Concat(dataTypes, []tf.DType{tf.Resource, tf.Variant})
)

func plainTypesBut(out ...tf.DType) []tf.DType {
	return slices.DeleteFunc(slices.Clone(plainTypes), func(d tf.DType) bool { return slices.Contains(out, d) })
}

// move binds what copies elements of src to dst.
func move(dst, src *core.Tensor) func(d, s, n int) { return setRows[dst.DType()](dst, src) }

// filledAtOnce elements at most are copied at a time to fill a tensor: they stay in the cache.
const filledAtOnce = 4096

// fillWith sets all elements of t to the one of v.
func fillWith(t, v *core.Tensor) {
	n := t.Len()
	if n == 0 {
		return
	}
	move(t, v)(0, 0, 1)
	within := move(t, t)
	for k, more := 1, 0; k < n; k += more {
		more = min(k, n-k, filledAtOnce)
		within(k, 0, more)
	}
}
