package ops

import (
	"maps"
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
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

	addRows = realRows(kernel.Add[float32], kernel.Add[float64], kernel.Add[int8], kernel.Add[int16], kernel.Add[int32], kernel.Add[int64],
		kernel.Add[uint8], kernel.Add[uint16], kernel.Add[uint32], kernel.Add[uint64]).with(kernel.Add[complex64], kernel.Add[complex128])
	subRows = realRows(kernel.Sub[float32], kernel.Sub[float64], kernel.Sub[int8], kernel.Sub[int16], kernel.Sub[int32], kernel.Sub[int64],
		kernel.Sub[uint8], kernel.Sub[uint16], kernel.Sub[uint32], kernel.Sub[uint64]).with(kernel.Sub[complex64], kernel.Sub[complex128])
	mulRows = realRows(kernel.Mul[float32], kernel.Mul[float64], kernel.Mul[int8], kernel.Mul[int16], kernel.Mul[int32], kernel.Mul[int64],
		kernel.Mul[uint8], kernel.Mul[uint16], kernel.Mul[uint32], kernel.Mul[uint64]).with(kernel.Mul[complex64], kernel.Mul[complex128])
	maxRows = realRows(kernel.Max[float32], kernel.Max[float64], kernel.Max[int8], kernel.Max[int16], kernel.Max[int32], kernel.Max[int64],
		kernel.Max[uint8], kernel.Max[uint16], kernel.Max[uint32], kernel.Max[uint64])
	minRows = realRows(kernel.Min[float32], kernel.Min[float64], kernel.Min[int8], kernel.Min[int16], kernel.Min[int32], kernel.Min[int64],
		kernel.Min[uint8], kernel.Min[uint16], kernel.Min[uint32], kernel.Min[uint64])

	// addCells and subCells are addRows and subRows with what TensorFlow's
	// scattering makes of bool.
	addCells = addRows.and(tf.Bool, zipRows(kernel.Or))
	subCells = subRows.and(tf.Bool, zipRows(kernel.NotEqual[bool]))
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

// fillWith sets all elements of t to the one of v.
func fillWith(t, v *core.Tensor) {
	n := t.Len()
	if n == 0 {
		return
	}
	move(t, v)(0, 0, 1)
	within := move(t, t)
	for k := 1; k < n; k *= 2 {
		within(k, 0, min(k, n-k))
	}
}
