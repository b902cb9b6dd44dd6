package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "AssignVariableOp", In: "resource: resource; value: dtype", Attrs: "dtype: type; validate_shape: bool = false",
		Stateful: true, Shape: assignVariableShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(assignVariable),
	})
	for name, by := range map[string]map[tf.DType]update{"AssignAddVariableOp": additions, "AssignSubVariableOp": subtractions} {
		kernels := byType{}
		for d, f := range by {
			kernels[d] = updateVariable(f)
		}
		core.Register(core.OpDef{
			Name: name, In: "resource: resource; value: dtype", Attrs: "dtype: type",
			Stateful: true, Shape: assignVariableShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("dtype", kernels),
		})
	}
}

// AssignVariableOpts are the optional attributes of AssignVariableOp:
// ValidateShape makes it an error if the value has another shape than the one
// that the variable has.
type AssignVariableOpts struct{ ValidateShape bool }

// Apply sets the attributes.
func (o AssignVariableOpts) Apply(s *tf.Spec) { s.Set("validate_shape", o.ValidateShape) }

// AssignVariableOp makes value the value of the variable behind handle. The
// handle is a scalar; the variable is created if it is not there yet. A value
// of another type than the variable's is refused with INVALID_ARGUMENT, and so
// is, when the graph is built, one whose known shape does not fit the shape
// that the variable was declared with. In the step a value of another shape
// replaces the old one, unless ValidateShape makes that an INVALID_ARGUMENT.
// Its options are [AssignVariableOpts].
func AssignVariableOp(handle, value tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "AssignVariableOp", []tf.Output{handle, value}, opts...)
}

// AssignAddVariableOp adds value to the variable behind handle. value has the
// type and the shape of the variable, of numbers; others are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. A variable that does not exist fails the step with NOT_FOUND, one
// without a value with FAILED_PRECONDITION.
func AssignAddVariableOp(handle, value tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "AssignAddVariableOp", []tf.Output{handle, value}, opts...)
}

// AssignSubVariableOp subtracts value from the variable behind handle. value
// has the type and the shape of the variable, of numbers; others are refused
// with INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. A variable that does not exist fails the step with NOT_FOUND, one
// without a value with FAILED_PRECONDITION.
func AssignSubVariableOp(handle, value tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "AssignSubVariableOp", []tf.Output{handle, value}, opts...)
}

func assignVariableShape(c *core.Infer) error {
	d, s := c.Handle(0)
	if have := c.Type("dtype"); d != tf.Invalid && d != have {
		return tf.Errorf(tf.InvalidArgument, "Trying to assign to a variable of type %s a value of type %s", d.CName(), have.CName())
	}
	if !s.Compatible(c.In(1)) {
		return tf.Errorf(tf.InvalidArgument, "a variable's value must have its shape: variable %v, value %v", s, c.In(1))
	}
	return nil
}

func assignVariable(n *core.Node) (core.Kernel, error) {
	d, validate := n.Type("dtype"), n.Bool("validate_shape")
	return core.Compute(func(c *core.OpContext) error {
		v, err := createdVariable(c, 0, d)
		if err != nil {
			return err
		}
		if v.dtype != d {
			return tf.Errorf(tf.InvalidArgument, "Trying to assign variable with wrong dtype. Expected %s got %s", v.dtype.CName(), d.CName())
		}
		value := c.Input(1)
		return v.Swap(func(old *core.Tensor) (*core.Tensor, error) {
			if validate && old != nil && !old.Shape().Equal(value.Shape()) {
				return nil, tf.Errorf(tf.InvalidArgument, "Trying to assign to variable with tensor with wrong shape. Expected %s got %s", old.Shape().String(), value.Shape().String())
			}
			if old != nil {
				old.Release()
			}
			return value.Share(), nil
		})
	}), nil
}

// updateVariable returns the kernel that changes a variable by f.
func updateVariable(f update) core.NewKernel {
	return stateless(func(c *core.OpContext) error {
		v, err := updatedVariable(c)
		if err != nil {
			return err
		}
		return v.Change(c, func(next *core.Change) error {
			t, by := next.T, c.Input(1)
			switch {
			case t == nil:
				return uninitialized(c, 0)
			case t.DType() != by.DType():
				return tf.Errorf(tf.InvalidArgument, "Trying to update a variable of type %s by a value of type %s", t.DType().CName(), by.DType().CName())
			case !t.Shape().Equal(by.Shape()):
				return tf.Errorf(tf.InvalidArgument, "Cannot update variable with shape %s using a Tensor with shape %s, shapes must be equal.", t.Shape().String(), by.Shape().String())
			}
			f(c, next, by)
			return nil
		})
	})
}
