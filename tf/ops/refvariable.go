package ops

import (
	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	for _, name := range []string{"VariableV2", "Variable"} {
		core.Register(core.OpDef{
			Name: name, Traits: core.Droppable | core.HoldsVariable | core.Parameter, Out: "ref: Ref(dtype)", Attrs: "shape: shape; dtype: type; container: string = ''; shared_name: string = ''",
			Stateful: true, Shape: refVariableShape(name), NoGrad: core.NotDifferentiable, Kernels: core.AnyType(refVariable),
		})
	}
	core.Register(core.OpDef{
		Name: "Assign", In: "ref: Ref(T); value: T", Out: "output_ref: Ref(T)",
		Attrs: "T: type; validate_shape: bool = true; use_locking: bool = true", Uninitialized: true,
		Shape: assignShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(assign),
	})
	for name, by := range map[string]map[tf.DType]update{"AssignAdd": additions, "AssignSub": subtractions} {
		kernels := byType{}
		for d, f := range by {
			kernels[d] = updateRef(f)
		}
		core.Register(core.OpDef{
			Name: name, In: "ref: Ref(T); value: T", Out: "output_ref: Ref(T)", Attrs: "T: numbertype; use_locking: bool = false",
			Shape: assignSumShape, NoGrad: core.NotDifferentiable, Kernels: core.ByType("T", kernels),
		})
	}
	core.Register(core.OpDef{
		Name: "IsVariableInitialized", Traits: core.TestsVariable, In: "ref: Ref(dtype)", Out: "is_initialized: bool", Attrs: "dtype: type", Uninitialized: true,
		Shape: core.ScalarShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(isVariableInitialized),
	})
}

// A refCell is the variable that VariableV2 nodes of one name share.
type refCell struct {
	core.Ref
	dtype tf.DType
}

var _ = resource.Declare[*refCell]("tensorflow::LegacyVar")

// VariableOpts are the optional attributes of VariableV2. Nodes of equal
// container and shared name, on one device, are one variable; without a shared
// name the node's name serves.
type VariableOpts struct{ Container, SharedName string }

// Apply sets the attributes.
func (o VariableOpts) Apply(s *tf.Spec) {
	s.Set("container", o.Container)
	s.Set("shared_name", o.SharedName)
}

// VariableV2 adds a variable of the reference kind, as graphs of TensorFlow 1
// have them. Programs are better off with tf.NewVariable. The result is a
// reference to a variable of type d, any, and the given shape, in which sizes
// may be unknown (-1); it has no value before Assign. A container with other
// characters than letters, digits, '.', '-' and '/', and a shared name that
// begins with '_', are refused in the step with INVALID_ARGUMENT, a shared name
// whose variable has another type with INTERNAL, as by TensorFlow. Its options
// are [VariableOpts].
func VariableV2(g *tf.Graph, d tf.DType, shape tf.Shape, opts ...tf.Option) tf.Output {
	opts = tf.Join(opts, tf.Attr("dtype", d), tf.Attr("shape", shape))
	return tf.Apply(g, "VariableV2", nil, opts...).Output(0)
}

// AssignOpts are the optional attributes of Assign: AnyShape lets the value have
// another shape than the variable. NoLocking is for graphs that are read by
// TensorFlow: here assignments always exclude each other.
type AssignOpts struct{ AnyShape, NoLocking bool }

// Apply sets the attributes.
func (o AssignOpts) Apply(s *tf.Spec) {
	s.Set("validate_shape", !o.AnyShape)
	s.Set("use_locking", !o.NoLocking)
}

// Assign makes value the value of the reference variable ref, which it
// returns. value has the type of ref. A value of another shape is refused
// with INVALID_ARGUMENT, when the graph is built if the shapes are known,
// else in the step, unless AssignOpts allows it; a ref that is no reference
// is refused in the step with INTERNAL. Its options are [AssignOpts].
func Assign(ref, value tf.Output, opts ...tf.Option) tf.Output {
	return apply("Assign", opts, ref, value)
}

// AssignAdd adds value to the reference variable ref, which it returns. Both
// hold numbers and have one type and shape. Another shape is refused with
// INVALID_ARGUMENT, when the graph is built if it is known, else in the step;
// a variable without a value ends the step with FAILED_PRECONDITION.
func AssignAdd(ref, value tf.Output, opts ...tf.Option) tf.Output {
	return apply("AssignAdd", opts, ref, value)
}

