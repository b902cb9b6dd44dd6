package ops

import "github.com/gorge-tf/gorge/tf"

func init() {
	tf.Register(tf.OpDef{
		Name: "Placeholder", Out: "output: dtype", Attrs: "dtype: type; shape: shape = { unknown_rank: true }",
		Shape: attrShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(placeholder),
	})
	tf.Register(tf.OpDef{
		Name: "PlaceholderV2", Out: "output: dtype", Attrs: "dtype: type; shape: shape",
		Shape: attrShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(placeholder),
	})
	tf.Register(tf.OpDef{
		Name: "PlaceholderWithDefault", In: "input: dtype", Out: "output: dtype", Attrs: "dtype: type; shape: shape",
		Shape: withDefaultShape, Grad: passGrad, SparseGrad: passSparse, Kernels: tf.AnyType(forward),
	})
}

// Placeholder adds an input of the graph, whose value has to be fed. Unknown
// sizes in shape are -1; a nil shape leaves all open.
func Placeholder(g *tf.Graph, d tf.DType, shape tf.Shape, opts ...tf.Option) tf.Output {
	opts = append([]tf.Option{tf.Attr("dtype", d), tf.Attr("shape", shape)}, opts...)
	return tf.Apply(g, "Placeholder", nil, opts...).Output(0)
}

// PlaceholderWithDefault returns x unless another value is fed for it. shape
// says what may be fed; x must fit it.
func PlaceholderWithDefault(x tf.Output, shape tf.Shape, opts ...tf.Option) tf.Output {
	return apply("PlaceholderWithDefault", append([]tf.Option{tf.Attr("shape", shape)}, opts...), x)
}

func attrShape(c *tf.Infer) error {
	c.Set(0, c.ShapeAttr("shape"))
	return nil
}

func withDefaultShape(c *tf.Infer) error {
	s := c.ShapeAttr("shape")
	if !s.Compatible(c.In(0)) {
		return tf.Errorf(tf.InvalidArgument, "the default must have the placeholder's shape: placeholder %v, default %v", s, c.In(0))
	}
	c.Set(0, s)
	return nil
}

func placeholder(n *tf.Node) (tf.Kernel, error) {
	name, d, s := n.Name, n.Type("dtype").CName(), n.ShapeAttr("shape")
	return tf.Compute(func(*tf.OpContext) error {
		if len(s) == 0 {
			return tf.Errorf(tf.InvalidArgument, "You must feed a value for placeholder tensor '%s' with dtype %s", name, d)
		}
		return tf.Errorf(tf.InvalidArgument, "You must feed a value for placeholder tensor '%s' with dtype %s and shape %s", name, d, s.Text())
	}), nil
}
