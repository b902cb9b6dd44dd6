package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "DebugGradientIdentity", In: "input: T", Out: "output: T", Attrs: "T: type",
		Shape: core.UnchangedShape, Grad: tf.GradFunc(passGrad), Kernels: core.AnyType(forward),
	})
	core.Register(core.OpDef{
		Name: "DebugGradientRefIdentity", In: "input: Ref(T)", Out: "output: Ref(T)", Attrs: "T: type", Uninitialized: true,
		Shape: core.UnchangedShape, Grad: tf.GradFunc(passGrad), Kernels: core.AnyType(stateless(passOn)),
	})
}

// DebugGradientIdentity returns x. Debuggers find gradients by it.
func DebugGradientIdentity(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("DebugGradientIdentity", opts, x)
}

// DebugGradientRefIdentity is DebugGradientIdentity for reference variables.
func DebugGradientRefIdentity(ref tf.Output, opts ...tf.Option) tf.Output {
	return apply("DebugGradientRefIdentity", opts, ref)
}
