package layers_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestNoTime: a batch of sequences without steps keeps its size, which the graph does not know.
func TestNoTime(t *testing.T) {
	g := tf.NewGraph()
	x := ops.PlaceholderWithDefault(ops.Const(g, []float32{}, 2, 0, 4), tf.Shape{-1, 0, 4})
	out := run(t, g, layers.Dense(x, 3), layers.MultiHeadAttention(x, x, 2, 3, layers.AttentionInputs{}))
	for i, want := range []tf.Shape{{2, 0, 3}, {2, 0, 4}} {
		if !out[i].Shape().Equal(want) {
			t.Errorf("result %d is %v, want %v", i, out[i].Shape(), want)
		}
	}
}
