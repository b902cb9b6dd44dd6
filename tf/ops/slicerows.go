package ops

import (
	"maps"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A slicesOp binds two tensors of one type, seen as rows of n elements. What it returns
// combines rows of dst, those that at numbers, with the rows of src from s on, in order.
// Rows of negative numbers are left out.
type slicesOp func(dst, src *core.Tensor) func(at []int64, s, n int)

// slicesOps holds a slicesOp by type.
type slicesOps map[tf.DType]slicesOp

var (
	setSlices = newSetSlices()
	addSlices = addCells.slices(slicesOps{
		tf.Float32: loopOf(layout.ScatterAdd[float32, int64]), tf.Float64: loopOf(layout.ScatterAdd[float64, int64]),
		tf.Int32: loopOf(layout.ScatterAdd[int32, int64]), tf.Int64: loopOf(layout.ScatterAdd[int64, int64]),
	})
	subSlices = subCells.slices(slicesOps{
		tf.Float32: loopOf(layout.ScatterSub[float32, int64]), tf.Float64: loopOf(layout.ScatterSub[float64, int64]),
		tf.Int32: loopOf(layout.ScatterSub[int32, int64]), tf.Int64: loopOf(layout.ScatterSub[int64, int64]),
	})
	mulSlices = mulRows.slices(slicesOps{
		tf.Float32: loopOf(layout.ScatterMul[float32, int64]), tf.Float64: loopOf(layout.ScatterMul[float64, int64]),
	})
	divSlices = realRows(elementwise.Div[float32], elementwise.Div[float64], elementwise.DivInt[int8], elementwise.DivInt[int16], elementwise.DivInt[int32], elementwise.DivInt[int64],
		elementwise.DivInt[uint8], elementwise.DivInt[uint16], elementwise.DivInt[uint32], elementwise.DivInt[uint64]).with(elementwise.Div[complex64], elementwise.Div[complex128]).slices(slicesOps{
		tf.Float32: loopOf(layout.ScatterDiv[float32, int64]), tf.Float64: loopOf(layout.ScatterDiv[float64, int64]),
	})
	maxSlices = maxRows.slices(slicesOps{
		tf.Float32: loopOf(layout.ScatterMax[float32, int64]), tf.Float64: loopOf(layout.ScatterMax[float64, int64]),
		tf.Int32: loopOf(layout.ScatterMax[int32, int64]), tf.Int64: loopOf(layout.ScatterMax[int64, int64]),
	})
	minSlices = minRows.slices(slicesOps{
		tf.Float32: loopOf(layout.ScatterMin[float32, int64]), tf.Float64: loopOf(layout.ScatterMin[float64, int64]),
		tf.Int32: loopOf(layout.ScatterMin[int32, int64]), tf.Int64: loopOf(layout.ScatterMin[int64, int64]),
	})
)

// slices returns r row by row, but for the types that have a loop, in which single elements
// need no call each.
func (r rowOps) slices(loops slicesOps) slicesOps {
	out := slicesOps{}
	for d, f := range r {
		out[d] = eachSlice(f)
	}
	maps.Copy(out, loops)
	return out
}

func newSetSlices() slicesOps {
	out := setRows.slices(nil)
	for d := range out {
		if d.Size() > 0 {
			out[d] = putSlices
		}
	}
	return out
}

// eachSlice returns the slicesOp that calls f for each row.
func eachSlice(f rowOp) slicesOp {
	return func(dst, src *core.Tensor) func(at []int64, s, n int) {
		join, ahead := f(dst, src), prefetcher(dst)
		return func(at []int64, s, n int) {
			for i, k := range at {
				if next := i + kernel.RowsAhead; ahead != nil && next < len(at) && at[next] >= 0 {
					ahead(int(at[next])*n, n)
				}
				if k >= 0 {
					join(int(k)*n, (s+i)*n, n)
				}
			}
		}
	}
}

// prefetcher returns what asks for elements of t that are needed soon; nil if t is in the
// cache or has no plain elements.
func prefetcher(t *core.Tensor) func(at, n int) {
	if t.Buffer() == nil || !kernel.Far(cells[uint8](t)) {
		return nil
	}
	b, size := cells[uint8](t), t.DType().Size()
	return func(at, n int) { kernel.Prefetch(b[at*size:][:n*size]) }
}

// loopOf returns the slicesOp of a loop.
func loopOf[T tf.Elem](f func(dst, src []T, at []int64, n int)) slicesOp {
	return func(dst, src *core.Tensor) func(at []int64, s, n int) {
		z, x := core.Data[T](dst), core.Data[T](src)
		return func(at []int64, s, n int) { f(z, x[s*n:], at, n) }
	}
}

// putSlices is the slicesOp dst = src of elements that are plain bytes.
func putSlices(dst, src *core.Tensor) func(at []int64, s, n int) {
	z, x, size := cells[uint8](dst), cells[uint8](src), dst.DType().Size()
	return func(at []int64, s, n int) { layout.PutRows(z, x[s*n*size:], at, n*size) }
}

// only returns the slicesOps of some types.
func (r slicesOps) only(types ...tf.DType) slicesOps {
	some := slicesOps{}
	for _, d := range types {
		some[d] = r[d]
	}
	return some
}

// and returns r with one more type.
func (r slicesOps) and(d tf.DType, f slicesOp) slicesOps {
	r = maps.Clone(r)
	r[d] = f
	return r
}

// kernels returns the kernels that mk makes of each slicesOp.
func (r slicesOps) kernels(mk func(slicesOp) core.NewKernel) byType {
	by := byType{}
	for d, f := range r {
		by[d] = mk(f)
	}
	return by
}
