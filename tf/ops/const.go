package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	value := core.OpDef{
		Name: "Const", Role: core.Constant, Out: "output: dtype", Attrs: "value: tensor; dtype: type",
		Shape: constShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(constant),
	}
	core.Register(value)
	value.Name, value.NoGrad = "HostConst", core.NoGradientDefined // what TensorFlow's constant folding leaves for accelerators
	core.Register(value)
}

// Const adds a constant of the given elements, row-major, and shape; without a
// shape it is a vector. The elements are copied. Elements of type int become
// int32, or int64 if one has to. See Scalar for constants of rank 0, and
// Constant for nested slices and for options. A shape that does not hold as
// many elements as data is refused with INVALID_ARGUMENT.
func Const[T tf.Number](g *tf.Graph, data []T, shape ...int) tf.Output {
	t, err := tf.TensorOf(data)
	if s := tf.Shape(shape); err == nil && len(s) > 0 {
		if s.NumElements() != len(data) {
			err = tf.Errorf(tf.InvalidArgument, "data must fill the shape: shape %v holds %d elements, data has %d", s, s.NumElements(), len(data))
		} else {
			t, err = t.Reshape(s)
		}
	}
	return constOf(g, (*core.Tensor)(t), err)
}

// Scalar adds a constant of rank 0. An int becomes an int32, or an int64 if it
// has to, as in TensorFlow's API. A nil g is refused with INVALID_ARGUMENT.
func Scalar[T tf.Number](g *tf.Graph, v T, opts ...tf.Option) tf.Output {
	return Constant(g, v, opts...)
}

// Constant adds a constant with the value of v: a number, bool or string, or
// slices of them, nested and of equal lengths, as tf.TensorOf takes them. The
// elements are copied. Other values, and slices of one level whose lengths
// differ, are refused with INVALID_ARGUMENT.
func Constant(g *tf.Graph, v any, opts ...tf.Option) tf.Output {
	t, err := tf.TensorOf(v)
	return constOf(g, (*core.Tensor)(t), err, opts...)
}

// ConstTensor adds a constant whose value is t. The elements are copied. A nil
// t is refused with INVALID_ARGUMENT.
func ConstTensor(g *tf.Graph, t *tf.Tensor, opts ...tf.Option) tf.Output {
	if t == nil {
		return ConstValue(g, nil, opts...)
	}
	return ConstValue(g, (*core.Tensor)(t).Enter(), opts...)
}

// ConstValue is ConstTensor for a tensor of the engine's, which the graph takes
// over: it must not be changed or released afterwards. It does not copy the
// elements. A nil t is refused with INVALID_ARGUMENT.
func ConstValue(g *tf.Graph, t *core.Tensor, opts ...tf.Option) tf.Output {
	var err error
	if t == nil {
		err = tf.Errorf(tf.InvalidArgument, "a constant needs a tensor, got nil")
	}
	return constOf(g, t, err, opts...)
}

func constOf(g *tf.Graph, t *core.Tensor, err error, opts ...tf.Option) tf.Output {
	if err != nil {
		opts = tf.Join(opts, invalid{err})
	} else {
		opts = tf.Join(opts, tf.Attr("value", t), tf.Attr("dtype", t.DType()))
	}
	return tf.Apply(g, "Const", nil, opts...).Output(0)
}

func constShape(c *core.Infer) error {
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

func constant(n *core.Node) (core.Kernel, error) {
	t := n.TensorAttr("value")
	if t == nil || t.DType() != n.Type("dtype") {
		return nil, tf.Errorf(tf.InvalidArgument, "Type mismatch between value (%s) and dtype (%s)", t.DType().CName(), n.Type("dtype").CName())
	}
	return core.Compute(func(c *core.OpContext) error {
		c.ShareShape(0, t, t.Shape())
		return nil
	}), nil
}
