package ops

import (
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "VarHandleOp", Traits: core.Droppable | core.HoldsVariable | core.Parameter, Out: "resource: resource",
		Attrs:    "container: string = ''; shared_name: string = ''; debug_name: string = ''; dtype: type; shape: shape; allowed_devices: list(string) = []",
		Stateful: true, Shape: varHandleShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(varHandle),
	})
	core.Register(core.OpDef{
		Name: "ReadVariableOp", Traits: core.ReadsState | core.ReadsVariable, In: "resource: resource", Out: "value: dtype", Attrs: "dtype: type",
		Stateful: true, Shape: readVariableShape, Grad: tf.GradFunc(passGrad), SparseGrad: tf.SparseGradFunc(passSparse), Kernels: core.AnyType(readVariable),
	})
	core.Register(core.OpDef{
		Name: "VarIsInitializedOp", Traits: core.ReadsState | core.TestsVariable, In: "resource: resource", Out: "is_initialized: bool",
		Stateful: true, Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(varIsInitialized),
	})
	core.Register(core.OpDef{
		Name: "VariableShape", Traits: core.ReadsState, In: "input: resource", Out: "output: out_type", Attrs: "out_type: {int32, int64} = int32",
		Stateful: true, Shape: variableShapeShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(variableShape),
	})
	core.Register(core.OpDef{
		Name: "DestroyResourceOp", In: "resource: resource", Attrs: "ignore_lookup_error: bool = true",
		Stateful: true, Shape: noOutputs, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(destroyResource),
	})
}

// A variable is what a handle made by VarHandleOp points to once a value has
// been assigned.
type variable struct {
	core.Ref
	dtype tf.DType
}

var variableType = resource.Declare[*variable]("tensorflow::Var")

// VarHandleOpts are the optional attributes of VarHandleOp. Handles of equal
// container and shared name, on one device, name one variable; without a
// shared name the node's name serves. DebugName and AllowedDevices are for
// graphs that are read by TensorFlow, and change nothing here.
type VarHandleOpts struct {
	Container, SharedName, DebugName string
	AllowedDevices                   []string
}

// Apply sets the attributes.
func (o VarHandleOpts) Apply(s *tf.Spec) {
	s.Set("container", o.Container)
	s.Set("shared_name", o.SharedName)
	s.Set("debug_name", o.DebugName)
	s.Set("allowed_devices", append([]string{}, o.AllowedDevices...))
}

// VarHandleOp adds the handle of a variable of type d. shape is nil if values
// of all shapes may be assigned. The handle is a resource scalar. It makes no
// variable yet: the first assignment does, and until then reading fails with
// FAILED_PRECONDITION. Its options are [VarHandleOpts].
func VarHandleOp(g *tf.Graph, d tf.DType, shape tf.Shape, opts ...tf.Option) tf.Output {
	opts = tf.Join(opts, tf.Attr("dtype", d), tf.Attr("shape", shape))
	return tf.Apply(g, "VarHandleOp", nil, opts...).Output(0)
}

// ReadVariableOp returns the value, of type d, that a variable has when the
// operation runs. It has the shape of that value. A d that is not the type of
// the variable is refused with INVALID_ARGUMENT, when the graph is built if
// the handle's type is known, else in the step. The step fails with
// FAILED_PRECONDITION while nothing has been assigned, and with
// INVALID_ARGUMENT if the handle is not a scalar, not of a variable, or of
// another device.
func ReadVariableOp(handle tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return apply("ReadVariableOp", tf.Join(opts, tf.Attr("dtype", d)), handle)
}

// VarIsInitializedOp reports whether a variable has a value. The result is a
// bool scalar. A handle that points to no variable is no error: the result is
// false.
func VarIsInitializedOp(handle tf.Output, opts ...tf.Option) tf.Output {
	return apply("VarIsInitializedOp", opts, handle)
}

