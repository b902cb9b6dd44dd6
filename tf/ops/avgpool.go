package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/pool"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const types = "T: {half, bfloat16, float, double}"
	core.Register(core.OpDef{
		Name: "AvgPool", Light: true, In: "value: T", Out: "output: T", Attrs: poolPlain + "; " + imageOrders + "; " + types,
		Shape: poolShape(4), Expensive: true, Grad: tf.GradFunc(avgPoolGrad), Kernels: core.ByType("T", convKernels(avgPool[float32](4), avgPool[float64](4))),
	})
	core.Register(core.OpDef{
		Name: "AvgPool3D", In: "input: T", Out: "output: T", Attrs: pool3D + "; " + types,
		Shape: poolShape(5), Expensive: true, Grad: tf.GradFunc(avgPool3DGrad), Kernels: core.ByType("T", convKernels(avgPool[float32](5), avgPool[float64](5))),
	})
	core.Register(core.OpDef{
		Name: "AvgPoolGrad", In: "orig_input_shape: int32; grad: T", Out: "output: T", Attrs: poolPlain + "; " + imageOrders + "; " + types,
		Shape: sizesShape(0), Expensive: true, Grad: tf.GradFunc(avgPoolGradGrad), Kernels: core.ByType("T", convKernels(avgPoolBack[float32](4), avgPoolBack[float64](4))),
	})
	core.Register(core.OpDef{
		Name: "AvgPool3DGrad", In: "orig_input_shape: int32; grad: T", Out: "output: T", Attrs: pool3D + "; " + types,
		Shape: sizesShape(0), Expensive: true, Grad: tf.GradFunc(avgPool3DGradGrad), Kernels: core.ByType("T", convKernels(avgPoolBack[float32](5), avgPoolBack[float64](5))),
	})
}

// AvgPool returns the means of windows of ksize that move by strides over
// images [batch height width channels]. Positions outside do not count. ksize
// and strides have an entry for each of the 4 dimensions, 1 for the batch and
// the channels. padding is "SAME" or "VALID". x and the result hold
// floating-point numbers (float16, bfloat16, float32, float64). A window across
// batches or channels is refused with UNIMPLEMENTED, and another rank, a size
// or stride below 1, and a window that leaves a negative size with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step.
func AvgPool(x tf.Output, ksize, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("AvgPool", tf.Join(opts, pooling(ksize, strides, padding)), x)
}

// AvgPool3D is AvgPool for volumes [batch depth height width channels]. ksize
// and strides have an entry for each of the 5 dimensions. Types and errors are
// those of AvgPool; a stride across channels is refused with UNIMPLEMENTED as
// well.
func AvgPool3D(x tf.Output, ksize, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("AvgPool3D", tf.Join(opts, pooling(ksize, strides, padding)), x)
}

// avgPool is of sums if the node has the attribute _sum: a mean times the number of its elements
// would be off by a rounding.
func avgPool[T numeric.Float](rank int) func(computedIn[T]) core.NewKernel {
	return pooled(rank, func(c *core.OpContext, a *poolAttrs, k computedIn[T]) error {
		join := pool.AvgPool[T]
		if c.Node.Bool("_sum") {
			join = pool.SumPool[T]
		}
		return poolForward(c, a, k, func(v *pool.Pool, y, x []T) { join(c.ParallelFor, v, y, x) })
	})
}

// avgPoolBackArgs checks the sizes of the images and the gradient.
func avgPoolBackArgs(c *core.OpContext, a *poolAttrs) (*pool.Pool, tf.Shape, error) {
	sizes, grad := c.Input(0), c.Input(1).Shape()
	if sizes.Rank() != 1 || sizes.Len() != a.rank {
		return nil, nil, tf.Errorf(tf.InvalidArgument, "out_backprop must be 1-dimensional and %d elements", a.rank)
	}
	if len(grad) != a.rank {
		return nil, nil, tf.Errorf(tf.InvalidArgument, "out_backprop must be %d-dimensional", a.rank)
	}
	s, err := shapeOf(sizes, "orig_input_shape")
	if err != nil {
		return nil, nil, err
	}
	if err := checkSizes(s); err != nil {
		return nil, nil, err
	}
	v, err := a.pool(s)
	if err != nil {
		return nil, nil, err
	}
	if want := a.shape(v.Batch, v.C, v.Out); !grad.Equal(want) {
		return nil, nil, tf.Errorf(tf.InvalidArgument, "Expected grad shape to be %s, but got %s", want.String(), grad.String())
	}
	return v, s, nil
}

func avgPoolBack[T numeric.Float](rank int) func(computedIn[T]) core.NewKernel {
	return pooled(rank, func(c *core.OpContext, a *poolAttrs, k computedIn[T]) error {
		v, s, err := avgPoolBackArgs(c, a)
		if err != nil {
			return err
		}
		grad := c.Input(1)
		out, z, err := k.alloc(c, 0, grad.DType(), s)
		if err != nil {
			return err
		}
		dy := channelsLast(c, a.imageFormat, k.load(c, grad), grad.Shape())
		ownOrder(c, a.imageFormat, z, s, func(dx []T) { pool.AvgPoolGrad(c.ParallelFor, v, dx, dy) })
		k.finish(out, z)
		return nil
	})
}

func avgPoolGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(applyLike(op, "AvgPoolGrad", Shape(op.Input(0)), dy[0]))
}

func avgPool3DGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(applyLike(op, "AvgPool3DGrad", Shape(op.Input(0)), dy[0]))
}

func avgPoolGradGrad(op *tf.Operation, d []tf.Output) []tf.Gradient {
	return tf.Grads(tf.Output{}, applyLike(op, "AvgPool", d[0]))
}

func avgPool3DGradGrad(op *tf.Operation, d []tf.Output) []tf.Gradient {
	return tf.Grads(tf.Output{}, applyLike(op, "AvgPool3D", d[0]))
}
