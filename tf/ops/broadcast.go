package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const index = "{int32, int64} = int32"
	core.Register(core.OpDef{
		Name: "BroadcastTo", Traits: core.Reshapes, In: "input: T; shape: Tidx", Out: "output: T", Attrs: "T: type; Tidx: " + index,
		Shape: broadcastToShape, Grad: tf.GradFunc(broadcastToGrad),
		Kernels: byCell(broadcastTo[uint8], broadcastTo[uint16], broadcastTo[uint32], broadcastTo[uint64], broadcastTo[complex128],
			broadcastTo[string], broadcastTo[core.ResourceHandle], broadcastTo[core.VariantValue]).on("T", smallFloats),
	})
	core.Register(core.OpDef{
		Name: "BroadcastGradientArgs", In: "s0: T; s1: T", Out: "r0: T; r1: T", Attrs: "T: " + index,
		Shape: gradientArgsShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(broadcastGradientArgs),
	})
	core.Register(core.OpDef{
		Name: "BroadcastArgs", In: "s0: T; s1: T", Out: "r0: T", Attrs: "T: " + index,
		Shape: broadcastArgsShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(broadcastArgs),
	})
}

// BroadcastTo returns x repeated to fill a shape, a vector of sizes. x is of
// any type but quantized ones and 4-bit integers. The shape has as many
// dimensions as x or more; from the last on, each size of x is 1 or that of the
// shape. Other shapes and negative sizes are refused with INVALID_ARGUMENT;
// those that are known are compared when the graph is built.
func BroadcastTo[S tf.Ints](x tf.Output, shape S, opts ...tf.Option) tf.Output {
	return apply("BroadcastTo", opts, x, author.AsInts(x, shape))
}

// BroadcastGradientArgs returns along which axes the gradient of a broadcasting
// operation on operands of shapes s0 and s1 has to be summed for each operand.
// s0 and s1 are vectors of int32 or int64 of one type, and so are the results.
// Where both sizes are 1 the axis is in both results, unless the shapes are
// equal, for which there are none. Inputs that are no vectors and shapes that
// do not broadcast are refused with INVALID_ARGUMENT, the latter in the step.
func BroadcastGradientArgs(s0, s1 tf.Output, opts ...tf.Option) (r0, r1 tf.Output) {
	out := outputs(2, "BroadcastGradientArgs", opts, s0, s1)
	return out[0], out[1]
}

// BroadcastArgs returns the shape that operands of shapes s0 and s1 broadcast
// to. s0, s1 and the result are vectors of int32 or int64, of one type. Inputs
// that are no vectors and shapes that do not broadcast fail the step with
// INVALID_ARGUMENT.
func BroadcastArgs(s0, s1 tf.Output, opts ...tf.Option) tf.Output {
	return apply("BroadcastArgs", opts, s0, s1)
}

func broadcastToShape(c *core.Infer) error {
	want, in := c.ConstShape(1), c.In(0)
	c.Set(0, want)
	if want == nil || in == nil {
		return nil
	}
	if len(in) > len(want) {
		return tf.Errorf(tf.InvalidArgument, "the shape to broadcast to must have at least the input's rank: input %v, shape %v", in, want)
	}
	for i, d := range in {
		if w := want[len(want)-len(in)+i]; d > 1 && w >= 0 && w != d {
			return tf.Errorf(tf.InvalidArgument, "only sizes of 1 are repeated: input %v, shape %v", in, want)
		}
	}
	return nil
}

// broadcastToGrad sums the gradient along the axes that were repeated.
func broadcastToGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	d := op.Type("Tidx")
	in := shapeValue(op.Input(0), d)
	_, axes := BroadcastGradientArgs(op.Input(1), in)
	return tf.Grads(Reshape(reduceSum(dy[0], axes, true), in), tf.Output{})
}

