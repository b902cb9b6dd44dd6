package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
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

// reduction declares an op that folds its input along some axes.
func reduction(name, types string, grad tf.GradFunc, kernels byType) {
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
	reduction("Sum", reducibleTypes, sumGrad, sumKernels())
	reduction("Prod", reducibleTypes, prodGrad, merge(
		floatFolds(kernel.ProdFold[float32](), kernel.ProdFold[float64]()),
		signedFolds(kernel.ProdFold[int8](), kernel.ProdFold[int16](), kernel.ProdFold[int32](), kernel.ProdFold[int64]()),
		unsignedFolds(kernel.ProdFold[uint8](), kernel.ProdFold[uint16](), kernel.ProdFold[uint32](), kernel.ProdFold[uint64]()),
		complexFolds(kernel.ProdFold[complex64](), kernel.ProdFold[complex128]())))
	reduction("Max", reducibleReals, extremeGrad, merge(
		floatFolds(kernel.MaxFold[float32](), kernel.MaxFold[float64]()),
		signedFolds(kernel.MaxFold[int8](), kernel.MaxFold[int16](), kernel.MaxFold[int32](), kernel.MaxFold[int64]()),
		unsignedFolds(kernel.MaxFold[uint8](), kernel.MaxFold[uint16](), kernel.MaxFold[uint32](), kernel.MaxFold[uint64]())))
	reduction("Min", reducibleReals, extremeGrad, merge(
		floatFolds(kernel.MinFold[float32](), kernel.MinFold[float64]()),
		signedFolds(kernel.MinFold[int8](), kernel.MinFold[int16](), kernel.MinFold[int32](), kernel.MinFold[int64]()),
		unsignedFolds(kernel.MinFold[uint8](), kernel.MinFold[uint16](), kernel.MinFold[uint32](), kernel.MinFold[uint64]())))
	boolReduction("All", kernel.AllFold())
	boolReduction("Any", kernel.AnyFold())
}

func sumKernels() byType {
	return merge(
		floatFolds(kernel.SumFold[float32](), kernel.SumFold[float64]()),
		signedFolds(kernel.SumFold[int8](), kernel.SumFold[int16](), kernel.SumFold[int32](), kernel.SumFold[int64]()),
		unsignedFolds(kernel.SumFold[uint8](), kernel.SumFold[uint16](), kernel.SumFold[uint32](), kernel.SumFold[uint64]()),
		complexFolds(kernel.SumFold[complex64](), kernel.SumFold[complex128]()))
}

func boolReduction(name string, f kernel.Fold[bool]) {
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
// ReduceOpts keeps their dimensions, with size 1.
func Sum[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return reduceAlong("Sum", opts, x, axes)
}

// Prod returns the products of x along axes. Its options are [ReduceOpts].
func Prod[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return reduceAlong("Prod", opts, x, axes)
}

// Max returns the greatest elements of x along axes, NaN where there is one.
// Its options are [ReduceOpts].
func Max[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return reduceAlong("Max", opts, x, axes)
}

// Min returns the least elements of x along axes, NaN where there is one.
// Its options are [ReduceOpts].
func Min[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return reduceAlong("Min", opts, x, axes)
}

// All reports whether all elements of x hold along axes. Its options are [ReduceOpts].
func All[A tf.Ints](x tf.Output, axes A, opts ...tf.Option) tf.Output {
	return reduceAlong("All", opts, x, axes)
}

// Any reports whether an element of x holds along axes. Its options are [ReduceOpts].
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
func reducer(c *core.OpContext, keep bool) (*kernel.Reduction, tf.Shape, error) {
	axes, err := c.Input(1).Ints()
	if err != nil {
		return nil, nil, err
	}
	x := c.Input(0).Shape()
	reduced, err := reducedAxes(axes, len(x))
	if err != nil {
		return nil, nil, err
	}
	return kernel.NewReduction(x, reduced), reducedShape(x, reduced, keep), nil
}

// reduce folds src into dst as r says.
type reduce[T any] func(c *core.OpContext, r *kernel.Reduction, dst, src []T)

// folding returns the reduction with f.
func folding[T any](f kernel.Fold[T]) reduce[T] {
	return func(c *core.OpContext, r *kernel.Reduction, dst, src []T) {
		kernel.Reduce(c.ParallelFor, r, dst, src, f)
	}
}

// inFloat32Fold reduces 16-bit floats in float32, so that a sum does not stop
// growing when its terms fall below its last place.
func inFloat32Fold[H kernel.HalfFloat](f reduce[float32]) reduce[H] {
	return func(c *core.OpContext, r *kernel.Reduction, dst, src []H) {
		d, s := core.Make[float32](len(dst)), core.Make[float32](len(src))
		kernel.Widen(s, src)
		f(c, r, d, s)
		kernel.Narrow(dst, d)
	}
}

func foldKernel[T tf.Elem](f kernel.Fold[T]) core.NewKernel {
	return foldingRows(folding(f), func(z, x []T, n int) { kernel.ReduceRows(z, x, n, f) })
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

func floatFolds(f32 kernel.Fold[float32], f64 kernel.Fold[float64]) byType {
	return byType{
		tf.Float32: foldKernel(f32), tf.Float64: foldKernel(f64),
		tf.Float16:  reduceKernel(inFloat32Fold[tf.Half](folding(f32))),
		tf.BFloat16: reduceKernel(inFloat32Fold[tf.BF16](folding(f32))),
	}
}

func signedFolds(i8 kernel.Fold[int8], i16 kernel.Fold[int16], i32 kernel.Fold[int32], i64 kernel.Fold[int64]) byType {
	return byType{tf.Int8: foldKernel(i8), tf.Int16: foldKernel(i16), tf.Int32: foldKernel(i32), tf.Int64: foldKernel(i64)}
}

func unsignedFolds(u8 kernel.Fold[uint8], u16 kernel.Fold[uint16], u32 kernel.Fold[uint32], u64 kernel.Fold[uint64]) byType {
	return byType{tf.Uint8: foldKernel(u8), tf.Uint16: foldKernel(u16), tf.Uint32: foldKernel(u32), tf.Uint64: foldKernel(u64)}
}

func complexFolds(c64 kernel.Fold[complex64], c128 kernel.Fold[complex128]) byType {
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
