package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/pool"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const indexed = "padding: {'SAME', 'VALID'}; include_batch_in_index: bool = false; "
	const window, index = "ksize: list(int) >= 4; strides: list(int) >= 4; ", "Targmax: {int32, int64}"
	core.Register(core.OpDef{
		Name: "MaxPoolWithArgmax", In: "input: T", Out: "output: T; argmax: Targmax",
		Attrs: window + index + " = DT_INT64; " + indexed + "T: {" + poolableTypes + "}",
		Shape: poolShape(4), Expensive: true, Grad: tf.GradFunc(maxPoolWithArgmaxGrad), Kernels: core.ByType("T", everyReal(argmaxPools)),
	})
	core.Register(core.OpDef{
		Name: "MaxPoolGradWithArgmax", In: "input: T; grad: T; argmax: Targmax", Out: "output: T",
		Attrs: window + indexed + index + "; T: {" + poolableTypes + "}",
		Shape: core.UnchangedShape, Expensive: true, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", everyReal(argmaxPoolGrads)),
	})
}

// ArgmaxOpts are the optional attributes of MaxPoolWithArgmax: the type of the
// positions, int64 if it is not given, and whether they count from the
// beginning of the batch instead of each image.
type ArgmaxOpts struct {
	Targmax             tf.DType
	IncludeBatchInIndex bool
}

// Apply sets the attributes.
func (o ArgmaxOpts) Apply(s *tf.Spec) {
	if o.Targmax != tf.Invalid {
		s.Set("Targmax", o.Targmax)
	}
	s.Set("include_batch_in_index", o.IncludeBatchInIndex)
}

// MaxPoolWithArgmax is MaxPool that also returns where each maximum is: at
// (row·width + column)·channels + channel of its image. argmax has the shape
// of y; the first of equal maxima counts, a NaN only if it is the first element
// of its window, and a window that covers nothing of the image has position -1. x is [batch height width channels] of real
// numbers (floating-point numbers and integers of 8 to 64 bits), padding is
// "SAME" or "VALID". Another rank and sizes that are not positive are refused
// with INVALID_ARGUMENT, windows over several images with UNIMPLEMENTED.
// Its options are [ArgmaxOpts].
func MaxPoolWithArgmax(x tf.Output, ksize, strides []int, padding string, opts ...tf.Option) (y, argmax tf.Output) {
	out := outputs(2, "MaxPoolWithArgmax", tf.Join(opts, pooling(ksize, strides, padding)), x)
	return out[0], out[1]
}

// everyReal holds the kernels that f makes for the real types.
func everyReal(f func() realPool) byType { return realPools(f()) }

func argmaxPools() realPool {
	return realPool{
		f32: argmaxPool[float32](), f64: argmaxPool[float64](), i8: argmaxPool[int8](), i16: argmaxPool[int16](), i32: argmaxPool[int32](),
		i64: argmaxPool[int64](), u8: argmaxPool[uint8](), u16: argmaxPool[uint16](), u32: argmaxPool[uint32](), u64: argmaxPool[uint64](),
	}
}

func argmaxPoolGrads() realPool {
	return realPool{
		f32: argmaxPoolBack[float32](), f64: argmaxPoolBack[float64](), i8: argmaxPoolBack[int8](), i16: argmaxPoolBack[int16](), i32: argmaxPoolBack[int32](),
		i64: argmaxPoolBack[int64](), u8: argmaxPoolBack[uint8](), u16: argmaxPoolBack[uint16](), u32: argmaxPoolBack[uint32](), u64: argmaxPoolBack[uint64](),
	}
}

func argmaxPool[T numeric.Real]() poolKernel[T] {
	return pooled(4, func(c *core.OpContext, a *poolAttrs, k computedIn[T]) error {
		x := c.Input(0)
		if x.Rank() != 4 {
			return tf.Errorf(tf.InvalidArgument, "tensor_in must be 4-dimensional (2)")
		}
		if x.Len() == 0 {
			return tf.Errorf(tf.InvalidArgument, "tensor_in must not be empty (2)")
		}
		v, err := a.pool(x.Shape())
		if err != nil {
			return err
		}
		s := a.shape(v.Batch, v.C, v.Out)
		out, y, err := k.alloc(c, 0, x.DType(), s)
		if err != nil {
			return err
		}
		at, err := c.Alloc(1, c.Node.Type("Targmax"), s)
		if err != nil {
			return err
		}
		images, arg := k.load(c, x), core.Borrow[int64](c, len(y))
		pool.MaxPoolArg(c.ParallelFor, v, arg, images)
		pool.MaxPoolGather(c.ParallelFor, v, y, images, arg) // what is there, even if another element is NaN
		k.finish(out, y)
		imagePositions(v, arg, c.Node.Bool("include_batch_in_index"))
		elementwise.Cast(core.AnyData(at), arg)
		return nil
	})
}

// imagePositions turns pixels of a batch, by channel, into positions of
// elements: in the batch, or in each image.
func imagePositions(v *pool.Pool, arg []int64, inBatch bool) {
	pixels, image := int64(v.In[1]*v.In[2]), v.Out[1]*v.Out[2]
	for i := range len(arg) / max(1, v.C) {
		first := int64(0)
		if !inBatch {
			first = int64(i/image) * pixels
		}
		at := arg[i*v.C : (i+1)*v.C]
		for c, p := range at {
			if p >= 0 {
				at[c] = (p-first)*int64(v.C) + int64(c)
			}
		}
	}
}

func argmaxPoolBack[T numeric.Real]() poolKernel[T] {
	return pooled(4, func(c *core.OpContext, a *poolAttrs, k computedIn[T]) error {
		x, grad, argmax := c.Input(0), c.Input(1), c.Input(2)
		v, err := a.pool(x.Shape())
		if err != nil {
			return err
		}
		want := a.shape(v.Batch, v.C, v.Out)
		if !grad.Shape().Equal(want) {
			return tf.Errorf(tf.InvalidArgument, "Expected grad shape to be %s, but got %s", want.String(), grad.Shape().String())
		}
		if !argmax.Shape().Equal(want) {
			return tf.Errorf(tf.InvalidArgument, "Expected argmax shape to be %s, but got %s", want.String(), argmax.Shape().String())
		}
		out, dx, err := k.alloc(c, 0, x.DType(), x.Shape())
		if err != nil {
			return err
		}
		image := len(dx) / max(1, v.Batch)
		if c.Node.Bool("include_batch_in_index") {
			image = 0 // positions count from the beginning
		}
		if err := spreadBack(dx, k.load(c, grad), rows.Indices(argmax), image, v.Batch); err != nil {
			return err
		}
		k.finish(out, dx)
		return nil
	})
}

// spreadBack adds each of the gradients dy to the element of dx that it came from:
// at a position in its image, whose size is given.
func spreadBack[T numeric.Real](dx, dy []T, at []int64, image, batch int) error {
	clear(dx)
	windows := len(dy) / max(1, batch)
	for b := range batch {
		first, of := b*image, dy[b*windows:(b+1)*windows]
		for i, p := range at[b*windows : (b+1)*windows] {
			p += int64(first)
			if p < 0 || p >= int64(len(dx)) {
				return tf.Errorf(tf.InvalidArgument, "Invalid input backprop index: %d, %d, %d", p, 0, len(dx))
			}
			dx[p] += of[i]
		}
	}
	return nil
}

func maxPoolWithArgmaxGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(applyLike(op, "MaxPoolGradWithArgmax", op.Input(0), dy[0], op.Output(1)))
}