// VariableShape returns the shape of a variable's value. The result is a
// vector of int32, or int64 if the option [ShapeOpts] says so. The step fails
// with FAILED_PRECONDITION while nothing has been assigned, and with
// INVALID_ARGUMENT for a size that the type cannot hold.
func VariableShape(handle tf.Output, opts ...tf.Option) tf.Output {
	return apply("VariableShape", opts, handle)
}

// DestroyResourceOpts are the optional attributes of DestroyResourceOp: it is
// an error if there is no such resource when MustExist is set.
type DestroyResourceOpts struct{ MustExist bool }

// Apply sets the attributes.
func (o DestroyResourceOpts) Apply(s *tf.Spec) { s.Set("ignore_lookup_error", !o.MustExist) }

// DestroyResourceOp deletes the resource that a handle points to. A handle
// that is not a scalar or of another device is refused with INVALID_ARGUMENT
// in the step. A resource that is not there is no error unless the option
// MustExist is set: then the step fails with NOT_FOUND.
// Its options are [DestroyResourceOpts].
func DestroyResourceOp(handle tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "DestroyResourceOp", []tf.Output{handle}, opts...)
}

func varHandleShape(c *core.Infer) error {
	c.Set(0, tf.Shape{})
	c.SetHandle(0, c.Type("dtype"), c.ShapeAttr("shape"))
	return nil
}

func readVariableShape(c *core.Infer) error {
	d, s := c.Handle(0)
	if want := c.Type("dtype"); d != tf.Invalid && d != want {
		return tf.Errorf(tf.InvalidArgument, "Trying to read variable with wrong dtype. Expected %s got %s", d.CName(), want.CName())
	}
	c.Set(0, s)
	return nil
}

func variableShapeShape(c *core.Infer) error {
	_, s := c.Handle(0)
	n := -1
	if s != nil {
		n = len(s)
	}
	c.Set(0, tf.Shape{n})
	return nil
}

// varHandle names the variable as TensorFlow does, but for nodes without a
// shared name: there all would be one variable.
func varHandle(n *core.Node) (core.Kernel, error) {
	name := n.Str("shared_name")
	if name == anonymousName {
		return anonymousVariable(n), nil
	}
	if name == "" {
		name = n.Name
	}
	h := core.ResourceHandle{
		Container: n.Str("container"), Name: name, HashCode: variableType.Hash, TypeName: variableType.Name,
		DType: n.Type("dtype"), Shape: n.ShapeAttr("shape"),
	}
	var made atomic.Pointer[core.Tensor] // a step takes what the one before it made
	return core.Compute(func(c *core.OpContext) error {
		t := made.Load()
		if here := deviceName(c); t == nil || t.Handles()[0].Device != here {
			h := h
			h.Device = here
			if c.Step != nil && c.Resources != nil {
				h.Container = c.Resources.Container(h.Container)
			}
			t = core.HandleTensor(h)
			made.Store(t)
		}
		c.ShareShape(0, t, t.Shape())
		return nil
	}), nil
}

// deviceName returns the full name of the device that the kernel runs on.
func deviceName(c *core.OpContext) string {
	if c.Step == nil || c.Device == nil {
		return ""
	}
	if d, ok := c.Device.(interface{ Name() string }); ok {
		return d.Name() // ready-made: this is asked for with every handle
	}
	return c.Device.Spec().String()
}

// handleAt returns the handle that input i holds.
func handleAt(c *core.OpContext, i int) (core.ResourceHandle, error) {
	hs := c.Input(i).Handles()
	if len(hs) != 1 {
		return core.ResourceHandle{}, tf.Errorf(tf.InvalidArgument, "a resource handle must be a scalar, got shape %s", c.Input(i).Shape().String())
	}
	h := hs[0]
	if here := deviceName(c); h.Device != here {
		return h, tf.Errorf(tf.InvalidArgument, "Trying to access resource %s located in device %s from device %s", h.Name, h.Device, here)
	}
	return h, nil
}

