package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Placeholder", Role: core.Fed, Traits: core.Awaited, Out: "output: dtype", Attrs: "dtype: type; shape: shape = { unknown_rank: true }",
		Shape: attrShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(placeholder),
	})
	core.Register(core.OpDef{
		Name: "PlaceholderV2", Role: core.Fed, Traits: core.Awaited, Out: "output: dtype", Attrs: "dtype: type; shape: shape",
		Shape: attrShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(placeholder),
	})
	core.Register(core.OpDef{
		Name: "PlaceholderWithDefault", Traits: core.Awaited | core.Overridable, In: "input: dtype", Out: "output: dtype", Attrs: "dtype: type; shape: shape",
		Shape: withDefaultShape, Grad: tf.GradFunc(passGrad), SparseGrad: tf.SparseGradFunc(passSparse), Kernels: core.AnyType(forward),
	})
}

// Placeholder adds an input of the graph, whose value has to be fed. Unknown
// sizes in shape are -1; a nil shape leaves all open. d is any type. Sizes
// below -1 are refused with INVALID_ARGUMENT when the graph is built; a step
// that needs a placeholder that is not fed ends with INVALID_ARGUMENT.
func Placeholder(g *tf.Graph, d tf.DType, shape tf.Shape, opts ...tf.Option) tf.Output {
	if i := slices.IndexFunc(shape, func(n int) bool { return n < -1 }); i >= 0 {
		opts = append(tf.Join(opts), invalid{tf.Errorf(tf.InvalidArgument, "sizes in a shape must be at least 0, or -1 where they are not known: dimension %d of %v is %d", i, shape, shape[i])})
	}
	opts = tf.Join(opts, tf.Attr("dtype", d), tf.Attr("shape", shape))
	return tf.Apply(g, "Placeholder", nil, opts...).Output(0)
}

// PlaceholderWithDefault returns x unless another value is fed for it. shape
// says what may be fed; x must fit it. x has any type, which the result has.
// An x whose shape is known not to fit is refused with INVALID_ARGUMENT when
// the graph is built.
func PlaceholderWithDefault(x tf.Output, shape tf.Shape, opts ...tf.Option) tf.Output {
	return apply("PlaceholderWithDefault", tf.Join(opts, tf.Attr("shape", shape)), x)
}

func attrShape(c *core.Infer) error {
	c.Set(0, c.ShapeAttr("shape"))
	return nil
}

func withDefaultShape(c *core.Infer) error {
	s := c.ShapeAttr("shape")
	if !s.Compatible(c.In(0)) {
		return tf.Errorf(tf.InvalidArgument, "the default must have the placeholder's shape: placeholder %v, default %v", s, c.In(0))
	}
	c.Set(0, s)
	return nil
}

func placeholder(n *core.Node) (core.Kernel, error) {
	name, d, s := n.Name, n.Type("dtype").CName(), n.ShapeAttr("shape")
	return core.Compute(func(*core.OpContext) error {
		if len(s) == 0 {
			return tf.Errorf(tf.InvalidArgument, "You must feed a value for placeholder tensor '%s' with dtype %s", name, d)
		}
		return tf.Errorf(tf.InvalidArgument, "You must feed a value for placeholder tensor '%s' with dtype %s and shape %s", name, d, s.String())
	}), nil
}
