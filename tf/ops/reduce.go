package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/reduction"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

// ReduceOpts are the optional attributes of the reductions.
type ReduceOpts struct {
	// KeepDims keeps the reduced dimensions, with size 1.
	KeepDims bool
}

// Apply sets the attributes.
func (o ReduceOpts) Apply(s *tf.Spec) { s.Set("keep_dims", o.KeepDims) }

const reducibleReals = "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8, quint8, qint32, qint16, quint16"
const reducibleTypes = "float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64"

// registerReduction declares an op that folds its input along some axes.
func registerReduction(name, types string, grad tf.GradFunc, kernels byType) {
	d := reductionDef(name, types, grad, kernels)
	d.Traits = core.Reduction
	core.Register(d)
}

func reductionDef(name, types string, grad tf.GradFunc, kernels byType) core.OpDef {
	return core.OpDef{
		Name: name, In: "input: T; reduction_indices: Tidx", Out: "output: T",
		Attrs: "keep_dims: bool = false; T: {" + types + "}; Tidx: {int32, int64} = int32",
		Shape: reductionShape, Grad: tf.GradFunc(grad), Kernels: core.ByType("T", kernels),
	}
}

func init() {
	registerReduction("Sum", reducibleTypes, sumGrad, sumKernels())
	registerReduction("Prod", reducibleTypes, prodGrad, merge(
		floatFolds(reduction.ProdFold[float32](), reduction.ProdFold[float64]()),
		signedFolds(reduction.ProdFold[int8](), reduction.ProdFold[int16](), reduction.ProdFold[int32](), reduction.ProdFold[int64]()),
		unsignedFolds(reduction.ProdFold[uint8](), reduction.ProdFold[uint16](), reduction.ProdFold[uint32](), reduction.ProdFold[uint64]()),
		complexFolds(reduction.ProdFold[complex64](), reduction.ProdFold[complex128]())))
	registerReduction("Max", reducibleReals, extremeGrad, merge(
		floatFolds(reduction.MaxFold[float32](), reduction.MaxFold[float64]()),
		signedFolds(reduction.MaxFold[int8](), reduction.MaxFold[int16](), reduction.MaxFold[int32](), reduction.MaxFold[int64]()),
		unsignedFolds(reduction.MaxFold[uint8](), reduction.MaxFold[uint16](), reduction.MaxFold[uint32](), reduction.MaxFold[uint64]())))
	registerReduction("Min", reducibleReals, extremeGrad, merge(
		floatFolds(reduction.MinFold[float32](), reduction.MinFold[float64]()),
		signedFolds(reduction.MinFold[int8](), reduction.MinFold[int16](), reduction.MinFold[int32](), reduction.MinFold[int64]()),
		unsignedFolds(reduction.MinFold[uint8](), reduction.MinFold[uint16](), reduction.MinFold[uint32](), reduction.MinFold[uint64]())))
	boolReduction("All", reduction.AllFold())
	boolReduction("Any", reduction.AnyFold())
}

func sumKernels() byType {
	return merge(
		floatFolds(reduction.SumFold[float32](), reduction.SumFold[float64]()),
		signedFolds(reduction.SumFold[int8](), reduction.SumFold[int16](), reduction.SumFold[int32](), reduction.SumFold[int64]()),
		unsignedFolds(reduction.SumFold[uint8](), reduction.SumFold[uint16](), reduction.SumFold[uint32](), reduction.SumFold[uint64]()),
		complexFolds(reduction.SumFold[complex64](), reduction.SumFold[complex128]()))
}

func boolReduction(name string, f reduction.Fold[bool]) {
	core.Register(core.OpDef{
		Name: name, Traits: core.Reduction, In: "input: bool; reduction_indices: Tidx", Out: "output: bool",
		Attrs: "keep_dims: bool = false; Tidx: {int32, int64} = int32",
		Shape: reductionShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(foldKernel(f)),
	})
}

// AllAxes stands for all dimensions of the tensor that is reduced.
var AllAxes []int

// reduceAlong adds a reduction of x along axes, all dimensions if axes is AllAxes.
func reduceAlong[A tf.Ints](op string, opts []tf.Option, x tf.Output, axes A) tf.Output {
	if a, ok := any(axes).([]int); ok && a == nil {
		return apply(op, opts, x, allAxes(x))
	}
	return apply(op, opts, x, author.AsInts(x, axes))
}

