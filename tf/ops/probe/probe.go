// Package probe has the ops by which TensorFlow's own tests look at a runtime,
// and which its builds have kernels for: they wait, tell where they run and
// which kernel was chosen, or stand for a resource that is nothing.
package probe

import (
	"time"

	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	register("KernelLabel", "", "result: string", "", false, label)
	register("KernelLabelRequired", "input: int32", "result: string", "", false, labelRequired)
	register("GraphDefVersion", "", "version: int32", "", true, compute(graphVersion))
	register("GetDeadline", "", "deadline_from_epoch_micros: int64", "", false, compute(deadline))
	register("TestAttr", "", "out: T", "T: {float, double}", true, compute(func(c *core.OpContext) error { c.Set(0, core.Scalar(float32(1))); return nil }))
	register("IsResourceHandleRefCounting", "handle: resource", "result: bool", "", true, compute(isOnlyName))
	register("MakeWeakResourceHandle", "handle: resource", "dup: resource", "", true, compute(weakened))
	register("FakeQueue", "resource: resource", "handle: Ref(string)", "", true, compute(oldHandle))
	register("ConstructionFails", "", "", "", false, func(*core.Node) (core.Kernel, error) {
		return nil, tf.Errorf(tf.InvalidArgument, "Failure during construction.")
	})
	register("CheckPinned", "tensor: T", "output: T", "T: type", false, compute(func(*core.OpContext) error {
		return tf.Errorf(tf.FailedPrecondition, "to check pinnedness, must be built with `--config=cuda`")
	}))
	register("Old", "", "", "", false, compute(func(*core.OpContext) error { return nil }))
	register("DevicePlacementOp", "", "device: string", "", true, compute(placement))
	register("DtypeWithDefaultOp", "in: T", "dtype: string", "T: type = uint8", true, compute(typeName))
	register("IsTensorFloat32Enabled", "", "enabled: bool", "", true, compute(func(c *core.OpContext) error { c.Set(0, core.Scalar(true)); return nil }))
	register("SleepOp", "sleep_seconds: int32", "", "", true, async(func(*core.OpContext) {}))
	register("SleepIdentityOp", "sleep_seconds: int32; input: T", "output: T", "T: type", true, async(func(c *core.OpContext) { c.Forward(1, 0) }))
	register("StubResourceHandleOp", "", "resource: resource", "container: string = ''; shared_name: string = ''", true,
		func(n *core.Node) (core.Kernel, error) { return handle.Name[*stub](n), nil })
	register("ResourceCreateOp", "resource: resource", "", "", true, compute(create))
	register("ResourceInitializedOp", "resource: resource", "initialized: bool", "", true, compute(initialized))
	register("ResourceUsingOp", "resource: resource", "", "", true, compute(func(c *core.OpContext) error {
		_, err := handle.Find[*stub](c, 0)
		return err
	}))
}

func register(name, in, out, attrs string, stateful bool, k core.NewKernel) {
	d := core.OpDef{
		Name: name, In: in, Out: out, Attrs: attrs, Stateful: stateful,
		Shape: core.ScalarShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(k),
	}
	switch name {
	case "SleepIdentityOp":
		d.Shape = func(c *core.Infer) error { c.Set(0, c.In(1)); return nil }
	case "CheckPinned":
		d.Shape = core.UnchangedShape
	case "FakeQueue", "GetDeadline", "TestAttr":
		d.Shape = func(*core.Infer) error { return nil }
	case "KernelLabelRequired":
		d.Shape = vectorToScalar
	}
	if name == "TestAttr" {
		d.Kernels.Types = map[string][]tf.DType{"T": {tf.Float32}}
	}
	core.Register(d)
}

func compute(f core.Compute) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) { return f, nil }
}

// labels are the kernels of KernelLabel besides the one without a label.
var labels = map[string]string{"": "default", "overload_1": "overload_1", "overload_2": "overload_2"}

func label(n *core.Node) (core.Kernel, error) {
	name, ok := labels[n.Str("_kernel")]
	if !ok {
		return nil, tf.Errorf(tf.NotFound, "No registered '%s' OpKernel for CPU devices compatible with node {{node %s}}: its label is %q", n.OpName(), n.Name, n.Str("_kernel"))
	}
	return core.Compute(func(c *core.OpContext) error { c.Set(0, core.Scalar("My label is: "+name)); return nil }), nil
}

