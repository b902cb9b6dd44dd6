package fuse_test

import (
	"math/rand/v2"
	"strings"
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

// TestSumsOfWholeGroups adds up all products of a group, in a loop and without one: nothing is
// left that waits for them, and the last one is joined with the sum.
func TestSumsOfWholeGroups(t *testing.T) {
	for _, loop := range []bool{false, true} {
		r, g, s := rand.New(rand.NewPCG(1, 2)), tf.NewGraph(), tf.Shape{8, 8}
		v := ops.Placeholder(g, tf.Float32, s)
		feeds, a, b := session.Feeds{v: normal(r, tf.Float32, s)}, ops.Sin(v), ops.Cos(v)
		sum := func() tf.Output {
			x, y := ops.MatMul(a, b), ops.MatMul(b, a)
			group := tf.Group(g, "", x.Operation(), y.Operation())
			var held []tf.Output
			g.ControlDependencies([]*tf.Operation{group}, func() { held = []tf.Output{ops.Identity(x), ops.Identity(y)} })
			if z := ops.MatMul(a, a); loop { // the order in which they are computed
				held = append(held, z)
			} else {
				held = append([]tf.Output{z}, held...)
			}
			return ops.AddN(held)
		}
		var y tf.Output
		if loop {
			y = tf.While([]tf.Output{ops.Scalar(g, int32(0)), v}, below(g, 3), func(v []tf.Output) []tf.Output {
				return []tf.Output{ops.AddV2(v[0], ops.Scalar(g, int32(1))), ops.MatMul(v[1], sum())}
			})[1]
		} else {
			y = sum()
		}
		compare(t, g, feeds, []tf.Fetchable{y})
		if text := explain(t, g, feeds, y); strings.Count(text, "sum_1 = AddV2") != 1 {
			t.Errorf("in a loop: %v; the last product is not joined with the sum:\n%s", loop, text)
		}
	}
}