func broadcastTo[C cell](n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		want, err := shapeOf(c.Input(1), "shape")
		if err != nil {
			return err
		}
		if want.Equal(x.Shape()) {
			c.Forward(0, 0)
			return nil
		}
		if len(want) < x.Rank() {
			return tf.Errorf(tf.InvalidArgument, "Rank of input (%d) must be no greater than rank of output shape (%d).", x.Rank(), len(want))
		}
		if err := checkSizes(want); err != nil {
			return err
		}
		if err := core.CheckSize(d, want); err != nil {
			return err
		}
		b, ok := elementwise.NewBroadcastTo(want, x.Shape())
		if !ok {
			return notBroadcast(x.Shape(), want)
		}
		out, err := c.Alloc(0, d, want)
		if err != nil || out.Len() == 0 {
			return err
		}
		elementwise.CopyBroadcast(c.ParallelFor, b, cells[C](out), cells[C](x))
		return nil
	}), nil
}

// notBroadcast says why shape x does not fill another: the two do not go together,
// or make one that is larger still.
func notBroadcast(x, want tf.Shape) error {
	if _, ok := elementwise.NewBroadcast(x, want); ok {
		return tf.Errorf(tf.InvalidArgument, "Unable to broadcast tensor of shape %s to tensor of shape %s", x.String(), want.String())
	}
	return tf.Errorf(tf.InvalidArgument, "Incompatible shapes: %s vs. %s", x.String(), want.String())
}

func gradientArgsShape(c *core.Infer) error {
	for i := range 2 {
		if _, err := c.Rank(i, 1); err != nil {
			return err
		}
		c.Set(i, tf.Shape{-1})
	}
	return nil
}

// reductionAxes returns along which axes the gradient of a broadcast of a and
// b is summed for each: where it alone was repeated, and where both are 1.
func reductionAxes(a, b tf.Shape) (ra, rb []int, ok bool) {
	if slices.Equal(a, b) {
		return nil, nil, true
	}
	rank := max(len(a), len(b))
	for i := range rank {
		x, y := alignedDim(a, i, rank), alignedDim(b, i, rank)
		if x != y && x != 1 && y != 1 {
			return nil, nil, false
		}
		if x == 1 {
			ra = append(ra, i)
		}
		if y == 1 {
			rb = append(rb, i)
		}
	}
	return ra, rb, true
}

// alignedDim returns dimension i of s after s was given rank dimensions by
// putting ones in front.
func alignedDim(s tf.Shape, i, rank int) int {
	if i -= rank - len(s); i >= 0 {
		return s[i]
	}
	return 1
}

// twoShapes reads inputs 0 and 1, vectors of sizes.
func twoShapes(c *core.OpContext) (a, b tf.Shape, err error) {
	for i := range 2 {
		if t := c.Input(i); t.Rank() != 1 {
			return nil, nil, tf.Errorf(tf.InvalidArgument, "In[%d] must be a vector.%s", i, t.Shape().String())
		}
	}
	if a, err = shapeOf(c.Input(0), "In[0]"); err != nil {
		return nil, nil, err
	}
	b, err = shapeOf(c.Input(1), "In[1]")
	return a, b, err
}

func broadcastGradientArgs(n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		a, b, err := twoShapes(c)
		if err != nil {
			return err
		}
		ra, rb, ok := reductionAxes(a, b)
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "Incompatible shapes: %s vs. %s", a.String(), b.String())
		}
		if err := allocInts(c, 0, d, ra); err != nil {
			return err
		}
		return allocInts(c, 1, d, rb)
	}), nil
}

func broadcastArgsShape(c *core.Infer) error {
	a, b := c.In(0), c.In(1)
	if len(a) == 1 && len(b) == 1 && a[0] >= 0 && b[0] >= 0 {
		c.Set(0, tf.Shape{max(a[0], b[0])})
		return nil
	}
	c.Set(0, tf.Shape{-1})
	return nil
}

func broadcastArgs(n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		a, b, err := twoShapes(c)
		if err != nil {
			return err
		}
		s, ok := tf.BroadcastShapes(a, b)
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "Incompatible shapes: %s vs. %s", a.String(), b.String())
		}
		return allocInts(c, 0, d, s)
	}), nil
}
