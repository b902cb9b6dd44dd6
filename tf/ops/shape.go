package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const outType = "out_type: {int32, int64} = int32"
	core.Register(core.OpDef{
		Name: "Shape", Traits: core.ReadsDescription, In: "input: T", Out: "output: out_type", Attrs: "T: type; " + outType,
		Shape: shapeShapes, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(shapeN),
	})
	core.Register(core.OpDef{
		Name: "ShapeN", In: "input: N * T", Out: "output: N * out_type", Attrs: "N: int >= 1; T: type; " + outType,
		Shape: shapeShapes, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(shapeN),
	})
	core.Register(core.OpDef{
		Name: "Size", Traits: core.ReadsDescription, In: "input: T", Out: "output: out_type", Attrs: "T: type; " + outType,
		Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(size),
	})
	core.Register(core.OpDef{
		Name: "Rank", Traits: core.ReadsDescription, In: "input: T", Out: "output: int32", Attrs: "T: type",
		Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(rank),
	})
}

// ShapeOpts are the optional attributes of Shape, ShapeN, Size and
// VariableShape: the type of the result, int32 unless OutType says int64.
type ShapeOpts struct{ OutType tf.DType }

// Apply sets the attributes.
func (o ShapeOpts) Apply(s *tf.Spec) {
	if o.OutType != tf.Invalid {
		s.Set("out_type", o.OutType)
	}
}

// Shape returns the shape of x as a vector. x has any type and any shape; the
// vector has one element for each dimension. A size that int32 cannot hold is
// refused with INVALID_ARGUMENT in the step unless the result is int64.
// Its options are [ShapeOpts].
func Shape(x tf.Output, opts ...tf.Option) tf.Output { return apply("Shape", opts, x) }

// ShapeN returns the shapes of all xs. There is at least one of them, and all
// have one type. Each result is a vector, as that of Shape is. A size that
// int32 cannot hold is refused with INVALID_ARGUMENT in the step unless the
// results are int64. Its options are [ShapeOpts].
func ShapeN(xs []tf.Output, opts ...tf.Option) []tf.Output {
	return outputs(len(xs), "ShapeN", opts, xs...)
}

// Size returns the number of elements of x. x has any type and any shape; the
// result is a scalar. A number that int32 cannot hold is refused with
// INVALID_ARGUMENT in the step unless the result is int64.
// Its options are [ShapeOpts].
func Size(x tf.Output, opts ...tf.Option) tf.Output { return apply("Size", opts, x) }

// Rank returns the number of dimensions of x. x has any type and any shape,
// none of which is refused; the result is an int32 scalar.
func Rank(x tf.Output, opts ...tf.Option) tf.Output { return apply("Rank", opts, x) }

func shapeShapes(c *core.Infer) error {
	for i := range c.NumIn() {
		n := -1
		if s := c.In(i); s != nil {
			n = len(s)
		}
		c.Set(i, tf.Shape{n})
	}
	return nil
}

func shapeN(n *core.Node) (core.Kernel, error) {
	d := n.Type("out_type")
	return core.Compute(func(c *core.OpContext) error {
		for i := range c.In {
			if err := allocInts(c, i, d, c.Input(i).Shape()); err != nil {
				return err
			}
		}
		return nil
	}), nil
}

func size(n *core.Node) (core.Kernel, error) {
	d := n.Type("out_type")
	return core.Compute(func(c *core.OpContext) error { return allocInt(c, d, c.Input(0).Len()) }), nil
}

func rank(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error { return allocInt(c, tf.Int32, c.Input(0).Rank()) }), nil
}

// allocInts makes output i the vector v of type d. A value that does not fit
// is an error: it would be a wrong size later on.
func allocInts(c *core.OpContext, i int, d tf.DType, v []int) error {
	out, err := c.Alloc(i, d, tf.Shape{len(v)})
	if err != nil {
		return err
	}
	return fillInts(out, v)
}

func allocInt(c *core.OpContext, d tf.DType, v int) error {
	out, err := c.Alloc(0, d, tf.Shape{})
	if err != nil {
		return err
	}
	return fillInts(out, []int{v})
}

func fillInts(t *core.Tensor, v []int) error {
	if t.DType() == tf.Int32 {
		for _, x := range v {
			if int(int32(x)) != x {
				return tf.Errorf(tf.InvalidArgument, "a size must fit the output's type int32, got %d: ask for out_type int64", x)
			}
		}
	}
	putInts(t, v)
	return nil
}
