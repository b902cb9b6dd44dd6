package rnn_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestNoTimeAtAll: sequences without a step give no outputs, and the state that they began
// with.
func TestNoTimeAtAll(t *testing.T) {
	for name, g := range map[string]*tf.Graph{"graph": tf.NewGraph(), "eager": eager.New()} {
		for scope, cell := range map[string]rnn.Cell{"gru": rnn.NewGRU(4), "lstm": rnn.NewLSTM(4), "block": rnn.NewLSTMBlock(4)} {
			x := ops.Const(g, []float32{}, 2, 0, 3)
			y, last := rnn.DynamicRNN(cell, x, rnn.Opts{Scope: scope})
			noSteps(t, name+" "+scope, g, y, last[len(last)-1], tf.Shape{2, 0, 4})
		}
	}
}

// TestNothingToTeach: a decoder whose inputs have no step decodes none.
func TestNothingToTeach(t *testing.T) {
	for name, g := range map[string]*tf.Graph{"graph": tf.NewGraph(), "eager": eager.New()} {
		x := ops.Const(g, []float32{}, 2, 0, 3)
		lengths := ops.Const(g, []int32{0, 0})
		for what, h := range map[string]rnn.Helper{
			"training":  rnn.TrainingHelper(x, lengths),
			"scheduled": rnn.ScheduledOutputHelper(x, lengths, ops.Scalar[float32](g, 0.5), 1),
		} {
			cell := rnn.NewGRU(3)
			d := rnn.BasicDecoder{Cell: cell, Helper: h, Initial: rnn.ZeroState(cell, ops.Scalar(g, int32(2)), tf.Float32)}
			out := d.Decode(rnn.DecodeOpts{Scope: what})
			noSteps(t, name+" "+what, g, out.Output, out.State[0], tf.Shape{2, 0, 3})
		}
	}
}

// noSteps checks outputs without steps, and a state of zeros.
func noSteps(t *testing.T, name string, g *tf.Graph, y, state tf.Output, want tf.Shape) {
	t.Helper()
	var out []*tf.Tensor
	var err error
	if g.IsEager() {
		out = make([]*tf.Tensor, 2)
		if out[0], err = y.Value(); err == nil {
			out[1], err = state.Value()
		}
	} else {
		var s *session.Session
		if s, err = session.New(g); err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		initialize(t, s, g)
		out, err = s.Run(t.Context(), nil, y, state)
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if !out[0].Shape().Equal(want) || zeroCount(out[1]) != out[1].Len() {
		t.Errorf("%s: outputs are %v, the state is %v", name, out[0], out[1])
	}
}

// TestStateOfUnknownRank: an initial state whose shape only the step knows is one like
// others, and one of another shape fails the step.
func TestStateOfUnknownRank(t *testing.T) {
	for name, cell := range map[string]rnn.Cell{"gru": rnn.NewGRU(4), "lstm": rnn.NewLSTM(4), "block": rnn.NewLSTMBlock(4)} {
		g := tf.NewGraph()
		x := ops.Const(g, []float32{1, 2, 3, 4, 5, 6}, 1, 2, 3)
		feeds := session.Feeds{}
		var known, open rnn.State
		for range cell.StateSize() {
			known = append(known, ops.Const(g, []float32{1, 2, 3, 4}, 1, 4))
			open = append(open, ops.Placeholder(g, tf.Float32, nil))
		}
		want, _ := rnn.DynamicRNN(cell, x, rnn.Opts{Initial: known})
		got, _ := rnn.DynamicRNN(cell, x, rnn.Opts{Initial: open})
		s, err := session.New(g)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		initialize(t, s, g)
		for _, p := range open {
			feeds[p] = must(tf.FromSlice([]float32{1, 2, 3, 4}, 1, 4))
		}
		out, err := s.Run(t.Context(), feeds, want, got)
		if err != nil || !slices.Equal(tf.Data[float32](out[0]), tf.Data[float32](out[1])) {
			t.Errorf("%s: %v, %v", name, out, err)
		}
		feeds[open[0]] = must(tf.FromSlice([]float32{1, 2, 3, 4}))
		if _, err := s.Run(t.Context(), feeds, got); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s with a vector as state: %v", name, err)
		}
		s.Close()
	}
}
