package rnn_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestNoRows: a step of an LSTM wants rows, its gradient does not; a CTC loss wants
// steps. So does TensorFlow 2.21.
func TestNoRows(t *testing.T) {
	g := eager.New()
	empty := func(shape ...int) tf.Output { return ops.ConstValue(g, core.NewTensor(tf.Float32, shape)) }
	x, state, w, peephole, bias := empty(0, 5), empty(0, 4), empty(9, 16), empty(4), empty(16)
	step := []tf.Output{x, state, state, w, peephole, peephole, peephole, bias}
	_, err := tf.Apply(g, "LSTMBlockCell", step).Output(0).Value()
	if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "cs_prev_tensor is empty, has shape: (0,4).") {
		t.Errorf("a step: %v", err)
	}
	back := tf.Apply(g, "LSTMBlockCellGrad", append(step, state, state, state, state, state, state, state, state), tf.Attr("use_peephole", true))
	for i, want := range []tf.Shape{{0, 4}, {0, 16}, {4}, {4}, {4}} {
		v, err := back.Output(i).Value()
		if err != nil || !v.Shape().Equal(want) {
			t.Errorf("gradient %d: %v, %v, want shape %v", i, v, err, want)
		}
	}
	loss := tf.Apply(g, "CTCLoss", []tf.Output{empty(0, 2, 4), ops.Const(g, []int64{0, 0}, 1, 2), ops.Const(g, []int32{1}), ops.Const(g, []int32{0, 0})})
	if _, err := loss.Output(0).Value(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "Max time or first dimension of input cannot be 0.") {
		t.Errorf("no steps: %v", err)
	}
}