// Sum returns the sums of x along axes; negative ones count from the end.
// ReduceOpts keeps their dimensions, with size 1. The result has the shape of
// x without the axes, a scalar if axes is AllAxes, and the type of x: numbers
// (floating-point, complex, integers of 8 to 64 bits). Sums of integers may
// overflow; float16 and bfloat16 are added up in float32; the sum of no
// elements is 0. An axis that is not in [-rank, rank) or is named twice is
// refused with INVALID_ARGUMENT, when the graph is built if the axes and the
// rank of x are known, else in the step.
func Sum[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return reduceAlong("Sum", opts, x, axes)
}

// Prod returns the products of x along axes. Axes, shapes, types and errors
// are those of Sum. Products of integers may overflow; float16 and bfloat16
// are multiplied in float32; the product of no elements is 1.
// Its options are [ReduceOpts].
func Prod[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return reduceAlong("Prod", opts, x, axes)
}

// Max returns the greatest elements of x along axes, NaN where there is one.
// x holds real numbers (floating-point numbers and integers of 8 to 64 bits);
// axes, shapes and errors are those of Sum. The greatest of no elements is
// -Inf, or the least integer of the type. Its options are [ReduceOpts].
func Max[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return reduceAlong("Max", opts, x, axes)
}

// Min returns the least elements of x along axes, NaN where there is one. x
// holds real numbers (floating-point numbers and integers of 8 to 64 bits);
// axes, shapes and errors are those of Sum. The least of no elements is +Inf,
// or the greatest integer of the type. Its options are [ReduceOpts].
func Min[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return reduceAlong("Min", opts, x, axes)
}

// All reports whether all elements of x hold along axes. x and the result are
// bool; axes, shapes and errors are those of Sum. The result for no elements
// is true. Its options are [ReduceOpts].
func All[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return reduceAlong("All", opts, x, axes)
}

// Any reports whether an element of x holds along axes. x and the result are
// bool; axes, shapes and errors are those of Sum. The result for no elements
// is false. Its options are [ReduceOpts].
func Any[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return reduceAlong("Any", opts, x, axes)
}

// reductionShape is the shape function of all reductions.
func reductionShape(c *core.Infer) error {
	x, keep := c.In(0), c.Bool("keep_dims")
	axes, known := c.ConstInts(1)
	switch {
	case x != nil && known:
		reduced, err := reducedAxes(axes, len(x))
		if err != nil {
			return err
		}
		c.Set(0, reducedShape(x, reduced, keep))
	case x != nil && keep:
		c.Set(0, unknownDims(len(x)))
	case x != nil && c.In(1).NumElements() == 1:
		c.Set(0, unknownDims(max(0, len(x)-1)))
	}
	return nil
}

// reducedAxes marks the axes that are reduced; negative ones count from the end.
func reducedAxes(axes []int, rank int) ([]bool, error) {
	reduced := make([]bool, rank)
	for _, a := range axes {
		i, ok := wrapAxis(a, rank)
		if !ok {
			return nil, tf.Errorf(tf.InvalidArgument, "Invalid reduction dimension (%d for input with %d dimension(s)", a, rank)
		}
		if reduced[i] {
			return nil, tf.Errorf(tf.InvalidArgument, "Invalid reduction arguments: Axes contains duplicate dimension: %d", i)
		}
		reduced[i] = true
	}
	return reduced, nil
}

func reducedShape(x tf.Shape, reduced []bool, keep bool) tf.Shape {
	out := tf.Shape{}
	for i, d := range x {
		switch {
		case !reduced[i]:
			out = append(out, d)
		case keep:
			out = append(out, 1)
		}
	}
	return out
}

// reducer plans a reduction for what a node got as inputs.
func reducer(c *core.OpContext, keep bool) (*reduction.Reduction, tf.Shape, error) {
	axes, err := c.Input(1).Ints()
	if err != nil {
		return nil, nil, err
	}
	x := c.Input(0).Shape()
	reduced, err := reducedAxes(axes, len(x))
	if err != nil {
		return nil, nil, err
	}
	return reduction.NewReduction(x, reduced), reducedShape(x, reduced, keep), nil
}