// AssignSub subtracts value from the reference variable ref, which it
// returns. Types, shapes and errors are those of AssignAdd.
func AssignSub(ref, value tf.Output, opts ...tf.Option) tf.Output {
	return apply("AssignSub", opts, ref, value)
}

// IsVariableInitialized reports whether a reference variable has a value. The
// result is a bool scalar; ref has any type. A ref that is no reference is
// refused in the step with INTERNAL.
func IsVariableInitialized(ref tf.Output, opts ...tf.Option) tf.Output {
	return apply("IsVariableInitialized", opts, ref)
}

// refVariableShape: in the first form of the op a scalar's shape may stand for
// one that is not known.
func refVariableShape(op string) func(*core.Infer) error {
	return func(c *core.Infer) error {
		if s := c.ShapeAttr("shape"); op != "Variable" || len(s) > 0 {
			c.Set(0, s)
		}
		return nil
	}
}

func refVariable(n *core.Node) (core.Kernel, error) {
	name, container := n.Str("shared_name"), n.Str("container")
	if name == "" {
		name = n.Name
	}
	d, s := n.Type("dtype"), n.ShapeAttr("shape")
	if n.OpName() == "Variable" && len(s) == 0 {
		s = nil // see refVariableShape
	}
	if err := handle.CheckNames(n); err != nil {
		return nil, err
	}
	return core.Compute(func(c *core.OpContext) error {
		v, err := resource.LookupOrCreate(c.Resources, container, name, func() (*refCell, error) {
			return &refCell{core.Ref{Shape: s, Home: c.Resources}, d}, nil
		})
		if err != nil {
			return err
		}
		if v.dtype != d {
			return tf.Errorf(tf.Internal, "Output 0 of type %s_ref does not match declared output type %s_ref for node {{node %s}}: variable %s has the other type", v.dtype.CName(), d.CName(), n.Name, name)
		}
		c.Out[0].Ref = &v.Ref
		return nil
	}), nil
}

func assignShape(c *core.Infer) error {
	if !c.Bool("validate_shape") {
		c.Set(0, c.In(1))
		return nil
	}
	s, ok := c.In(0).Merge(c.In(1))
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "a variable's value must have its shape: variable %v, value %v", c.In(0), c.In(1))
	}
	c.Set(0, s)
	return nil
}

func assignSumShape(c *core.Infer) error {
	s, ok := c.In(0).Merge(c.In(1))
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "a variable is updated by a value of its shape: variable %v, value %v", c.In(0), c.In(1))
	}
	c.Set(0, s)
	return nil
}

var errNoReference = tf.Errorf(tf.Internal, "the input must be a reference to a variable")

func assign(n *core.Node) (core.Kernel, error) {
	validate := n.Bool("validate_shape")
	return core.Compute(func(c *core.OpContext) error {
		ref, value := c.In[0].Ref, c.Input(1)
		if ref == nil {
			return errNoReference
		}
		c.Out[0].Ref = ref
		return ref.Swap(func(old *core.Tensor) (*core.Tensor, error) {
			want := ref.Shape
			if old != nil {
				want = old.Shape()
			}
			if validate && !want.Compatible(value.Shape()) {
				return nil, tf.Errorf(tf.InvalidArgument, "Assign requires shapes of both tensors to match. lhs shape= %s rhs shape= %s", want.String(), value.Shape().String())
			}
			if old != nil {
				old.Release()
			}
			return value.Share(), nil
		})
	}), nil
}

func updateRef(f update) core.NewKernel {
	return stateless(func(c *core.OpContext) error {
		ref, by := c.In[0].Ref, c.Input(1)
		if ref == nil {
			return errNoReference
		}
		c.Out[0].Ref = ref
		return ref.Change(c, func(next *core.Change) error {
			t := next.T
			switch {
			case t == nil:
				return uninitialized(c, 0)
			case t.DType() != by.DType() || !t.Shape().Equal(by.Shape()):
				return tf.Errorf(tf.InvalidArgument, "Parameters and update must be the same size")
			}
			f(c, next, by)
			return nil
		})
	})
}

func isVariableInitialized(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		if c.In[0].Ref == nil {
			return errNoReference
		}
		out, err := c.Alloc(0, tf.Bool, tf.Shape{})
		if err != nil {
			return err
		}
		t := c.In[0].Ref.Load()
		if core.Data[bool](out)[0] = t != nil; t != nil {
			t.Release()
		}
		return nil
	}), nil
}
