package ops

import (
	"github.com/gorge-tf/gorge/tf"
)

func init() {
	tf.Register(tf.OpDef{
		Name: "RefIdentity", In: "input: Ref(T)", Out: "output: Ref(T)", Attrs: "T: type", Uninitialized: true,
		Shape: tf.UnchangedShape, Grad: passGrad, Kernels: tf.AnyType(refIdentity),
	})
	tf.Register(tf.OpDef{
		Name: "DebugGradientIdentity", In: "input: T", Out: "output: T", Attrs: "T: type",
		Shape: tf.UnchangedShape, Grad: passGrad, Kernels: tf.AnyType(forward),
	})
	tf.Register(tf.OpDef{
		Name: "DebugGradientRefIdentity", In: "input: Ref(T)", Out: "output: Ref(T)", Attrs: "T: type", Uninitialized: true,
		Shape: tf.UnchangedShape, Grad: passGrad, Kernels: tf.AnyType(refIdentity),
	})
	tf.Register(tf.OpDef{
		Name: "RefSelect", In: "index: int32; inputs: N * Ref(T)", Out: "output: Ref(T)", Attrs: "T: type; N: int >= 1", Uninitialized: true,
		Shape: refSelectShape, NoGrad: tf.NoGradientDefined, Kernels: tf.AnyType(refSelect),
	})
	tf.Register(tf.OpDef{
		Name: "TemporaryVariable", Out: "ref: Ref(dtype)", Attrs: "shape: shape; dtype: type; var_name: string = ''", Stateful: true,
		Shape: attrShape, NoGrad: tf.NoGradientDefined, Kernels: tf.AnyType(temporaryVariable),
	})
	tf.Register(tf.OpDef{
		Name: "DestroyTemporaryVariable", In: "ref: Ref(T)", Out: "value: T", Attrs: "T: type; var_name: string",
		Shape: tf.UnchangedShape, NoGrad: tf.NoGradientDefined, Kernels: tf.AnyType(destroyTemporary),
	})
}

// RefIdentity returns the reference variable ref itself.
func RefIdentity(ref tf.Output, opts ...tf.Option) tf.Output { return apply("RefIdentity", opts, ref) }

// DebugGradientIdentity returns x. Debuggers find gradients by it.
func DebugGradientIdentity(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("DebugGradientIdentity", opts, x)
}

// DebugGradientRefIdentity is DebugGradientIdentity for reference variables.
func DebugGradientRefIdentity(ref tf.Output, opts ...tf.Option) tf.Output {
	return apply("DebugGradientRefIdentity", opts, ref)
}

// RefSelect returns the reference variable of refs with number index.
func RefSelect(index tf.Output, refs []tf.Output, opts ...tf.Option) tf.Output {
	return apply("RefSelect", opts, append([]tf.Output{index}, refs...)...)
}

// TemporaryVariable adds a reference variable that each step has for itself.
// DestroyTemporaryVariable returns its last value.
func TemporaryVariable(g *tf.Graph, d tf.DType, shape tf.Shape, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "TemporaryVariable", nil, attrs(opts, tf.Attr("dtype", d), tf.Attr("shape", shape))...).Output(0)
}

// DestroyTemporaryVariable returns the value that a temporary variable has once
// all that use it have been run. name is the variable's.
func DestroyTemporaryVariable(ref tf.Output, name string, opts ...tf.Option) tf.Output {
	return apply("DestroyTemporaryVariable", attrs(opts, tf.Attr("var_name", name)), ref)
}

func refSelectShape(c *tf.Infer) error {
	if _, err := c.Rank(0, 0); err != nil {
		return err
	}
	s := c.In(1)
	for i := 2; i < c.NumIn(); i++ {
		s = common(s, c.In(i))
	}
	c.Set(0, s)
	return nil
}

func refIdentity(*tf.Node) (tf.Kernel, error) {
	return tf.Compute(func(c *tf.OpContext) error {
		if c.In[0].Ref == nil {
			return errNoReference
		}
		c.Out[0].Ref = c.In[0].Ref
		return nil
	}), nil
}

func refSelect(*tf.Node) (tf.Kernel, error) {
	return tf.Compute(func(c *tf.OpContext) error {
		if c.Input(0).Rank() != 0 {
			return tf.Errorf(tf.InvalidArgument, "Index must be a scalar, but it has shape %s", c.Input(0).Shape().Text())
		}
		i, err := scalarInt(c.Input(0), "Index")
		if err != nil {
			return err
		}
		if i < 0 || i >= len(c.In)-1 {
			return tf.Errorf(tf.InvalidArgument, "Index must be in the range [0, %d) but got %d", len(c.In)-1, i)
		}
		if c.In[1+i].Ref == nil {
			return errNoReference
		}
		c.Out[0].Ref = c.In[1+i].Ref
		return nil
	}), nil
}

// temporaryVariable makes a new variable in every run. Its first value is
// zeros: TensorFlow's is whatever lay in memory.
func temporaryVariable(n *tf.Node) (tf.Kernel, error) {
	d, s := n.Type("dtype"), n.ShapeAttr("shape")
	if err := tf.CheckSize(d, s); err != nil {
		return nil, err
	}
	return tf.Compute(func(c *tf.OpContext) error {
		ref := &tf.Ref{}
		ref.Store(tf.NewTensor(d, s))
		c.Out[0].Ref = ref
		return nil
	}), nil
}

func destroyTemporary(*tf.Node) (tf.Kernel, error) {
	return tf.Compute(func(c *tf.OpContext) error {
		if c.In[0].Ref == nil {
			return errNoReference
		}
		t := c.In[0].Ref.Load()
		if t == nil {
			return uninitialized(c, 0)
		}
		c.Set(0, t)
		return nil
	}), nil
}