// reduce folds src into dst as r says.
type reduce[T any] func(c *core.OpContext, r *reduction.Reduction, dst, src []T)

// folding returns the reduction with f.
func folding[T core.Plain](f reduction.Fold[T]) reduce[T] {
	return func(c *core.OpContext, r *reduction.Reduction, dst, src []T) {
		reduction.Reduce(c.ParallelFor, r, dst, src, f)
	}
}

// inFloat32Fold reduces 16-bit floats in float32, so that a sum does not stop
// growing when its terms fall below its last place. rows, which may be nil, does
// to rows of n elements what f does.
func inFloat32Fold[H numeric.HalfFloat](f reduce[float32], rows func(dst, src []float32, n int)) reduce[H] {
	return func(c *core.OpContext, r *reduction.Reduction, dst, src []H) {
		if rows != nil && r.ByRows() && r.Count <= wideElements {
			inWideBlocks(c.ParallelFor, dst, src, 1, r.Count, rows)
			return
		}
		d, s := core.Borrow[float32](c, len(dst)), core.Borrow[float32](c, len(src))
		c.ParallelFor(len(src), elementGrain, func(lo, hi int) { elementwise.Widen(s[lo:hi], src[lo:hi]) })
		f(c, r, d, s)
		elementwise.Narrow(dst, d)
	}
}

func foldKernel[T elem](f reduction.Fold[T]) core.NewKernel {
	return foldingRows(folding(f), func(z, x []T, n int) { reduction.ReduceRows(z, x, n, f) })
}

// foldingRows is reduceKernel that can also fold some rows at a time.
func foldingRows[T tf.Elem](f reduce[T], rows func(z, x []T, n int)) core.NewKernel {
	whole, byRow := reduceKernel(f), core.FoldRows(rows)
	return func(n *core.Node) (core.Kernel, error) {
		k, err := whole(n)
		if err != nil || byRow == nil {
			return k, err
		}
		compute, _ := core.AsCompute(k)
		return &core.RowKernel{Compute: compute, Rows: byRow}, nil
	}
}

func reduceKernel[T tf.Elem](f reduce[T]) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		keep := n.Bool("keep_dims")
		return core.Compute(func(c *core.OpContext) error {
			r, s, err := reducer(c, keep)
			if err != nil {
				return err
			}
			out, err := c.Alloc(0, c.Input(0).DType(), s)
			if err != nil {
				return err
			}
			f(c, r, core.Data[T](out), core.Data[T](c.Input(0)))
			return nil
		}), nil
	}
}

func floatFolds(f32 reduction.Fold[float32], f64 reduction.Fold[float64]) byType {
	rows := func(dst, src []float32, n int) { reduction.ReduceRows(dst, src, n, f32) }
	return byType{
		tf.Float32: foldKernel(f32), tf.Float64: foldKernel(f64),
		tf.Float16:  reduceKernel(inFloat32Fold[tf.Half](folding(f32), rows)),
		tf.BFloat16: reduceKernel(inFloat32Fold[tf.BF16](folding(f32), rows)),
	}
}

func signedFolds(i8 reduction.Fold[int8], i16 reduction.Fold[int16], i32 reduction.Fold[int32], i64 reduction.Fold[int64]) byType {
	return byType{tf.Int8: foldKernel(i8), tf.Int16: foldKernel(i16), tf.Int32: foldKernel(i32), tf.Int64: foldKernel(i64)}
}

func unsignedFolds(u8 reduction.Fold[uint8], u16 reduction.Fold[uint16], u32 reduction.Fold[uint32], u64 reduction.Fold[uint64]) byType {
	return byType{tf.Uint8: foldKernel(u8), tf.Uint16: foldKernel(u16), tf.Uint32: foldKernel(u32), tf.Uint64: foldKernel(u64)}
}

func complexFolds(c64 reduction.Fold[complex64], c128 reduction.Fold[complex128]) byType {
	return byType{tf.Complex64: foldKernel(c64), tf.Complex128: foldKernel(c128)}
}

// isAllAxes reports whether axes are all of a tensor of this rank, in order.
func isAllAxes(axes []int, rank int) bool {
	all := make([]int, rank)
	for i := range all {
		all[i] = i
	}
	return slices.Equal(axes, all)
}
