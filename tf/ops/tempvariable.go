package ops

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "TemporaryVariable", Out: "ref: Ref(dtype)", Attrs: "shape: shape; dtype: type; var_name: string = ''",
		Stateful: true, Shape: temporaryShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(temporaryVariable),
	})
	core.Register(core.OpDef{
		Name: "DestroyTemporaryVariable", In: "ref: Ref(T)", Out: "value: T", Attrs: "T: type; var_name: string",
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(destroyTemporary),
	})
	for _, o := range []struct {
		name, in string
		stateful bool
	}{{"CountUpTo", "ref: Ref(T)", false}, {"ResourceCountUpTo", "resource: resource", true}} {
		core.Register(core.OpDef{
			Name: o.name, In: o.in, Out: "output: T", Attrs: "limit: int; T: {int32, int64}",
			Stateful: o.stateful, Shape: core.ScalarShape, NoGrad: core.NoGradientDefined,
			Kernels: core.ByType("T", byType{tf.Int32: countUpTo[int32], tf.Int64: countUpTo[int64]}),
		})
	}
}

// A temporary is a variable that lives until it is destroyed, at most as long
// as the step.
type temporary struct{ core.Ref }

var _ = resource.Declare[*temporary]("tensorflow::TemporaryVariableOp::TmpVar")

// TemporaryVariable adds a variable of the reference kind that each step has
// for itself, until DestroyTemporaryVariable of the same name. It has type d
// and begins as zeros; in a loop each iteration has its own. An empty name
// stands for that of the node. A shape that is not fully known is refused with
// INVALID_ARGUMENT, and a name that is in use with ALREADY_EXISTS, in the
// step.
func TemporaryVariable(g *tf.Graph, d tf.DType, shape tf.Shape, name string, opts ...tf.Option) tf.Output {
	opts = tf.Join(opts, tf.Attr("dtype", d), tf.Attr("shape", shape), tf.Attr("var_name", name))
	return tf.Apply(g, "TemporaryVariable", nil, opts...).Output(0)
}

// DestroyTemporaryVariable returns the last value of the variable ref of the
// given name. The result has the shape and type of that value. The step fails
// with INVALID_ARGUMENT if the name is empty, with NOT_FOUND if no temporary
// variable has it, and with FAILED_PRECONDITION if ref has no value.
func DestroyTemporaryVariable(ref tf.Output, name string, opts ...tf.Option) tf.Output {
	return apply("DestroyTemporaryVariable", tf.Join(opts, tf.Attr("var_name", name)), ref)
}

// CountUpTo returns the value of the scalar variable ref, of the reference
// kind, and adds 1 to it. It fails with OUT_OF_RANGE at limit. The variable is
// int32 or int64, and other types are refused with INVALID_ARGUMENT when the
// graph is built. The step fails with INVALID_ARGUMENT if the value is not a
// scalar, and with FAILED_PRECONDITION if there is none.
func CountUpTo(ref tf.Output, limit int, opts ...tf.Option) tf.Output {
	return apply("CountUpTo", tf.Join(opts, tf.Attr("limit", limit)), ref)
}

// ResourceCountUpTo is CountUpTo for a handle of a variable of type d. d is
// int32 or int64, and other types are refused with INVALID_ARGUMENT when the
// graph is built. The step fails with INVALID_ARGUMENT if the value has
// another type or is not a scalar, with FAILED_PRECONDITION if there is none,
// and with OUT_OF_RANGE at limit.
func ResourceCountUpTo(handle tf.Output, limit int, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("ResourceCountUpTo", tf.Join(opts, tf.Attr("limit", limit), tf.Attr("T", d)), handle)
}

func temporaryShape(c *core.Infer) error {
	c.Set(0, c.ShapeAttr("shape"))
	return nil
}

// temporaryName tells the variables of the iterations of a loop apart.
func temporaryName(c *core.OpContext, name string) string {
	return fmt.Sprintf("%s/%d:%d", name, c.FrameID, c.Iteration)
}

func temporaryVariable(n *core.Node) (core.Kernel, error) {
	d, s, name := n.Type("dtype"), n.ShapeAttr("shape"), n.Str("var_name")
	if !s.Known() {
		return nil, tf.Errorf(tf.InvalidArgument, "a temporary variable must have a known shape, got %v", s)
	}
	if name == "" {
		name = n.Name
	}
	return core.Compute(func(c *core.OpContext) error {
		t, err := core.AllocTensor(d, s)
		if err != nil {
			return err
		}
		v := &temporary{}
		v.Store(t)
		if err := resource.Create(c.Resources, c.Container(), temporaryName(c, name), v); err != nil {
			return err
		}
		c.Out[0].Ref = &v.Ref
		return nil
	}), nil
}

func destroyTemporary(n *core.Node) (core.Kernel, error) {
	name := n.Str("var_name")
	if name == "" {
		return nil, tf.Errorf(tf.InvalidArgument, "Missing var_name attribute")
	}
	return core.Compute(func(c *core.OpContext) error {
		if c.In[0].Ref == nil {
			return errNoReference
		}
		value := c.In[0].Ref.Load()
		if value == nil {
			return uninitialized(c, 0)
		}
		c.Set(0, value)
		return resource.Delete[*temporary](c.Resources, c.Container(), temporaryName(c, name))
	}), nil
}

func countUpTo[T int32 | int64](n *core.Node) (core.Kernel, error) {
	limit := n.Int("limit")
	return core.Compute(func(c *core.OpContext) error {
		ref, err := VariableAt(c, 0)
		if err != nil {
			return err
		}
		return ref.Update(func(t *core.Tensor) error {
			switch {
			case t == nil:
				return uninitialized(c, 0)
			case t.DType() != tf.TypeOf[T]():
				return tf.Errorf(tf.InvalidArgument, "Trying to count in a variable of type %s as %s", t.DType().CName(), tf.TypeOf[T]().CName())
			case t.Rank() != 0:
				return tf.Errorf(tf.InvalidArgument, "input is not a scalar: %s", t.Shape().String())
			}
			counter := &core.Data[T](t)[0]
			if int64(*counter) >= int64(limit) {
				return tf.Errorf(tf.OutOfRange, "Reached limit of %d", limit)
			}
			out, err := c.Alloc(0, t.DType(), tf.Shape{})
			if err != nil {
				return err
			}
			core.Data[T](out)[0] = *counter
			*counter++
			return nil
		})
	}), nil
}
