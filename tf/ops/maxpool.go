package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/pool"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	poolableTypes = "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64"
	maxPoolTypes  = "T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = DT_FLOAT"
	poolPads      = "ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID', 'EXPLICIT'}; explicit_paddings: list(int) = []"
	poolPlain     = "ksize: list(int) >= 4; strides: list(int) >= 4; padding: {'SAME', 'VALID'}"
	pool3D        = "ksize: list(int) >= 5; strides: list(int) >= 5; padding: {'SAME', 'VALID'}; data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'"
	imageOrders   = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
	vectorOrders  = "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'"
	poolGradIn    = "orig_input: T; orig_output: T; grad: T"
	windowInputs  = "ksize: int32; strides: int32"
)

// pooledAt: of maxima gradients of maxima read the shape only, which has to be that of the
// gradient to spread; which elements were the largest, is found again.
var pooledAt = map[int]int{1: 2}

func init() {
	core.Register(core.OpDef{
		Name: "MaxPool", Light: true, In: "input: T", Out: "output: T", Attrs: maxPoolTypes + "; " + poolPads + "; " + vectorOrders,
		Shape: poolShape(4), Expensive: true, Grad: tf.GradFunc(maxPoolGrad), Kernels: core.ByType("T", maxPoolKernels(4)),
	})
	core.Register(core.OpDef{
		Name: "MaxPoolV2", In: "input: T; " + windowInputs, Out: "output: T", Attrs: maxPoolTypes + "; padding: {'SAME', 'VALID'}; " + vectorOrders,
		Shape: poolShape(4), Expensive: true, Grad: tf.GradFunc(maxPoolV2Grad), Kernels: core.ByType("T", maxPoolKernels(4)),
	})
	core.Register(core.OpDef{
		Name: "MaxPool3D", In: "input: T", Out: "output: T", Attrs: pool3D + "; T: {half, bfloat16, float}",
		Shape: poolShape(5), Expensive: true, Grad: tf.GradFunc(maxPool3DGrad), Kernels: core.ByType("T", only(maxPoolKernels(5), tf.Float16, tf.BFloat16, tf.Float32)),
	})
	core.Register(core.OpDef{
		Name: "MaxPoolGrad", ShapeAt: pooledAt, In: poolGradIn, Out: "output: T", Attrs: poolPads + "; " + imageOrders + "; T: {" + poolableTypes + "} = DT_FLOAT",
		Shape: core.UnchangedShape, Expensive: true, Grad: tf.GradFunc(maxPoolGradGrad), Kernels: core.ByType("T", maxPoolGradKernels(4)),
	})
	core.Register(core.OpDef{
		Name: "MaxPoolGradV2", ShapeAt: pooledAt, In: poolGradIn + "; " + windowInputs, Out: "output: T", Attrs: "padding: {'SAME', 'VALID'}; " + imageOrders + "; T: {" + poolableTypes + "} = DT_FLOAT",
		Shape: core.UnchangedShape, Expensive: true, Grad: tf.GradFunc(maxPoolGradV2Grad), Kernels: core.ByType("T", maxPoolGradKernels(4)),
	})
	core.Register(core.OpDef{
		Name: "MaxPool3DGrad", ShapeAt: pooledAt, In: "orig_input: TInput; orig_output: TInput; grad: T", Out: "output: T",
		Attrs: pool3D + "; T: {half, bfloat16, float} = DT_FLOAT; TInput: {half, bfloat16, float} = DT_FLOAT",
		Shape: core.UnchangedShape, Expensive: true, Grad: tf.GradFunc(maxPool3DGradGrad), Kernels: core.ByType("T", only(maxPoolGradKernels(5), tf.Float16, tf.BFloat16, tf.Float32)),
	})
	core.Register(core.OpDef{
		Name: "MaxPoolGradGrad", In: poolGradIn, Out: "output: T", Attrs: poolPlain + "; " + imageOrders + "; T: {" + poolableTypes + "}",
		Shape: likeInput(1), Expensive: true, Grad: tf.GradFunc(maxPoolGradGradGrad), Kernels: core.ByType("T", maxPoolGatherKernels(4)),
	})
	core.Register(core.OpDef{
		Name: "MaxPoolGradGradV2", In: poolGradIn + "; " + windowInputs, Out: "output: T", Attrs: "padding: {'SAME', 'VALID'}; " + imageOrders + "; T: {" + poolableTypes + "}",
		Shape: likeInput(1), Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", maxPoolGatherKernels(4)),
	})
	core.Register(core.OpDef{
		Name: "MaxPool3DGradGrad", In: poolGradIn, Out: "output: T", Attrs: pool3D + "; T: {" + poolableTypes + "}",
		Shape: likeInput(1), Expensive: true, Grad: tf.GradFunc(maxPool3DGradGradGrad), Kernels: core.ByType("T", only(maxPoolGatherKernels(5), tf.Float16, tf.BFloat16, tf.Float32)),
	})
}

