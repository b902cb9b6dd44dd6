package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const onesTypes = "{bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64, complex64, complex128, bool}"
	core.Register(core.OpDef{
		Name: "Fill", In: "dims: index_type; value: T", Out: "output: T", Attrs: "T: type; index_type: {int32, int64} = int32",
		Shape: fillShape, Grad: tf.GradFunc(fillGrad),
		Kernels: byCell(fill[uint8], fill[uint16], fill[uint32], fill[uint64], fill[complex128],
			fill[string], fill[core.ResourceHandle], fill[core.VariantValue]).on("T", allQuantized, smallInts),
	})
	core.Register(core.OpDef{
		Name: "ZerosLike", Traits: core.FillsShape, In: "x: T", Out: "y: T", Attrs: "T: type",
		Shape: core.UnchangedShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(zerosLike),
	})
	core.Register(core.OpDef{
		Name: "OnesLike", Traits: core.FillsShape, In: "x: T", Out: "y: T", Attrs: "T: " + onesTypes,
		Shape: core.UnchangedShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(onesLike),
	})
	core.Register(core.OpDef{
		Name: "Empty", In: "shape: int32", Out: "output: dtype", Attrs: "dtype: type; init: bool = false", Stateful: true,
		Shape: fillShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(empty),
	})
}

// Fill returns a tensor of shape dims, a vector of sizes, all elements of
// which are value, a scalar. The result has the type of value, which may be
// any; a dims of no elements gives a scalar. A negative size is refused with
// INVALID_ARGUMENT, when the graph is built if dims is constant, else in the
// step. The step also refuses with that code a dims of two or more
// dimensions, a value that is neither a scalar nor a vector of one element,
// and sizes whose product overflows.
func Fill[D tf.Ints](dims D, value tf.Output, opts ...tf.Option) tf.Output {
	return apply("Fill", opts, author.AsInts(value, dims), value)
}

// ZerosLike returns zeros of the type and shape of x. x is of any type:
// strings give empty strings, and variants the zero value of what they hold.
// A variant that has no zero value is refused in the step.
func ZerosLike(x tf.Output, opts ...tf.Option) tf.Output { return apply("ZerosLike", opts, x) }

// OnesLike returns ones of the type and shape of x. x holds numbers (integers,
// floating-point or complex ones) or bools, which give true. Other types are
// refused with INVALID_ARGUMENT when the graph is built.
func OnesLike(x tf.Output, opts ...tf.Option) tf.Output { return apply("OnesLike", opts, x) }

// Empty returns a tensor of type d and shape dims whose elements are zeros if
// EmptyOpts asks for it, and else nothing to rely on. dims is an int32
// vector. A negative size is refused with INVALID_ARGUMENT, when the graph is
// built if dims is constant, else in the step; the step refuses a dims that
// is no vector and sizes whose product overflows with the same code.
func Empty(dims tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("Empty", tf.Join(opts, tf.Attr("dtype", d)), dims)
}

// EmptyOpts are the optional attributes of Empty: Init makes the elements zero.
type EmptyOpts struct{ Init bool }

// Apply sets the attributes.
func (o EmptyOpts) Apply(s *tf.Spec) { s.Set("init", o.Init) }

func fillShape(c *core.Infer) error {
	s := c.ConstShape(0)
	for _, d := range s {
		if d < -1 || d < 0 && c.Const(0) != nil {
			return tf.Errorf(tf.InvalidArgument, "Dimension %d must be >= 0", d)
		}
	}
	c.Set(0, s)
	return nil
}

func fillGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return tf.Grads(tf.Output{}, sumAll(dy[0]))
}

// sumAll returns the sum of all elements of x.
func sumAll(x tf.Output) tf.Output {
	if s := x.Shape(); s != nil {
		axes := make([]int, len(s))
		for i := range axes {
			axes[i] = i
		}
		return reduceSum(x, intVec(x, tf.Int32, axes...), false)
	}
	return reduceSum(x, Range(nil, intScalar(x, tf.Int32, 0), Rank(x), intScalar(x, tf.Int32, 1)), false)
}

// reduceSum adds up x along axes.
func reduceSum(x, axes tf.Output, keep bool) tf.Output {
	return apply("Sum", []tf.Option{tf.Attr("keep_dims", keep)}, x, axes)
}

func fill[C cell](n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		dims, v := c.Input(0), c.Input(1)
		if dims.Rank() > 1 { // old graphs have a scalar for one size
			return tf.Errorf(tf.InvalidArgument, "dims must represent a vector, got shape %s", dims.Shape().String())
		}
		if v.Rank() != 0 && !(v.Rank() == 1 && v.Len() == 1) {
			return tf.Errorf(tf.InvalidArgument, "value must represent a scalar, got shape %s", v.Shape().String())
		}
		s, err := legacyVector(tf.Shape{}, dims)
		if err != nil {
			return err
		}
		if err := checkSizes(s); err != nil {
			return err
		}
		out, err := c.Alloc(0, d, s)
		if err != nil {
			return err
		}
		value, dst := cells[C](v)[0], cells[C](out)
		c.ParallelFor(len(dst), elementGrain, func(lo, hi int) { kernel.Fill(dst[lo:hi], value) })
		return nil
	}), nil
}

// allocSizes makes output 0 a tensor of type d and of the shape that a vector
// of sizes gives.
func allocSizes(c *core.OpContext, sizes *core.Tensor, d tf.DType) (*core.Tensor, error) {
	s, err := shapeOf(sizes, "shape")
	if err != nil {
		return nil, err
	}
	if err := checkSizes(s); err != nil {
		return nil, err
	}
	return c.Alloc(0, d, s)
}

// checkSizes refuses negative sizes.
func checkSizes(s tf.Shape) error {
	for _, n := range s {
		if n < 0 {
			return tf.Errorf(tf.InvalidArgument, "Dimension %d must be >= 0", n)
		}
	}
	return nil
}

func zerosLike(n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	if d.Base() == tf.Variant {
		return core.Compute(variantZeros), nil
	}
	return core.Compute(func(c *core.OpContext) error {
		out, err := c.AllocFrom(0, 0, d, c.Input(0).Shape())
		if err == nil {
			clearCells(out)
		}
		return err
	}), nil
}

func onesLike(n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		out, err := c.AllocFrom(0, 0, d, c.Input(0).Shape())
		if err != nil {
			return err
		}
		fillOnes(out)
		return nil
	}), nil
}

// fillOnes doubles the part that is set: Cast sets the first element.
func fillOnes(t *core.Tensor) {
	if t.Len() == 0 {
		return
	}
	elementwise.Cast(elementRange(t, 0, 1), []uint8{1})
	b := t.Buffer().Bytes()
	for done := t.DType().Size(); done < len(b); done *= 2 {
		copy(b[done:], b[:done])
	}
}

func empty(n *core.Node) (core.Kernel, error) {
	d, zero := n.Type("dtype"), n.Bool("init")
	return core.Compute(func(c *core.OpContext) error {
		out, err := allocSizes(c, c.Input(0), d)
		if err == nil && zero {
			clearCells(out)
		}
		return err
	}), nil
}
