package ops

import "github.com/gorge-tf/gorge/tf"

func init() {
	tf.Register(tf.OpDef{
		Name: "DebugGradientIdentity", In: "input: T", Out: "output: T", Attrs: "T: type",
		Shape: tf.UnchangedShape, Grad: passGrad, Kernels: tf.AnyType(forward),
	})
	tf.Register(tf.OpDef{
		Name: "DebugGradientRefIdentity", In: "input: Ref(T)", Out: "output: Ref(T)", Attrs: "T: type", Uninitialized: true,
		Shape: tf.UnchangedShape, Grad: passGrad, Kernels: tf.AnyType(stateless(passOn)),
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
