// Package sessionstate has the ops that keep tensors in a session, for later steps
// of it to use without the client having them.
package sessionstate

import (
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	handle := func(name, typ string) {
		core.Register(core.OpDef{
			Name: name, In: "value: T", Out: "handle: " + typ, Attrs: "T: type", Stateful: true,
			Shape: core.ScalarShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(sessionHandleKernel),
		})
	}
	handle("GetSessionHandle", "string")
	handle("GetSessionHandleV2", "resource")
	core.Register(core.OpDef{
		Name: "GetSessionTensor", In: "handle: string", Out: "value: dtype", Attrs: "dtype: type", Stateful: true,
		Shape: scalarHandle, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(sessionTensorKernel),
	})
	core.Register(core.OpDef{
		Name: "DeleteSessionTensor", In: "handle: string", Stateful: true,
		Shape: scalarHandle, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(deleteSessionTensorKernel),
	})
}

// GetSessionHandle keeps x in the session, on the device of the node, and
// returns the string that it is found by. It is kept if the handle is fetched,
// until it is deleted or the session ends. x may have any type and shape; the
// result is a scalar string. Without a session it is refused with
// FAILED_PRECONDITION in the step.
func GetSessionHandle(x tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "GetSessionHandle", []tf.Output{x}, opts...).Output(0)
}

// GetSessionHandleV2 is [GetSessionHandle] with a resource handle, whose name
// is that string. The result is a resource handle, a scalar. Errors are those
// of GetSessionHandle.
func GetSessionHandleV2(x tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "GetSessionHandleV2", []tf.Output{x}, opts...).Output(0)
}

// GetSessionTensor returns the tensor of the given type that is kept under
// handle, a string scalar. The node must be on the task that has it. A handle
// that is no scalar is refused with INVALID_ARGUMENT, when the graph is built
// if its shape is known, else in the step. So are, in the step, a handle that
// nothing is kept under and another type.
func GetSessionTensor(handle tf.Output, d tf.DType, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "GetSessionTensor", []tf.Output{handle}, tf.Join(opts, tf.Attr("dtype", d))...).Output(0)
}

// DeleteSessionTensor gives up the tensor that is kept under handle. A handle
// that is no scalar is refused with INVALID_ARGUMENT, when the graph is built
// if its shape is known, else in the step.
func DeleteSessionTensor(handle tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "DeleteSessionTensor", []tf.Output{handle}, opts...)
}

func scalarHandle(c *core.Infer) error {
	_, err := c.Rank(0, 0)
	return err
}

// tensorHandle is the type of the handles of kept tensors, and their container.
const tensorHandle = "TensorHandle"

func sessionHandleKernel(n *core.Node) (core.Kernel, error) {
	resource := len(n.OutTypes) == 1 && n.OutTypes[0] == tf.Resource
	return core.Compute(func(c *core.OpContext) error {
		kept, err := sessionTensors(c)
		if err != nil {
			return err
		}
		device := c.Device.Spec().String()
		handle, err := kept.Add(c.ID, n.Name, device, c.Input(0))
		if err != nil {
			return err
		}
		if resource {
			c.Set(0, core.HandleTensor(core.ResourceHandle{Device: device, Container: tensorHandle, Name: handle, TypeName: tensorHandle}))
		} else {
			c.Set(0, core.Scalar(handle))
		}
		return nil
	}), nil
}

func sessionTensors(c *core.OpContext) (core.SessionTensors, error) {
	if c.Step == nil || c.SessionTensors == nil || c.Device == nil {
		return nil, tf.Errorf(tf.FailedPrecondition, "%s called on null session state", strings.TrimSuffix(c.Node.OpName(), "V2"))
	}
	return c.SessionTensors, nil
}

// keptUnder returns what the handle in input 0 is looked up in.
func keptUnder(c *core.OpContext, what string) (kept core.SessionTensors, handle string, err error) {
	t := c.Input(0)
	if t.Rank() != 0 {
		return nil, "", tf.Errorf(tf.InvalidArgument, "%s must be scalar", what)
	}
	kept, err = sessionTensors(c)
	return kept, core.Data[string](t)[0], err
}

func sessionTensorKernel(n *core.Node) (core.Kernel, error) {
	d := n.Type("dtype")
	return core.Compute(func(c *core.OpContext) error {
		kept, handle, err := keptUnder(c, "handle")
		if err != nil {
			return err
		}
		t, err := kept.Get(handle)
		if err != nil {
			return err
		}
		if t.DType() != d {
			defer t.Release()
			return tf.Errorf(tf.InvalidArgument, "the tensor with handle '%s' must be of type %s, it is %s", handle, d.CName(), t.DType().CName())
		}
		c.Set(0, t)
		return nil
	}), nil
}

func deleteSessionTensorKernel(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		kept, handle, err := keptUnder(c, "`handle`")
		if err != nil {
			return err
		}
		return kept.Delete(handle)
	}), nil
}
