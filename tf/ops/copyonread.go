package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "DisableCopyOnRead", In: "resource: resource", Stateful: true,
		Shape: func(*core.Infer) error { return nil }, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(disableCopyOnRead),
	})
}

// DisableCopyOnRead tells the variable behind handle that its values are to
// be shared with their readers, as they always are here. TensorFlow's savers
// ask for it. The operation has no outputs and changes nothing; the step
// refuses a variable that does not exist with FAILED_PRECONDITION.
func DisableCopyOnRead(handle tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "DisableCopyOnRead", []tf.Output{handle}, opts...)
}

func disableCopyOnRead(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		_, err := lookupVariable(c, 0)
		return err
	}), nil
}
