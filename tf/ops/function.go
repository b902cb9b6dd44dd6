package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

// Ops that call functions of the graph's library. Before a graph is placed most
// are replaced by the bodies of what they call; the kernels here serve the rest:
// recursion, and functions that must not be inlined.

const callAttrs = "Tin: list(type) >= 0; Tout: list(type) >= 0; f: func; config: string = ''; config_proto: string = ''; executor_type: string = ''"

func init() {
	call := core.OpDef{In: "args: Tin", Out: "output: Tout", Attrs: callAttrs, Shape: callShape, Grad: tf.GradFunc(callGrad), Kernels: core.AnyType(callKernel)}
	call.Name, call.Role = "PartitionedCall", core.Calls
	core.Register(call)
	call.Name, call.Stateful = "StatefulPartitionedCall", true
	core.Register(call)
	core.Register(core.OpDef{
		Name: "RemoteCall", In: "target: string; args: Tin", Out: "output: Tout",
		Attrs: "Tin: list(type) >= 1; Tout: list(type) >= 1; f: func", Stateful: true,
		Shape: callShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(remoteCall),
	})
	core.Register(core.OpDef{
		Name: "SymbolicGradient", Role: core.Differentiates, In: "input: Tin", Out: "output: Tout",
		Attrs: "Tin: list(type) >= 1; Tout: list(type) >= 1; f: func",
		Shape: symbolicGradientShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(symbolicGradient),
	})
	core.Register(core.OpDef{
		Name: "FakeParam", Out: "output: dtype", Attrs: "dtype: type; shape: shape",
		Shape: attrShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(fakeParam),
	})
	core.Register(core.OpDef{
		Name: "DeviceIndex", Out: "index: int32", Attrs: "device_names: list(string)", Stateful: true,
		Shape: core.ScalarShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(deviceIndex),
	})
}

// callShape takes what the maker of the call noted of its results.
func callShape(c *core.Infer) error {
	shapes, ok := c.Attr("_output_shapes").([]tf.Shape)
	for i := range c.NumOut() {
		if ok && i < len(shapes) {
			c.Set(i, shapes[i])
		}
	}
	return nil
}

// symbolicGradientShape: the gradient of an argument has its shape.
func symbolicGradientShape(c *core.Infer) error {
	if c.NumIn() < c.NumOut() {
		return tf.Errorf(tf.InvalidArgument, "len(inputs) < len(outputs)")
	}
	for i := range c.NumOut() {
		c.Set(i, c.In(i))
	}
	return nil
}

func callKernel(n *core.Node) (core.Kernel, error) {
	f := n.FuncAttr("f")
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) { c.CallFunction(f, done) }), nil
}

// symbolicGradient calls the gradient of a function, which the library makes
// when it is first asked for.
func symbolicGradient(n *core.Node) (core.Kernel, error) {
	f := core.GradientOf(n.FuncAttr("f"))
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) { c.CallFunction(f, done) }), nil
}

// remoteCall runs a function on the device that its first input names.
func remoteCall(n *core.Node) (core.Kernel, error) {
	f := n.FuncAttr("f")
	return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
		target := c.Input(0)
		if target.Len() != 1 {
			done(tf.Errorf(tf.InvalidArgument, "target must be a scalar, got shape %s", target.Shape().String()))
			return
		}
		device, err := remoteTarget(c, core.Data[string](target)[0])
		if err != nil {
			done(err)
			return
		}
		if c.Step == nil || c.Functions == nil {
			done(tf.Errorf(tf.Internal, "No function library is provided."))
			return
		}
		c.Functions.CallOn(c.StepContext(), device, f, c.Tensors(1, len(c.In)), func(out []*core.Tensor, err error) {
			if err == nil {
				err = c.SetAll(out)
			}
			done(err)
		})
	}), nil
}

// remoteTarget completes the name of a device by what the caller's device has.
func remoteTarget(c *core.OpContext, name string) (string, error) {
	d, err := tf.ParseDevice(name)
	if err != nil {
		return "", err
	}
	return c.Device.Spec().Override(d).String(), nil
}

// fakeParam makes a value that is not read: branches of a conditional have to
// return equally many.
func fakeParam(n *core.Node) (core.Kernel, error) {
	d, s := n.Type("dtype"), n.ShapeAttr("shape")
	if s == nil || !s.Known() {
		s = tf.Shape{0}
	}
	return core.Compute(func(c *core.OpContext) error {
		t, err := c.Alloc(0, d, s)
		if err == nil && t.Buffer() != nil {
			clear(t.Buffer().Bytes())
		}
		return err
	}), nil
}

// deviceIndex tells which of a list of device types it runs on; the list's
// length if none.
func deviceIndex(n *core.Node) (core.Kernel, error) {
	names := n.Strs("device_names")
	return core.Compute(func(c *core.OpContext) error {
		i, typ := 0, c.Device.Spec().Type
		for i < len(names) && names[i] != typ {
			i++
		}
		t, err := c.Alloc(0, tf.Int32, tf.Shape{})
		if err != nil {
			return err
		}
		return fillInts(t, []int{i})
	}), nil
}

// callGrad calls the gradient of the function.
func callGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	if grads := author.CallGradients(op, dy); grads != nil {
		return grads
	}
	dx := author.CallGradient("SymbolicGradient", op.Inputs(), 0, op, dy, tf.Attr("f", op.FuncAttr("f")))
	return author.SplitGradients(op.Inputs(), dx)
}

// PartitionedCall calls f, which was traced, with args. It returns f's
// results. It is an error if args do not have the types and shapes that f
// takes. The code is INVALID_ARGUMENT, when the graph is built; the result is
// then one Output that carries the error. Gradients flow through the call.
func PartitionedCall(f *tf.Function, args []tf.Output, opts ...tf.Option) []tf.Output {
	return f.CallBy("PartitionedCall", args, opts...)
}

// StatefulPartitionedCall is PartitionedCall for a function that has effects:
// it runs even if its results are not read, once in each step. Arguments,
// results and errors are those of PartitionedCall.
func StatefulPartitionedCall(f *tf.Function, args []tf.Output, opts ...tf.Option) []tf.Output {
	return f.CallBy("StatefulPartitionedCall", args, opts...)
}

// RemoteCall calls f on the device that target, a scalar of type string,
// names. What the name leaves out is taken from the operation's own device. f
// takes and returns at least one value. args that f does not take are refused
// with INVALID_ARGUMENT when the graph is built, a target of more or fewer
// elements than one with the same code in the step. No gradient is defined.
func RemoteCall(target tf.Output, f *tf.Function, args []tf.Output, opts ...tf.Option) []tf.Output {
	return f.CallOn(target, args, opts...)
}
