package ops

import "github.com/gorge-tf/gorge/tf"

// zerosFor returns zeros for the inputs that only choose elements.
func zerosFor(op *tf.Operation) (tf.Output, tf.Output) {
	return ZerosLike(op.Input(0)), ZerosLike(op.Input(1))
}

// poolBack applies a gradient's op to a pooling's input, output and gradient.
func poolBack(name string, op *tf.Operation, dy tf.Output) []tf.Gradient {
	return tf.Grads(applyLike(op, name, op.Input(0), op.Output(0), dy))
}

// poolBackBack applies to the gradient of a gradient's op the op that is next.
func poolBackBack(name string, op *tf.Operation, d tf.Output) []tf.Gradient {
	zx, zy := zerosFor(op)
	return tf.Grads(zx, zy, applyLike(op, name, op.Input(0), op.Input(1), d))
}

func maxPoolGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return poolBack("MaxPoolGrad", op, dy[0])
}

func maxPool3DGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return poolBack("MaxPool3DGrad", op, dy[0])
}

func maxPoolV2Grad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	dx := applyLike(op, "MaxPoolGradV2", op.Input(0), op.Output(0), dy[0], op.Input(1), op.Input(2))
	return tf.Grads(dx, tf.Output{}, tf.Output{})
}

func maxPoolGradGrad(op *tf.Operation, d []tf.Output) []tf.Gradient {
	if op.Str("padding") != "EXPLICIT" {
		return poolBackBack("MaxPoolGradGrad", op, d[0])
	}
	err := tf.Errorf(tf.Unimplemented, "second derivatives of MaxPool are not defined for padding EXPLICIT")
	return tf.Grads(tf.Failed(d[0].Graph(), "MaxPoolGradGrad", err).Output(0), tf.Output{}, tf.Output{})
}

func maxPool3DGradGrad(op *tf.Operation, d []tf.Output) []tf.Gradient {
	return poolBackBack("MaxPool3DGradGrad", op, d[0])
}

func maxPoolGradV2Grad(op *tf.Operation, d []tf.Output) []tf.Gradient {
	zx, zy := zerosFor(op)
	in := op.Inputs()
	return tf.Grads(zx, zy, applyLike(op, "MaxPoolGradGradV2", in[0], in[1], d[0], in[3], in[4]), tf.Output{}, tf.Output{})
}

func maxPoolGradGradGrad(op *tf.Operation, d []tf.Output) []tf.Gradient {
	return poolBackBack("MaxPoolGrad", op, d[0])
}

func maxPool3DGradGradGrad(op *tf.Operation, d []tf.Output) []tf.Gradient {
	return poolBackBack("MaxPool3DGrad", op, d[0])
}
