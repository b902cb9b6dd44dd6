package ops

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
)

// AddCheckNumerics adds a CheckNumerics for each floating-point output (float16, float32, float64)
// that the graph has so far, one after the other, and returns the operation that runs all of them:
// to find, in a step, where the first NaN or infinity comes from. It runs all that it checks,
// initial values and placeholders, too. TensorFlow calls it tf.add_check_numerics_ops. Graphs
// with tf.Cond or tf.While are refused with INVALID_ARGUMENT, eager ones, whose values come
// one by one, with FAILED_PRECONDITION.
func AddCheckNumerics(g *tf.Graph) *tf.Operation {
	if g == nil || g.IsEager() {
		return tf.Failed(g, "add_check_numerics", tf.Errorf(tf.FailedPrecondition, "all numbers of a graph are checked when it runs: there is no graph, or an eager one"))
	}
	var last []*tf.Operation
	for _, op := range g.Operations() {
		for k := range op.NumOutputs() {
			x := op.Output(k)
			if d := x.DType(); d != tf.Float16 && d != tf.Float32 && d != tf.Float64 {
				continue
			}
			if op.ControlFlowContext() != nil {
				return tf.Failed(g, "add_check_numerics", tf.Errorf(tf.InvalidArgument, "all numbers of a graph are checked in graphs without tf.Cond and tf.While only: %s is in one", op.Name))
			}
			last = []*tf.Operation{CheckNumerics(x, fmt.Sprintf("%s:%d", op.Name, k), tf.After(last...)).Operation()}
		}
	}
	return tf.Group(g, "group_deps", last...)
}
