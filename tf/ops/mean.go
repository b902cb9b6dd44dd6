package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/reduction"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	registerReduction("Mean", reducibleTypes, meanGrad, byType{
		tf.Float32: foldingRows(mean, meanRows(reduction.SumFold[float32]())), tf.Float64: foldingRows(mean, meanRows(reduction.SumFold[float64]())),
		tf.Float16: reduceKernel(inFloat32Fold[tf.Half](mean[float32], meanRows(reduction.SumFold[float32]()))), tf.BFloat16: reduceKernel(inFloat32Fold[tf.BF16](mean[float32], meanRows(reduction.SumFold[float32]()))),
		tf.Complex64: reduceKernel(mean[complex64]), tf.Complex128: reduceKernel(mean[complex128]),
		tf.Int8: reduceKernel(intMean[int8]), tf.Int16: reduceKernel(intMean[int16]), tf.Int32: reduceKernel(intMean[int32]), tf.Int64: reduceKernel(intMean[int64]),
		tf.Uint8: reduceKernel(intMean[uint8]), tf.Uint16: reduceKernel(intMean[uint16]), tf.Uint32: reduceKernel(intMean[uint32]), tf.Uint64: reduceKernel(intMean[uint64]),
	})
}

// Mean returns the means of x along axes; those of integers are truncated.
// Shapes, types and what is refused are those of Sum. Integers are added up
// in 64 bits, float16 and bfloat16 in float32. The mean of no elements is NaN
// for floating-point numbers and 0 for integers.
func Mean[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return reduceAlong("Mean", opts, x, axes)
}

func mean[T numeric.Inexact](c *core.OpContext, r *reduction.Reduction, dst, src []T) {
	reduction.Reduce(c.ParallelFor, r, dst, src, reduction.SumFold[T]())
	n := T(count[T](r.Count))
	elementwise.DivScalar(dst, dst, n)
}

// meanRows returns what sets means of rows of n elements.
func meanRows[T numeric.Float](sum reduction.Fold[T]) func(dst, src []T, n int) {
	return func(dst, src []T, n int) {
		reduction.ReduceRows(dst, src, n, sum)
		elementwise.DivScalar(dst, dst, T(n))
	}
}

// count returns n in a type that has no conversion from int.
func count[T numeric.Inexact](n int) T {
	var v [1]T
	elementwise.Cast(v[:], []float64{float64(n)})
	return v[0]
}

// intMean sums in 64 bits, where the sum of small integers does not wrap.
func intMean[T numeric.Integer](c *core.OpContext, r *reduction.Reduction, dst, src []T) {
	if r.Count == 0 {
		clear(dst)
		return
	}
	if T(0)-1 > 0 {
		wideMean[T, uint64](c, r, dst, src)
	} else {
		wideMean[T, int64](c, r, dst, src)
	}
}

func wideMean[T numeric.Integer, W int64 | uint64](c *core.OpContext, r *reduction.Reduction, dst, src []T) {
	d, s := core.Borrow[W](c, len(dst)), core.Borrow[W](c, len(src))
	kernel.Map2(s, src, func(v T) W { return W(v) })
	reduction.Reduce(c.ParallelFor, r, d, s, reduction.SumFold[W]())
	kernel.Map2(dst, d, func(v W) T { return T(v / W(r.Count)) })
}
