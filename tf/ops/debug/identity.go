package debug

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "DebugGradientIdentity", In: "input: T", Out: "output: T", Attrs: "T: type",
		Shape: core.UnchangedShape, Grad: tf.GradFunc(passGrad), Kernels: core.AnyType(passOnKernel),
	})
	core.Register(core.OpDef{
		Name: "DebugGradientRefIdentity", In: "input: Ref(T)", Out: "output: Ref(T)", Attrs: "T: type", Uninitialized: true,
		Shape: core.UnchangedShape, Grad: tf.GradFunc(passGrad), Kernels: core.AnyType(passOnKernel),
	})
}

// DebugGradientIdentity returns x. Debuggers find gradients by it. x may have
// any type and shape; none is refused.
func DebugGradientIdentity(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("DebugGradientIdentity", opts, x)
}

// DebugGradientRefIdentity is DebugGradientIdentity for reference variables.
// The variable may have any type and shape, and need not be initialized. A
// value that is no reference is refused with INVALID_ARGUMENT when the graph
// is built.
func DebugGradientRefIdentity(ref tf.Output, opts ...tf.Option) tf.Output {
	return apply("DebugGradientRefIdentity", opts, ref)
}
