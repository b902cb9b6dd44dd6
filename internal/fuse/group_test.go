package fuse_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestSumsOfOneGroup has a loop add up both gradients of a product, which wait for each other.
func TestSumsOfOneGroup(t *testing.T) {
	for _, square := range []bool{false, true} {
		r, g, s := rand.New(rand.NewPCG(1, 2)), tf.NewGraph(), tf.Shape{8, 8}
		feeds := session.Feeds{}
		feed := func() tf.Output {
			x := ops.Placeholder(g, tf.Float32, s)
			feeds[x] = normal(r, tf.Float32, s)
			return x
		}
		a, b, x := feed(), feed(), feed()
		xs := []tf.Output{a, b, x}
		if square {
			b, xs = a, []tf.Output{a, x}
		}
		end := tf.While([]tf.Output{ops.Scalar(g, int32(0)), x}, below(g, 3), func(v []tf.Output) []tf.Output {
			return []tf.Output{ops.AddV2(v[0], ops.Scalar(g, int32(1))), ops.Tanh(ops.Mul(v[1], ops.MatMul(a, b)))}
		})
		var fetches []tf.Fetchable
		for _, d := range gated(ops.Sum(end[1], []int{0, 1}), xs...) {
			fetches = append(fetches, d.Output())
		}
		compare(t, g, feeds, fetches)
	}
}
