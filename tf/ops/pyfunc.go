package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Functions of Python are computed by the process whose interpreter has them. Here
// they can be placed but not run: clients of TensorFlow register functions with
// nodes of these ops, which are on a device of the client's own task.
func init() {
	const types = "; Tin: list(type) >= 0; Tout: list(type) >= 0"
	for _, d := range []core.OpDef{
		{Name: "PyFunc", Attrs: "token: string" + types, Stateful: true, NoGrad: core.NotDifferentiable},
		{Name: "PyFuncStateless", Attrs: "token: string" + types, NoGrad: core.NotDifferentiable},
		{Name: "EagerPyFunc", Attrs: "token: string; is_async: bool = false" + types, Stateful: true, NoGrad: core.NoGradientDefined},
	} {
		d.Traits, d.Kernels = core.ClientSide, core.AnyType(notHere)
		d.In, d.Out, d.Shape = "input: Tin", "output: Tout", func(*core.Infer) error { return nil }
		core.Register(d)
	}
}

// notHere is the kernel of an op that only other processes compute.
func notHere(n *core.Node) (core.Kernel, error) {
	return nil, tf.Errorf(tf.NotFound, "No OpKernel was registered to support Op '%s' used by {{node %s}}: the client's process computes it", n.OpName(), n.Name)
}
