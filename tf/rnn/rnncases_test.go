package rnn_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// The tests of this file have the cases of TensorFlow's rnn_test.

// plainCells are the cells that the cases are about.
func plainCells(units int) map[string]rnn.Cell {
	return map[string]rnn.Cell{"basic": rnn.NewBasicRNN(units), "gru": rnn.NewGRU(units), "basic lstm": rnn.NewBasicLSTM(units), "lstm": rnn.NewLSTM(units)}
}

// TestCellTypes: cells compute in float32 and float64, and refuse integers.
func TestCellTypes(t *testing.T) {
	for _, d := range []tf.DType{tf.Float32, tf.Float64} {
		for name, c := range plainCells(3) {
			g := tf.NewGraph()
			y, next := c.Step(sine(g, 5, 7).Cast(d), rnn.ZeroState(c, ops.Scalar(g, int32(5)), d))
			if err := y.Err(); err != nil || y.DType() != d || !y.Shape().Equal(tf.Shape{5, 3}) || !next[0].Shape().Equal(tf.Shape{5, 3}) {
				t.Errorf("%s of %v: %v, %v, %v", name, d, y, next, err)
			}
		}
	}
	for name, c := range plainCells(2) {
		g := tf.NewGraph()
		y, _ := rnn.DynamicRNN(c, ops.Placeholder(g, tf.Int32, tf.Shape{3, 4, 5}))
		if err := y.Err(); err == nil || !strings.Contains(err.Error(), "RNN cell only supports floating") {
			t.Errorf("%s of integers: %v", name, err)
		}
	}
}

// TestBatchOfInputs: outputs and states know as much of the batch as the inputs, with
// and without a state to begin with.
func TestBatchOfInputs(t *testing.T) {
	for _, n := range []int{3, -1} {
		g := tf.NewGraph()
		x := ops.Placeholder(g, tf.Float32, tf.Shape{n, 4, 5})
		for _, initial := range []rnn.State{nil, {ops.Placeholder(g, tf.Float32, tf.Shape{n, 5})}} {
			y, last := rnn.DynamicRNN(counter{5}, x, rnn.Opts{Initial: initial})
			if !y.Shape().Equal(tf.Shape{n, 4, 5}) || !last[0].Shape().Equal(tf.Shape{n, 5}) {
				t.Errorf("a batch of %d, state %v: %v, %v", n, initial, y, last)
			}
		}
		if s := rnn.ZeroState(rnn.NewBasicRNN(5), ops.Shape(x).At("0"), x.DType()); s[0].DType() != tf.Float32 || !s[0].Shape().Equal(tf.Shape{-1, 5}) {
			t.Errorf("zeros are %v", s)
		}
	}
}

// TestBasicLSTMIsLSTM: a checkpoint of one is one of the other, under its name.
func TestBasicLSTMIsLSTM(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cell")
	for i, c := range []rnn.Cell{rnn.NewBasicLSTM(1), rnn.NewLSTM(1, rnn.LSTMOpts{CellOpts: rnn.CellOpts{Name: "basic_lstm_cell"}})} {
		g := tf.NewGraph()
		if y, _ := c.Step(sine(g, 1, 1), zeroState(c, g, 1)); y.Err() != nil {
			t.Fatal(y.Err())
		}
		saver, err := train.NewSaver(g, train.SaverOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := open(t, g)
		initialize(t, s, g)
		var bias *tf.Variable
		for _, v := range tf.Variables(g, tf.GlobalVariables) {
			if v.Name() == "basic_lstm_cell/bias" {
				bias = v
			}
		}
		if i == 0 {
			if _, err := s.Run(t.Context(), nil, bias.Assign(ops.Const(g, []float32{10, 10, 10, 10}))); err != nil {
				t.Fatal(err)
			}
			if path, err = saver.Save(t.Context(), s, path); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := saver.Restore(t.Context(), s, path); err != nil {
			t.Fatal(err)
		}
		got, err := session.Fetch[float32](t.Context(), s, nil, bias.Value())
		if err != nil || len(got) != 4 || got[0] != 10 || got[3] != 10 {
			t.Errorf("the bias is %v, %v", got, err)
		}
	}
}
