package queue_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/optest"
)

// accumulate is a sample in which an accumulator gets gradients of the steps 1
// and 0, of which the latter is stale, and 1 again.
func accumulate(op string, make func(g *tf.Graph) tf.Output, o ...queue.AccumulatorOpts) optest.Sample {
	s := optest.Sample{Op: op, In: []*core.Tensor{optest.Vec[float32](1, 2, 4)}, Types: optest.OnlyOwn}
	if core.Lookup(op).Inputs == nil && core.Lookup(op).Outputs[0].Ref || len(core.Lookup(op).Inputs) > 0 && core.Lookup(op).Inputs[0].Ref {
		s.GraphOnly = "references to strings are made by graphs"
	}
	s.F = func(g *tf.Graph, in []tf.Output) []tf.Output {
		a := make(g)
		step := func(n int64) tf.Output { return ops.Scalar(g, n) }
		op := queue.AccumulatorSetGlobalStep(a, step(1))
		for _, n := range []int64{1, 0, 1} {
			op = queue.AccumulatorApplyGradient(a, step(n), ops.Mul(in[0], ops.Scalar(g, float32(n+2))), tf.After(op))
		}
		n := queue.AccumulatorNumAccumulated(a, tf.After(op))
		return []tf.Output{n, queue.AccumulatorTakeGradient(a, ops.Scalar(g, int32(2)), tf.Float32, tf.After(n.Operation()))}
	}
	return s
}

func init() {
	first := func(g *tf.Graph) tf.Output { return queue.ConditionalAccumulator(g, tf.Float32, tf.Shape{3}) }
	second := func(g *tf.Graph) tf.Output {
		return queue.ResourceConditionalAccumulator(g, tf.Float32, tf.Shape{-1}, queue.AccumulatorOpts{Sum: true})
	}
	optest.Add(accumulate("ConditionalAccumulator", first), accumulate("ResourceConditionalAccumulator", second))
	for _, op := range []string{"AccumulatorApplyGradient", "AccumulatorTakeGradient", "AccumulatorSetGlobalStep", "AccumulatorNumAccumulated"} {
		optest.Add(accumulate(op, first), accumulate("Resource"+op, second))
	}
	for _, op := range []string{"SparseConditionalAccumulator", "SparseAccumulatorApplyGradient", "SparseAccumulatorTakeGradient"} {
		optest.Add(sparse(op))
	}
}

// sparse is a sample with two gradients that have one row in common.
func sparse(op string) optest.Sample {
	indices, values := optest.Vec[int64](0, 2), optest.Vec[float32](1, 2)
	return optest.Sample{Op: op, In: []*core.Tensor{indices, values}, Types: optest.OnlyOwn, GraphOnly: "references to strings are made by graphs",
		F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			a := queue.SparseConditionalAccumulator(g, tf.Float32, tf.Shape{5})
			step, shape := ops.Scalar(g, int64(0)), ops.Const(g, []int64{5})
			one := queue.SparseAccumulatorApplyGradient(a, step, in[0], in[1], shape)
			other := ops.Const(g, []int64{1, 2, 4})
			two := queue.SparseAccumulatorApplyGradient(a, step, other, ops.Const(g, []float32{3, 4, 5}), shape, tf.After(one))
			i, v, s := queue.SparseAccumulatorTakeGradient(a, ops.Scalar(g, int32(2)), tf.Float32, tf.After(two))
			return []tf.Output{i, v, s}
		}}
}