// MaxPool returns the maxima of windows of ksize that move by strides over
// images [batch height width channels]. ksize and strides hold a number for
// each of the four dimensions; padding is "SAME", "VALID" or, with
// WindowOpts, "EXPLICIT". The elements are floating-point numbers (float16,
// bfloat16, float32, float64) or integers, but not uint32 or uint64; the
// maximum of a window with a NaN is NaN. Another rank, sizes that are not
// positive and paddings that do not fit are refused with INVALID_ARGUMENT.
// Windows over more than one image are refused with UNIMPLEMENTED, as are
// windows over more than one channel unless they cover one position and their
// depth is the stride across channels and divides their number. Attributes
// are checked when the graph is built, the shape of x too if it is known,
// else in the step.
func MaxPool(x tf.Output, ksize, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("MaxPool", tf.Join(opts, pooling(ksize, strides, padding)), x)
}

// MaxPool3D is MaxPool for volumes [batch depth height width channels]. ksize
// and strides hold five numbers, padding is "SAME" or "VALID", and x is
// float16, bfloat16 or float32. Another rank and sizes that are not positive
// are refused with INVALID_ARGUMENT, windows over several volumes or channels
// with UNIMPLEMENTED. WindowOpts sets the format NCDHW.
func MaxPool3D(x tf.Output, ksize, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("MaxPool3D", tf.Join(opts, pooling(ksize, strides, padding)), x)
}

// MaxPoolV2 is MaxPool with sizes and strides that are computed. ksize and
// strides are vectors of four int32 numbers; padding is "SAME" or "VALID".
// What MaxPool refuses is refused when the graph is built if both are
// constants, else in the step.
func MaxPoolV2(x, ksize, strides tf.Output, padding string, opts ...tf.Option) tf.Output {
	return apply("MaxPoolV2", tf.Join(opts, tf.Attr("padding", padding)), x, ksize, strides)
}

// only returns the kernels of some types.
func only(all byType, types ...tf.DType) byType {
	some := byType{}
	for _, d := range types {
		some[d] = all[d]
	}
	return some
}

func maxPoolKernels(rank int) byType {
	return realPools(realPool{
		f32: maxPool[float32](rank), f64: maxPool[float64](rank), i8: maxPool[int8](rank), i16: maxPool[int16](rank), i32: maxPool[int32](rank), i64: maxPool[int64](rank),
		u8: maxPool[uint8](rank), u16: maxPool[uint16](rank),
	})
}

// maxPoolGradKernels returns the kernels of gradients. That of float32 can take in the gradient of
// the rectifier that the images come from.
func maxPoolGradKernels(rank int) byType {
	all := realPools(realPool{
		f32: maxPoolBack[float32](rank), f64: maxPoolBack[float64](rank), i8: maxPoolBack[int8](rank), i16: maxPoolBack[int16](rank), i32: maxPoolBack[int32](rank),
		i64: maxPoolBack[int64](rank), u8: maxPoolBack[uint8](rank), u16: maxPoolBack[uint16](rank), u32: maxPoolBack[uint32](rank), u64: maxPoolBack[uint64](rank),
	})
	all[tf.Float32] = maxPoolRectified(rank, all[tf.Float32])
	return all
}

