package ops_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	top := func(k int, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			values, indices := ops.ApproxTopK(in[0], k, opts...)
			return []tf.Output{values, indices}
		}
	}
	const static = "its shape function wants to know the rank"
	addSamples(
		sample{Op: "ApproxTopK", In: []*tf.Tensor{distinct(2, 3, 5)}, F: top(3), Static: static},
		sample{Op: "ApproxTopK", Name: "vector", In: []*tf.Tensor{seq(6)}, F: top(6, ops.ApproxTopKOpts{RecallTarget: 0.5}), Static: static},
		sample{Op: "ApproxTopK", Name: "none", In: []*tf.Tensor{seq(2, 3)}, F: top(0), Static: static},
		sample{Op: "ApproxTopK", Name: "columns", In: []*tf.Tensor{seq(3, 2)}, F: top(1, tf.Attr("reduction_dimension", 0)), Fails: true, Types: onlyOwn, NoGolden: "TensorFlow's message lists its kernels"},
		sample{Op: "ApproxTopK", Name: "least", In: []*tf.Tensor{seq(3, 2)}, F: top(1, tf.Attr("is_max_k", false)), Fails: true, Types: onlyOwn, NoGolden: "TensorFlow's message lists its kernels"},
	)
}

// TestApproxTopKShape: how many elements an accelerator leaves over is part of
// the op's shape. The numbers are TensorFlow's.
func TestApproxTopKShape(t *testing.T) {
	for _, c := range []struct {
		shape    tf.Shape
		k        int
		recall   float32
		override int
		want     int
	}{
		{tf.Shape{1000}, 5, 0.95, -1, 1000},
		{tf.Shape{5000}, 1, 0.95, -1, 1024},
		{tf.Shape{3, 5000}, 10, 1, -1, 5000},
		{tf.Shape{3, 5000}, 10, 0.95, -1, 384},
		{tf.Shape{3, 5000}, 10, 0.5, -1, 256},
		{tf.Shape{3, 5000}, 200, 0.95, -1, 5000},
		{tf.Shape{100000}, 10, 0.9, 1 << 20, 1024},
	} {
		g := tf.NewGraph()
		x := ops.Placeholder(g, tf.Float32, c.shape)
		y, _ := ops.ApproxTopK(x, c.k, ops.ApproxTopKOpts{RecallTarget: c.recall},
			tf.Attr("aggregate_to_topk", false), tf.Attr("reduction_input_size_override", c.override))
		if s := y.Shape(); y.Err() != nil || s[len(s)-1] != c.want {
			t.Errorf("%v, k = %d, recall %v: %v (%v), want %d", c.shape, c.k, c.recall, s, y.Err(), c.want)
		}
	}
}
