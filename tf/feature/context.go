package feature

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// ConcatenateContext returns sequences, float32 [batch time width], with what holds
// for all steps of an example, context [batch n], behind the numbers of each step:
// [batch time width+n].
func ConcatenateContext(context, sequence tf.Output) tf.Output {
	for _, x := range []tf.Output{sequence, context} {
		if x.Err() != nil {
			return x
		}
	}
	fail := func(format string, args ...any) tf.Output {
		return tf.Failed(sequence.Graph(), "concatenate_context_input", tf.Errorf(tf.InvalidArgument, format, args...)).Output(0)
	}
	switch {
	case len(sequence.Shape()) != 3:
		return fail("sequence_input must have rank 3, got %v", sequence)
	case len(context.Shape()) != 2:
		return fail("context_input must have rank 2, got %v", context)
	case sequence.DType() != tf.Float32 || context.DType() != tf.Float32:
		return fail("sequence_input and context_input must have dtype float32, got %v and %v", sequence, context)
	}
	g := sequence.Graph()
	one := ops.Const(g, []int32{1})
	times := ops.Concat(0, []tf.Output{one, ops.Slice(ops.Shape(sequence), []int{1}, []int{1}), one})
	each := tf.Apply(g, "Tile", []tf.Output{ops.ExpandDims(context, 1), times}).Output(0)
	y := ops.Concat(2, []tf.Output{sequence, each})
	a, b := sequence.Shape(), context.Shape()
	if y.Err() == nil && a[2] >= 0 && b[1] >= 0 { // the time that Tile computes hides the width
		y.SetShape(tf.Shape{a[0], a[1], a[2] + b[1]})
	}
	return y
}
