package ops

import (
	"strings"

	"github.com/gorge-tf/gorge/tf"
)

// Gradients of TensorArrays are TensorArrays. The flow, a number that every
// operation on an array takes and returns, orders the operations, and carries
// their gradients.

// gradSource returns the name of the call for gradients that x belongs to, by
// which different calls have arrays of their own.
func gradSource(x tf.Output) (string, error) {
	tokens := strings.Split(x.Operation().Name, "/")
	for i := len(tokens) - 1; i >= 0; i-- {
		if strings.HasPrefix(tokens[i], "gradients") {
			return strings.Join(tokens[:i+1], "/"), nil
		}
	}
	return "", tf.Errorf(tf.InvalidArgument, "Expected op/tensor name to start with gradients (excluding scope), got: %s. This means that a tf.gradients op with this op in its dependency path has a custom name that does not start with 'gradients'. "+
		"Please make sure all calls to tf.gradients that have non-empty `name` arguments use names that start with 'gradients'.", x.Name())
}

// gradArray returns the array of the gradients of the array that op uses.
func gradArray(op *tf.Operation, dy, flow tf.Output, d tf.DType) TensorArray {
	a := TensorArray{handle: op.Input(0), flow: flow, dtype: d}
	source, err := gradSource(dy)
	if onTapes(op.Graph()) {
		err = tf.Errorf(tf.Unimplemented, "gradients on a tape go through arrays that are lists, which ops.NewTensorArray makes in an eager graph, and not through %s", op.OpName())
	}
	if err != nil {
		bad := tf.Failed(op.Graph(), "TensorArrayGrad", err).Output(0)
		return TensorArray{handle: bad, flow: bad, dtype: d}
	}
	return a.Grad(source, flow)
}

// afterWrite returns the gradient of a flow, for when op has written.
func afterWrite(op *tf.Operation, flow tf.Output) (late tf.Output) {
	out := Identity(op.Output(0), tf.Name("flow_out"))
	op.Graph().ControlDependencies([]*tf.Operation{out.Operation()}, func() {
		late = Identity(flow, tf.Name("write_barrier"))
	})
	return late
}

func arrayReadGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	g := gradArray(op, dy[0], op.Input(2), op.Type("dtype"))
	return tf.Grads(tf.Output{}, tf.Output{}, g.Write(op.Input(1), dy[0]).flow)
}

func arrayWriteGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	flow := afterWrite(op, dy[0])
	g := gradArray(op, dy[0], flow, op.Type("T"))
	return tf.Grads(tf.Output{}, tf.Output{}, g.Read(op.Input(1)), flow)
}

func arrayGatherGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	g := gradArray(op, dy[0], op.Input(2), op.Type("dtype"))
	return tf.Grads(tf.Output{}, tf.Output{}, g.Scatter(op.Input(1), dy[0]).flow)
}

func arrayScatterGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	flow := afterWrite(op, dy[0])
	g := gradArray(op, dy[0], flow, op.Type("T"))
	return tf.Grads(tf.Output{}, tf.Output{}, g.Gather(op.Input(1)), flow)
}

func arrayConcatGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	if dy[0].IsZero() {
		return make([]tf.Gradient, 2)
	}
	g := gradArray(op, dy[0], op.Input(1), op.Type("dtype"))
	return tf.Grads(tf.Output{}, g.Split(dy[0], op.Output(1)).flow)
}

func arraySplitGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	flow := afterWrite(op, dy[0])
	g := gradArray(op, dy[0], flow, op.Type("T"))
	return tf.Grads(tf.Output{}, g.Concat(), tf.Output{}, flow)
}
