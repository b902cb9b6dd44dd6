package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
)

func init() {
	value := tf.OpDef{
		Name: "Const", Out: "output: dtype", Attrs: "value: tensor; dtype: type",
		Shape: constShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(constant),
	}
	tf.Register(value)
	value.Name, value.NoGrad = "HostConst", tf.NoGradientDefined // what TensorFlow's constant folding leaves for accelerators
	tf.Register(value)
}

// Const adds a constant of the given elements, row-major, and shape; without a
// shape it is a vector. The elements are copied. See Scalar for constants of
// rank 0.
func Const[T tf.Elem](g *tf.Graph, data []T, shape ...int) tf.Output {
	t, err := tf.FromSlice(slices.Clone(data), shape...)
	return constOf(g, t, err)
}

// Scalar adds a constant of rank 0.
func Scalar[T tf.Elem](g *tf.Graph, v T, opts ...tf.Option) tf.Output {
	return ConstTensor(g, tf.Scalar(v), opts...)
}

// ConstTensor adds a constant whose value is t, which must not be changed or
// released afterwards.
func ConstTensor(g *tf.Graph, t *tf.Tensor, opts ...tf.Option) tf.Output {
	var err error
	if t == nil {
		err = tf.Errorf(tf.InvalidArgument, "a constant needs a tensor, got nil")
	}
	return constOf(g, t, err, opts...)
}

func constOf(g *tf.Graph, t *tf.Tensor, err error, opts ...tf.Option) tf.Output {
	if err != nil {
		opts = append(opts, invalid{err})
	} else {
		opts = append([]tf.Option{tf.Attr("value", t), tf.Attr("dtype", t.DType())}, opts...)
	}
	return tf.Apply(g, "Const", nil, opts...).Output(0)
}

func constShape(c *tf.Infer) error {
	t := c.TensorAttr("value")
	if t == nil {
		return tf.Errorf(tf.InvalidArgument, "attr \"value\" must be a tensor")
	}
	if t.DType() != c.Type("dtype") {
		return tf.Errorf(tf.InvalidArgument, "Type mismatch between value (%s) and dtype (%s)", t.DType().CName(), c.Type("dtype").CName())
	}
	c.Set(0, t.Shape())
	return nil
}

func constant(n *tf.Node) (tf.Kernel, error) {
	t := n.TensorAttr("value")
	if t == nil || t.DType() != n.Type("dtype") {
		return nil, tf.Errorf(tf.InvalidArgument, "Type mismatch between value (%s) and dtype (%s)", t.DType().CName(), n.Type("dtype").CName())
	}
	return tf.Compute(func(c *tf.OpContext) error {
		c.ShareShape(0, t, t.Shape())
		return nil
	}), nil
}