func maxPoolRectified(rank int, whole core.NewKernel) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		k, err := whole(n)
		run, ok := core.AsCompute(k)
		if err != nil || !ok {
			return k, err
		}
		attrs, err := poolSourceOf(n, rank)
		if err != nil {
			return nil, err
		}
		return &core.RectifiedKernel{Compute: run, Rectified: func(c *core.OpContext, r core.Rectifier) error {
			a, err := attrs(c)
			if err != nil {
				return err
			}
			return maxPoolThrough(c, a, asItself[float32](), &pool.Gate{Most: r.Most})
		}}, nil
	}
}

func maxPoolGatherKernels(rank int) byType {
	return realPools(realPool{
		f32: maxPoolGather[float32](rank), f64: maxPoolGather[float64](rank), i8: maxPoolGather[int8](rank), i16: maxPoolGather[int16](rank), i32: maxPoolGather[int32](rank),
		i64: maxPoolGather[int64](rank), u8: maxPoolGather[uint8](rank), u16: maxPoolGather[uint16](rank), u32: maxPoolGather[uint32](rank), u64: maxPoolGather[uint64](rank),
	})
}

// poolKernel makes a kernel that computes in T.
type poolKernel[T core.Plain] func(computedIn[T]) core.NewKernel

// realPool holds the kernels of the real types, nil for those without.
type realPool struct {
	f32 poolKernel[float32]
	f64 poolKernel[float64]
	i8  poolKernel[int8]
	i16 poolKernel[int16]
	i32 poolKernel[int32]
	i64 poolKernel[int64]
	u8  poolKernel[uint8]
	u16 poolKernel[uint16]
	u32 poolKernel[uint32]
	u64 poolKernel[uint64]
}

func realPools(p realPool) byType {
	all := merge(convKernels(p.f32, p.f64), byType{
		tf.Int8: p.i8(asItself[int8]()), tf.Int16: p.i16(asItself[int16]()), tf.Int32: p.i32(asItself[int32]()), tf.Int64: p.i64(asItself[int64]()),
		tf.Uint8: p.u8(asItself[uint8]()), tf.Uint16: p.u16(asItself[uint16]()),
	})
	if p.u32 != nil {
		all[tf.Uint32], all[tf.Uint64] = p.u32(asItself[uint32]()), p.u64(asItself[uint64]())
	}
	return all
}

// pooled makes the kernel of a pooling from what computes one run of it.
func pooled[T core.Plain](rank int, run func(c *core.OpContext, a *poolAttrs, k computedIn[T]) error) poolKernel[T] {
	return func(k computedIn[T]) core.NewKernel {
		return func(n *core.Node) (core.Kernel, error) {
			attrs, err := poolSourceOf(n, rank)
			if err != nil {
				return nil, err
			}
			return core.Compute(func(c *core.OpContext) error {
				a, err := attrs(c)
				if err != nil {
					return err
				}
				return run(c, a, k)
			}), nil
		}
	}
}

func maxPool[T numeric.Real](rank int) poolKernel[T] {
	return pooled(rank, func(c *core.OpContext, a *poolAttrs, k computedIn[T]) error {
		return poolForward(c, a, k, func(v *pool.Pool, y, x []T) { pool.MaxPool(c.ParallelFor, v, y, x) })
	})
}