// labelRequired is label for an op without a kernel that has no label.
func labelRequired(n *core.Node) (core.Kernel, error) {
	if n.Str("_kernel") == "" {
		return nil, tf.Errorf(tf.NotFound, "No registered 'KernelLabelRequired' OpKernel for CPU devices compatible with node {{node %s}}: it has no label", n.Name)
	}
	return label(n)
}

func vectorToScalar(c *core.Infer) error {
	_, err := c.Rank(0, 1)
	c.Set(0, tf.Shape{})
	return err
}

// graphVersion tells the format of the GraphDef.
func graphVersion(c *core.OpContext) error {
	version := core.ProducerVersion
	if c.Step != nil && c.GraphVersion != 0 {
		version = c.GraphVersion
	}
	c.Set(0, core.Scalar(int32(version)))
	return nil
}

// deadline tells when the step has to be over.
func deadline(c *core.OpContext) error {
	t, ok := c.StepContext().Deadline()
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "Deadline has not ben set.")
	}
	c.Set(0, core.Scalar(t.UnixMicro()))
	return nil
}

func placement(c *core.OpContext) error {
	name := ""
	if c.Step != nil && c.Device != nil {
		name = c.Device.Spec().String()
	}
	c.Set(0, core.Scalar(name))
	return nil
}

func typeName(c *core.OpContext) error {
	c.Set(0, core.Scalar(c.Input(0).DType().CName()))
	return nil
}

// async waits for so many seconds as input 0 says, or until the step is over.
func async(then func(*core.OpContext)) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) {
		return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
			t := c.Input(0)
			if t.Rank() != 0 {
				done(tf.Errorf(tf.InvalidArgument, "Expected argument 0 to be a scalar. Received%s", t.Shape().String()))
				return
			}
			go sleep(c, time.Duration(core.Data[int32](t)[0])*time.Second, then, done)
		}), nil
	}
}

func sleep(c *core.OpContext, d time.Duration, then func(*core.OpContext), done func(error)) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		then(c)
		done(nil)
	case <-c.StepContext().Done():
		done(tf.Errorf(tf.Canceled, "the step is over"))
	}
}

// A stub is a resource that is nothing.
type stub struct{}

var _ = resource.Declare[*stub]("tensorflow::StubResource")

func create(c *core.OpContext) error {
	h, err := stubHandle(c)
	if err != nil {
		return err
	}
	return resource.Create(c.Resources, h.Container, h.Name, &stub{})
}

func initialized(c *core.OpContext) error {
	h, err := stubHandle(c)
	if err != nil {
		return err
	}
	_, err = resource.Lookup[*stub](c.Resources, h.Container, h.Name)
	c.Set(0, core.Scalar(err == nil))
	return nil
}

// isOnlyName tells whether a resource lives for as long as its handles.
func isOnlyName(c *core.OpContext) error {
	h, err := anyHandle(c)
	c.Set(0, core.Scalar(h.Object != nil))
	return err
}

// weakened hands out a handle that does not keep its resource.
func weakened(c *core.OpContext) error {
	h, err := anyHandle(c)
	h.Object = nil
	c.Set(0, core.HandleTensor(h))
	return err
}

// oldHandle makes a handle one of the first generation: a reference to the
// strings that name the resource.
func oldHandle(c *core.OpContext) error {
	h, err := anyHandle(c)
	if err != nil {
		return err
	}
	t := core.NewTensor(tf.String, tf.Shape{2})
	copy(core.Data[string](t), []string{h.Container, h.Name})
	c.Out[0].Ref = &core.Ref{}
	c.Out[0].Ref.Store(t)
	return nil
}

// anyHandle returns the first handle in input 0.
func anyHandle(c *core.OpContext) (h core.ResourceHandle, err error) {
	all := c.Input(0).Handles()
	if len(all) == 0 {
		return h, tf.Errorf(tf.InvalidArgument, "there must be a handle, got %s", c.Input(0).Shape().String())
	}
	return all[0], nil
}

// stubHandle returns the handle in input 0.
func stubHandle(c *core.OpContext) (h core.ResourceHandle, err error) {
	if c.Step == nil || c.Resources == nil {
		return h, tf.Errorf(tf.Internal, "a handle can be followed only where resources are")
	}
	t := c.Input(0)
	if t.Len() != 1 {
		return h, tf.Errorf(tf.InvalidArgument, "there must be one handle, got %s", t.Shape().String())
	}
	h = t.Handles()[0]
	return h, resource.Check[*stub](h.Name, h.HashCode, h.TypeName)
}
