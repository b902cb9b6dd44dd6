package fuse_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestNothingComesBackByALoop has the body of a loop read a value that does not enter it as a
// variable: the value is not in one cluster with what reads the loop's result. The loop around it
// has each iteration wait for the inner loop of the one before.
func TestNothingComesBackByALoop(t *testing.T) {
	g, s := tf.NewGraph(), tf.Shape{8, 8}
	x := ops.Placeholder(g, tf.Float32, s)
	zeros := ops.Fill(ops.Const(g, []int32{8, 8}), ops.Scalar(g, float32(0)))
	next := func(i tf.Output) tf.Output { return ops.AddV2(i, ops.Scalar(g, int32(1))) }
	end := tf.While([]tf.Output{ops.Scalar(g, int32(0)), x}, below(g, 3), func(v []tf.Output) []tf.Output {
		h := ops.Tanh(ops.MatMul(ops.Sin(v[1]), ops.Cos(v[1]))) // as late as the condition of the inner loop
		sum := tf.While([]tf.Output{ops.Scalar(g, int32(0)), zeros}, below(g, 2), func(v []tf.Output) []tf.Output {
			return []tf.Output{next(v[0]), ops.AddV2(v[1], ops.MatMul(h, h))}
		})
		return []tf.Output{next(v[0]), ops.Mul(h, sum[1])}
	})
	compare(t, g, session.Feeds{x: normal(rand.New(rand.NewPCG(1, 2)), tf.Float32, s)}, []tf.Fetchable{end[1]})
}
