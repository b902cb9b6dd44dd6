package ops

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/reduction"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(reductionDef("EuclideanNorm", reducibleTypes, normGrad, byType{
		tf.Int8: reduceKernel(wholeNorm[int8]), tf.Int16: reduceKernel(wholeNorm[int16]), tf.Int32: reduceKernel(wholeNorm[int32]), tf.Int64: reduceKernel(wholeNorm[int64]),
		tf.Uint8: reduceKernel(wholeNorm[uint8]), tf.Uint16: reduceKernel(wholeNorm[uint16]), tf.Uint32: reduceKernel(wholeNorm[uint32]), tf.Uint64: reduceKernel(wholeNorm[uint64]),
		tf.Float32: reduceKernel(norm[float32]), tf.Float64: reduceKernel(norm[float64]),
		tf.Float16: reduceKernel(inFloat32Fold[tf.Half](norm[float32], nil)), tf.BFloat16: reduceKernel(inFloat32Fold[tf.BF16](norm[float32], nil)),
		tf.Complex64: reduceKernel(complexNorm[complex64]), tf.Complex128: reduceKernel(complexNorm[complex128]),
	}))
}

// EuclideanNorm returns the square roots of the sums of squares along axes.
// Shapes, types and what is refused are those of Sum. Complex numbers count
// by their absolute value. float16 and bfloat16 are computed in float32;
// integers are added up in their own type, which may overflow, and their
// roots are rounded down.
func EuclideanNorm[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return reduceAlong("EuclideanNorm", opts, x, axes)
}

func norm[T numeric.Float](c *core.OpContext, r *reduction.Reduction, dst, src []T) {
	squares := core.Borrow[T](c, len(src))
	elementwise.Square(squares, src)
	reduction.Reduce(c.ParallelFor, r, dst, squares, reduction.SumFold[T]())
	elementwise.Sqrt(dst, dst)
}

// wholeNorm sums in T itself, which may wrap around, and rounds roots down.
func wholeNorm[T numeric.Integer](c *core.OpContext, r *reduction.Reduction, dst, src []T) {
	squares := core.Borrow[T](c, len(src))
	elementwise.Square(squares, src)
	reduction.Reduce(c.ParallelFor, r, dst, squares, reduction.SumFold[T]())
	kernel.Map(dst, dst, func(v T) T { return T(math.Sqrt(float64(max(v, 0)))) })
}

func complexNorm[T numeric.Complex](c *core.OpContext, r *reduction.Reduction, dst, src []T) {
	squares, sums := core.Borrow[float64](c, len(src)), core.Borrow[float64](c, len(dst))
	kernel.Map2(squares, src, func(v T) float64 {
		z := complex128(v)
		return real(z)*real(z) + imag(z)*imag(z)
	})
	norm64 := reduction.SumFold[float64]()
	reduction.Reduce(c.ParallelFor, r, sums, squares, norm64)
	elementwise.Sqrt(sums, sums)
	elementwise.Cast(dst, sums)
}

func normGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, y, dz := op.Input(0), op.Output(0), dy[0]
	if !op.Bool("keep_dims") {
		shape := keptShape(sizes(x), op.Input(1))
		y, dz = Reshape(y, shape), Reshape(dz, shape)
	}
	return append(tf.Grads(RealDiv(x, RealDiv(y, dz))), tf.Gradient{})
}

func init() {
	core.Register(core.OpDef{
		Name: "L2Loss", In: "t: T", Out: "output: T", Attrs: "T: {half, bfloat16, float, double}",
		Shape: core.ScalarShape, Grad: tf.GradFunc(l2LossGrad),
		Kernels: core.ByType("T", byType{
			tf.Float32: l2Loss(sumOfSquares[float32]), tf.Float64: l2Loss(sumOfSquares[float64]),
			tf.Float16:  l2Loss(inFloat32Fold[tf.Half](sumOfSquares[float32], nil)),
			tf.BFloat16: l2Loss(inFloat32Fold[tf.BF16](sumOfSquares[float32], nil)),
		}),
	})
}

// L2Loss returns half the sum of the squares of all elements. The result is a
// scalar of the type of t, 0 if t is empty. t has any shape and holds
// floating-point numbers (float16, bfloat16, float32, float64); the 16-bit
// types are computed in float32. Other types are refused with INVALID_ARGUMENT
// when the graph is built.
func L2Loss(t tf.Output, opts ...tf.Option) tf.Output { return apply("L2Loss", opts, t) }

func sumOfSquares[T numeric.Float](c *core.OpContext, _ *reduction.Reduction, dst, src []T) {
	part := core.Make[T](kernel.CeilDiv(len(src), elementGrain))
	c.ParallelFor(len(part), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			part[i] = reduction.SumOfSquares(src[i*elementGrain : min((i+1)*elementGrain, len(src))])
		}
	})
	dst[0] = reduction.Sum(part) * 0.5
}

func l2Loss[T tf.Elem](f reduce[T]) core.NewKernel {
	return stateless(func(c *core.OpContext) error {
		x := c.Input(0)
		out, err := c.Alloc(0, x.DType(), tf.Shape{})
		if err != nil {
			return err
		}
		f(c, reduction.NewReduction([]int{x.Len()}, []bool{true}), core.Data[T](out), core.Data[T](x))
		return nil
	})
}

func l2LossGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(Mul(op.Input(0), dy[0]))
}
