package rnn_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestLengthsBeyondTimeAnywhere: they fail the step, also those of which 32 bits would fit, and an eager
// network.
func TestLengthsBeyondTimeAnywhere(t *testing.T) {
	network := func(g *tf.Graph, length int64) tf.Output {
		x := ops.Const(g, []float32{1, 2, 3, 4, 5, 6}, 2, 3, 1)
		y, _ := rnn.DynamicRNN(rnn.NewBasicRNN(2), x, rnn.Opts{Lengths: ops.Const(g, []int64{length, 2})})
		return y
	}
	for _, length := range []int64{4, -1, 1 << 32} {
		g := tf.NewGraph()
		y := network(g, length)
		s, err := session.New(g)
		if err == nil {
			_, err = s.Run(t.Context(), nil, tf.InitializeAll(g))
		}
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_, inStep := s.Run(t.Context(), nil, y)
		for where, err := range map[string]error{"a step": inStep, "eager": network(eager.New(), length).Err()} {
			if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "at most the time") {
				t.Errorf("length %d, %s: %v", length, where, err)
			}
		}
	}
}

// TestLengthsOfOtherSequences: one length does not stand for those of all sequences.
func TestLengthsOfOtherSequences(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Const(g, []float32{1, 2, 3, 4, 5, 6}, 2, 3, 1)
	cell := rnn.NewBasicRNN(2)
	d := rnn.BasicDecoder{Cell: cell, Helper: rnn.TrainingHelper(x, ops.Const(g, []int32{3})), Initial: rnn.ZeroState(cell, ops.Scalar(g, int32(2)), tf.Float32)}
	if err := d.Decode().Output.Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "a length for each of 2 sequences") {
		t.Errorf("got %v", err)
	}
}