// lookupVariable returns the variable that the handle in input i points to. A
// missing one is a FailedPrecondition: nothing was assigned yet.
func lookupVariable(c *core.OpContext, i int) (*variable, error) {
	h, err := variableHandle(c, i)
	if err != nil {
		return nil, err
	}
	v, err := resource.Lookup[*variable](c.Resources, h.Container, h.Name)
	if err != nil {
		return nil, missingVariable(h, err)
	}
	return v, nil
}

// updatedVariable is lookupVariable for ops that add to a variable: for them a
// missing one is NotFound.
func updatedVariable(c *core.OpContext) (*variable, error) {
	h, err := variableHandle(c, 0)
	if err != nil {
		return nil, err
	}
	return resource.Lookup[*variable](c.Resources, h.Container, h.Name)
}

// variableHandle returns the handle in input i, which must be that of a variable.
func variableHandle(c *core.OpContext, i int) (core.ResourceHandle, error) {
	h, err := handleAt(c, i)
	if err != nil {
		return h, err
	}
	return h, resource.Check[*variable](h.Name, h.HashCode, h.TypeName)
}

func missingVariable(h core.ResourceHandle, err error) error {
	return tf.Errorf(tf.FailedPrecondition, "Could not find variable %s. This could mean that the variable has been deleted. "+
		"In TF1, it can also mean the variable is uninitialized. Debug info: container=%s, status error message=%v", h.Name, h.Container, err)
}

// createdVariable returns the variable of the handle in input i, new if
// nothing has been assigned yet.
func createdVariable(c *core.OpContext, i int, d tf.DType) (*variable, error) {
	h, err := handleAt(c, i)
	if err != nil {
		return nil, err
	}
	if err := resource.Check[*variable](h.Name, h.HashCode, h.TypeName); err != nil {
		return nil, err
	}
	return resource.LookupOrCreate(c.Resources, h.Container, h.Name, func() (*variable, error) {
		return &variable{Ref: core.Ref{Home: c.Resources}, dtype: d}, nil
	})
}

func readVariable(n *core.Node) (core.Kernel, error) {
	want := n.Type("dtype")
	return core.Compute(func(c *core.OpContext) error {
		v, err := lookupVariable(c, 0)
		if err != nil {
			return err
		}
		switch d := v.LoadAs(c, 0, want); d {
		case want:
			return nil
		case tf.Invalid:
			return uninitialized(c, 0)
		default:
			return tf.Errorf(tf.InvalidArgument, "Trying to read variable with wrong dtype. Expected %s got %s", want.CName(), d.CName())
		}
	}), nil
}

// uninitialized says that the variable of input i has no value.
func uninitialized(c *core.OpContext, i int) error {
	if c.In[i].Ref != nil {
		return tf.Errorf(tf.FailedPrecondition, "Attempting to use uninitialized value")
	}
	h, _ := handleAt(c, i)
	return missingVariable(h, tf.Errorf(tf.NotFound, "Resource %s/%s has no value", h.Container, h.Name))
}

func varIsInitialized(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		out, err := c.Alloc(0, tf.Bool, tf.Shape{})
		if err != nil {
			return err
		}
		set := false
		if v, err := lookupVariable(c, 0); err == nil {
			if t := v.Load(); t != nil {
				set = true
				t.Release()
			}
		}
		core.Data[bool](out)[0] = set
		return nil
	}), nil
}

func variableShape(n *core.Node) (core.Kernel, error) {
	d := n.Type("out_type")
	return core.Compute(func(c *core.OpContext) error {
		v, err := lookupVariable(c, 0)
		if err != nil {
			return err
		}
		t := v.Load()
		if t == nil {
			return uninitialized(c, 0)
		}
		defer t.Release()
		return allocInts(c, 0, d, t.Shape())
	}), nil
}

func destroyResource(n *core.Node) (core.Kernel, error) {
	ignore := n.Bool("ignore_lookup_error")
	return core.Compute(func(c *core.OpContext) error {
		h, err := handleAt(c, 0)
		if err != nil {
			return err
		}
		if err := c.Resources.Delete(h.Container, h.Name, h.HashCode); err != nil && !ignore {
			return err
		}
		return nil
	}), nil
}
