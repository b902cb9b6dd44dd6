package fuse_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestLoopsThatWaitAgain has an iteration fill a queue, and multiply what it has filled it with by
// what it reads from there. The next iteration has waited for the queue before it fills it.
func TestLoopsThatWaitAgain(t *testing.T) {
	g, s := tf.NewGraph(), tf.Shape{8, 8}
	x := ops.Placeholder(g, tf.Float32, s)
	q := queue.NewFIFO(g, []tf.DType{tf.Float32}, queue.Opts{Capacity: 1})
	end := tf.While([]tf.Output{ops.Scalar(g, int32(0)), x, x}, below(g, 1), func(v []tf.Output) []tf.Output {
		h := ops.Tanh(ops.Neg(v[1]))
		fill, back := q.Enqueue([]tf.Output{h}), q.Dequeue()[0]
		back.SetShape(s)
		var filled tf.Output
		g.ControlDependencies([]*tf.Operation{fill}, func() { filled = ops.MatMul(v[2], v[2]) })
		return []tf.Output{ops.AddV2(v[0], ops.Scalar(g, int32(1))), ops.Mul(h, back), filled}
	})
	compare(t, g, session.Feeds{x: normal(rand.New(rand.NewPCG(1, 2)), tf.Float32, s)}, []tf.Fetchable{end[1], end[2]})
}
