// Package probe has the ops by which TensorFlow's own tests look at a runtime,
// and which its builds have kernels for: they wait, tell where they run and
// which kernel was chosen, or stand for a resource that is nothing.
package probe

import (
	"time"

	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
)

func init() {
	register("KernelLabel", "", "result: string", "", false, label)
	register("Old", "", "", "", false, compute(func(*tf.OpContext) error { return nil }))
	register("DevicePlacementOp", "", "device: string", "", true, compute(placement))
	register("DtypeWithDefaultOp", "in: T", "dtype: string", "T: type = uint8", true, compute(typeName))
	register("IsTensorFloat32Enabled", "", "enabled: bool", "", true, compute(func(c *tf.OpContext) error { c.Set(0, tf.Scalar(true)); return nil }))
	register("SleepOp", "sleep_seconds: int32", "", "", true, async(func(*tf.OpContext) {}))
	register("SleepIdentityOp", "sleep_seconds: int32; input: T", "output: T", "T: type", true, async(func(c *tf.OpContext) { c.Forward(1, 0) }))
	register("StubResourceHandleOp", "", "resource: resource", "container: string = ''; shared_name: string = ''", true,
		func(n *tf.Node) (tf.Kernel, error) { return handle.Name[*stub](n), nil })
	register("ResourceCreateOp", "resource: resource", "", "", true, compute(create))
	register("ResourceInitializedOp", "resource: resource", "initialized: bool", "", true, compute(initialized))
	register("ResourceUsingOp", "resource: resource", "", "", true, compute(func(c *tf.OpContext) error {
		_, err := handle.Find[*stub](c, 0)
		return err
	}))
}

func register(name, in, out, attrs string, stateful bool, k tf.NewKernel) {
	d := tf.OpDef{
		Name: name, In: in, Out: out, Attrs: attrs, Stateful: stateful,
		Shape: tf.ScalarShape, NoGrad: tf.NoGradientDefined, Kernels: tf.AnyType(k),
	}
	if name == "SleepIdentityOp" {
		d.Shape = func(c *tf.Infer) error { c.Set(0, c.In(1)); return nil }
	}
	tf.Register(d)
}

func compute(f tf.Compute) tf.NewKernel {
	return func(*tf.Node) (tf.Kernel, error) { return f, nil }
}

// labels are the kernels of KernelLabel besides the one without a label.
var labels = map[string]string{"": "default", "overload_1": "overload_1", "overload_2": "overload_2"}

func label(n *tf.Node) (tf.Kernel, error) {
	name, ok := labels[n.Str("_kernel")]
	if !ok {
		return nil, tf.Errorf(tf.NotFound, "No registered 'KernelLabel' OpKernel for CPU devices compatible with node {{node %s}}: its label is %q", n.Name, n.Str("_kernel"))
	}
	return tf.Compute(func(c *tf.OpContext) error { c.Set(0, tf.Scalar("My label is: "+name)); return nil }), nil
}

func placement(c *tf.OpContext) error {
	name := ""
	if c.Step != nil && c.Device != nil {
		name = c.Device.Spec().String()
	}
	c.Set(0, tf.Scalar(name))
	return nil
}

func typeName(c *tf.OpContext) error {
	c.Set(0, tf.Scalar(c.Input(0).DType().CName()))
	return nil
}

// async waits for so many seconds as input 0 says, or until the step is over.
func async(then func(*tf.OpContext)) tf.NewKernel {
	return func(*tf.Node) (tf.Kernel, error) {
		return tf.AsyncCompute(func(c *tf.OpContext, done func(error)) {
			t := c.Input(0)
			if t.Rank() != 0 {
				done(tf.Errorf(tf.InvalidArgument, "Expected argument 0 to be a scalar. Received%s", t.Shape().Text()))
				return
			}
			go sleep(c, time.Duration(tf.Data[int32](t)[0])*time.Second, then, done)
		}), nil
	}
}

func sleep(c *tf.OpContext, d time.Duration, then func(*tf.OpContext), done func(error)) {
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

func create(c *tf.OpContext) error {
	h, err := stubHandle(c)
	if err != nil {
		return err
	}
	return resource.Create(c.Resources, h.Container, h.Name, &stub{})
}

func initialized(c *tf.OpContext) error {
	h, err := stubHandle(c)
	if err != nil {
		return err
	}
	_, err = resource.Lookup[*stub](c.Resources, h.Container, h.Name)
	c.Set(0, tf.Scalar(err == nil))
	return nil
}

// stubHandle returns the handle in input 0.
func stubHandle(c *tf.OpContext) (h tf.ResourceHandle, err error) {
	if c.Step == nil || c.Resources == nil {
		return h, tf.Errorf(tf.Internal, "a handle can be followed only where resources are")
	}
	t := c.Input(0)
	if t.Len() != 1 {
		return h, tf.Errorf(tf.InvalidArgument, "there must be one handle, got %s", t.Shape().Text())
	}
	h = t.Handles()[0]
	return h, resource.Check[*stub](h.Name, h.HashCode, h.TypeName)
}