// poolForward makes output 0 the pooling of input 0.
func poolForward[T numeric.Number](c *core.OpContext, a *poolAttrs, k computedIn[T], f func(v *pool.Pool, y, x []T)) error {
	x := c.Input(0)
	v, err := a.pool(x.Shape())
	if err != nil {
		return err
	}
	s, err := a.outShape(x.Shape())
	if err != nil {
		return err
	}
	out, z, err := k.alloc(c, 0, x.DType(), s)
	if err != nil {
		return err
	}
	images := channelsLast(c, a.imageFormat, k.load(c, x), x.Shape())
	ownOrder(c, a.imageFormat, z, s, func(y []T) { f(v, y, images) })
	k.finish(out, z)
	return nil
}

// poolBackArgs checks the inputs of the gradients of a maximum: the images,
// their maxima and a gradient of the shape of either.
func poolBackArgs(c *core.OpContext, a *poolAttrs, like int) (*pool.Pool, error) {
	x, y, grad := c.Input(0).Shape(), c.Input(1).Shape(), c.Input(2).Shape()
	for i, name := range []string{"tensor_in", "tensor_out", "out_backprop"} {
		if c.Input(i).Rank() != a.rank {
			return nil, tf.Errorf(tf.InvalidArgument, "%s must be %d-dimensional", name, a.rank)
		}
	}
	v, err := a.pool(x)
	if err != nil {
		return nil, err
	}
	want := a.shape(v.Batch, v.C, v.Out)
	if !y.Equal(want) {
		return nil, tf.Errorf(tf.InvalidArgument, "Expected orig_output shape to be %s, but got %s", want.String(), y.String())
	}
	if like == 0 {
		want = x
	}
	if !grad.Equal(want) {
		return nil, tf.Errorf(tf.InvalidArgument, "Expected grad shape to be %s, but got %s", want.String(), grad.String())
	}
	return v, nil
}

func maxPoolBack[T numeric.Real](rank int) poolKernel[T] {
	return pooled(rank, func(c *core.OpContext, a *poolAttrs, k computedIn[T]) error { return maxPoolThrough(c, a, k, nil) })
}

// maxPoolThrough computes the gradient of maxima that a gate, which may be nil, lets pass.
func maxPoolThrough[T numeric.Real](c *core.OpContext, a *poolAttrs, k computedIn[T], gate *pool.Gate) error {
	v, err := poolBackArgs(c, a, 1)
	if err != nil {
		return err
	}
	x, grad := c.Input(0), c.Input(2)
	out, z, err := k.alloc(c, 0, x.DType(), x.Shape())
	if err != nil {
		return err
	}
	dy := channelsLast(c, a.imageFormat, k.load(c, grad), grad.Shape())
	ownOrder(c, a.imageFormat, z, x.Shape(), func(dx []T) {
		pool.MaxPoolBack(c.ParallelFor, v, gate, dx, channelsLast(c, a.imageFormat, k.load(c, x), x.Shape()), dy)
	})
	k.finish(out, z)
	return nil
}

func maxPoolGather[T numeric.Real](rank int) poolKernel[T] {
	return pooled(rank, func(c *core.OpContext, a *poolAttrs, k computedIn[T]) error {
		v, err := poolBackArgs(c, a, 0)
		if err != nil {
			return err
		}
		if x := c.Input(0); rank == 5 && x.Len() == 0 {
			return tf.Errorf(tf.InvalidArgument, "received empty tensor tensor_in: %s", describeEmpty(x))
		}
		x, y, grad := c.Input(0), c.Input(1), c.Input(2)
		out, z, err := k.alloc(c, 0, y.DType(), y.Shape())
		if err != nil {
			return err
		}
		from := channelsLast(c, a.imageFormat, k.load(c, grad), grad.Shape())
		images, greatest := channelsLast(c, a.imageFormat, k.load(c, x), x.Shape()), channelsLast(c, a.imageFormat, k.load(c, y), y.Shape())
		ownOrder(c, a.imageFormat, z, y.Shape(), func(dst []T) { pool.MaxPoolSelect(c.ParallelFor, v, dst, from, images, greatest) })
		k.finish(out, z)
		return nil
	})
}
