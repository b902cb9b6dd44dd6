package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/reduction"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const types = "T: {" + reducibleReals + ", bool}; "
	core.Register(core.OpDef{
		Name: "ArgMax", In: "input: T; dimension: Tidx", Out: "output: output_type",
		Attrs: types + "Tidx: {int16, int32, int64} = int32; output_type: {int16, uint16, int32, int64} = int64",
		Shape: positionShape, Grad: tf.GradFunc(noFlow), Kernels: core.ByType("T", argKernels(reduction.ArgMax, reduction.ArgMax, reduction.ArgMax, reduction.ArgMax)),
	})
	core.Register(core.OpDef{
		Name: "ArgMin", In: "input: T; dimension: Tidx", Out: "output: output_type",
		Attrs: types + "Tidx: {int32, int64} = int32; output_type: {int32, int64} = int64",
		Shape: positionShape, Grad: tf.GradFunc(noFlow), Kernels: core.ByType("T", argKernels(reduction.ArgMin, reduction.ArgMin, reduction.ArgMin, reduction.ArgMin)),
	})
}

// ArgOpts are the optional attributes of ArgMax and ArgMin: the type of the
// result, int64 unless OutputType says otherwise.
type ArgOpts struct{ OutputType tf.DType }

// Apply sets the attributes.
func (o ArgOpts) Apply(s *tf.Spec) {
	if o.OutputType != tf.Invalid {
		s.Set("output_type", o.OutputType)
	}
}

// ArgMax returns the positions of the greatest elements of x along an axis, the
// first of equals. x holds real numbers or bools. The result has the shape of x
// without that axis and is int16, uint16, int32 or int64. NaN is passed over;
// where there is nothing else the position is 0. A negative axis counts from
// the end. An axis that x does not have is refused with INVALID_ARGUMENT, when
// the graph is built if it is known, and an axis of size 0 in the step.
// Its options are [ArgOpts].
func ArgMax[A tf.Int](x tf.Output, axis A, opts ...tf.Option) tf.Output {
	return apply("ArgMax", opts, x, author.AsInt(x, axis))
}

// ArgMin returns the positions of the least elements of x along an axis, the
// first of equals. x holds real numbers or bools. The result has the shape of x
// without that axis and is int32 or int64. NaN is passed over; where there is
// nothing else the position is 0. A negative axis counts from the end. An axis
// that x does not have is refused with INVALID_ARGUMENT, when the graph is
// built if it is known, and an axis of size 0 in the step.
// Its options are [ArgOpts].
func ArgMin[A tf.Int](x tf.Output, axis A, opts ...tf.Option) tf.Output {
	return apply("ArgMin", opts, x, author.AsInt(x, axis))
}

func positionShape(c *core.Infer) error {
	if _, err := c.Rank(1, 0); err != nil {
		return err
	}
	x := c.In(0)
	if x == nil {
		return nil
	}
	dim, ok := c.ConstInts(1)
	if !ok {
		c.Set(0, unknownDims(max(0, len(x)-1)))
		return nil
	}
	axis, ok := wrapAxis(dim[0], len(x))
	if !ok {
		return badDimension(dim[0], len(x))
	}
	c.Set(0, slices.Delete(x.Clone(), axis, axis+1))
	return nil
}

func badDimension(dim, rank int) error {
	return tf.Errorf(tf.InvalidArgument, "Expected dimension in the range [%d, %d), but got %d", -rank, rank, dim)
}

// argFunc finds positions along the middle of three dimensions.
type argFunc[T any] func(par kernel.Par, dst []int64, src []T, outer, n, inner int)

// argKernels compares small types as int64 or float32, which orders them the
// same way.
func argKernels(f32 argFunc[float32], f64 argFunc[float64], i64 argFunc[int64], u64 argFunc[uint64]) byType {
	all := byType{
		tf.Float32: argKernel(f32, dataOf[float32]), tf.Float64: argKernel(f64, dataOf[float64]),
		tf.Int64: argKernel(i64, dataOf[int64]), tf.Uint64: argKernel(u64, dataOf[uint64]),
		tf.Float16: argKernel(f32, converted[float32]), tf.BFloat16: argKernel(f32, converted[float32]),
	}
	for _, d := range []tf.DType{tf.Int8, tf.Int16, tf.Int32, tf.Uint8, tf.Uint16, tf.Uint32, tf.Bool} {
		all[d] = argKernel(i64, converted[int64])
	}
	return all
}

// converted returns the elements of t converted to T.
func converted[T int64 | float32](c *core.OpContext, t *core.Tensor) []T {
	out := core.Borrow[T](c, t.Len())
	elementwise.Cast(out, core.AnyData(t))
	return out
}

func argKernel[T any](find argFunc[T], ordered func(*core.OpContext, *core.Tensor) []T) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		d := n.Type("output_type")
		return core.Compute(func(c *core.OpContext) error {
			x := c.Input(0)
			axis, err := argAxis(c)
			if err != nil {
				return err
			}
			s := x.Shape()
			out, err := c.Alloc(0, d, slices.Delete(s.Clone(), axis, axis+1))
			if err != nil || out.Len() == 0 {
				return err
			}
			pos := core.Borrow[int64](c, out.Len())
			find(c.ParallelFor, pos, ordered(c, x), s[:axis].NumElements(), s[axis], s[axis+1:].NumElements())
			elementwise.Cast(core.AnyData(out), pos)
			return nil
		}), nil
	}
}

// argAxis returns the dimension to look along, which must not be empty.
func argAxis(c *core.OpContext) (int, error) {
	if c.Input(1).Rank() != 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "dim must be a scalar, but received tensor of shape: %s", c.Input(1).Shape().String())
	}
	v, err := intsOf(c.Input(1))
	if err != nil {
		return 0, err
	}
	s := c.Input(0).Shape()
	axis, ok := wrapAxis(v[0], len(s))
	if !ok {
		return 0, badDimension(v[0], len(s))
	}
	if s[axis] == 0 {
		return 0, tf.Errorf(tf.InvalidArgument, "Reduction axis %d is empty in shape %s", v[0], s.String())
	}
	return axis, nil
}
