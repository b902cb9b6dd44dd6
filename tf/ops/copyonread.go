package ops

import "github.com/gorge-tf/gorge/tf"

func init() {
	tf.Register(tf.OpDef{
		Name: "DisableCopyOnRead", In: "resource: resource", Stateful: true,
		Shape: func(*tf.Infer) error { return nil }, NoGrad: tf.NoGradientDefined, Kernels: tf.AnyType(disableCopyOnRead),
	})
}

// DisableCopyOnRead tells the variable behind handle that its values are to be
// shared with those who read them, as they always are here. TensorFlow's savers
// ask for it.
func DisableCopyOnRead(handle tf.Output, opts ...tf.Option) *tf.Operation {
	return tf.Apply(nil, "DisableCopyOnRead", []tf.Output{handle}, opts...)
}

func disableCopyOnRead(*tf.Node) (tf.Kernel, error) {
	return tf.Compute(func(c *tf.OpContext) error {
		_, err := lookupVariable(c, 0)
		return err
	}), nil
}
