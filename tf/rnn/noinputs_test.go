package rnn_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
)

// TestInputsOfSizeZero: such a cell lives by its state; all steps share its variables, and inputs
// of another size are refused.
func TestInputsOfSizeZero(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Const(g, []float32{}, 2, 0)
	for name, c := range map[string]rnn.Cell{"basic": rnn.NewBasicRNN(2), "lstm": rnn.NewLSTM(2), "gru": rnn.NewGRU(2)} {
		s := rnn.ZeroState(c, ops.Scalar(g, int32(2)), tf.Float32)
		_, s = c.Step(x, s)
		y, s := c.Step(x, s)
		if want := (tf.Shape{2, 2}); y.Err() != nil || !y.Shape().Equal(want) {
			t.Errorf("%s: %v, %v", name, y, y.Err())
		}
		if y, _ = c.Step(ops.Const(g, []float32{1, 2}, 2, 1), s); tf.CodeOf(y.Err()) != tf.InvalidArgument {
			t.Errorf("%s with other inputs: %v", name, y.Err())
		}
	}
}
