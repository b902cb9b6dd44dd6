package rnn_test

import (
	"context"
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/session"
)

// Two LSTMs, one above the other, over sequences of different lengths. The
// variables are named as TensorFlow names them.
func ExampleDynamicRNN() {
	g := tf.NewGraph()
	words := ops.Placeholder(g, tf.Int32, tf.Shape{-1, -1}) // [batch time]
	lengths := ops.Placeholder(g, tf.Int32, tf.Shape{-1})
	x := layers.Embedding(words, 1000, 32)
	cell := rnn.Multi(rnn.NewLSTM(64), rnn.NewLSTM(64))
	y, last := rnn.DynamicRNN(cell, x, rnn.Opts{Lengths: lengths})
	fmt.Println(y.Shape(), len(last), g.Err())
	for _, v := range tf.Variables(g, tf.TrainableVariables) {
		fmt.Println(v.Name(), v.Shape())
	}
	// Output:
	// [?,?,64] 4 <nil>
	// embedding/embeddings [1000,32]
	// rnn/multi_rnn_cell/cell_0/lstm_cell/kernel [96,256]
	// rnn/multi_rnn_cell/cell_0/lstm_cell/bias [256]
	// rnn/multi_rnn_cell/cell_1/lstm_cell/kernel [128,256]
	// rnn/multi_rnn_cell/cell_1/lstm_cell/bias [256]
}

// A cell takes an input and a state and returns an output and the next state.
func ExampleCell() {
	g := tf.NewGraph()
	var cell rnn.Cell = rnn.NewGRU(8)
	x := ops.Placeholder(g, tf.Float32, tf.Shape{2, 3})
	y, next := cell.Step(x, rnn.ZeroState(cell, ops.Scalar(g, int32(2)), tf.Float32))
	fmt.Println(y.Shape(), len(next), next[0].Shape())
	// Output: [2,8] 1 [2,8]
}

// Outputs of both directions are side by side.
func ExampleBidirectionalRNN() {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 10, 4})
	b := rnn.BidirectionalRNN(rnn.NewGRU(8), rnn.NewGRU(8), x)
	fmt.Println(b.Output().Shape(), b.ForwardState[0].Shape())
	// Output: [?,10,16] [?,8]
}

// A decoder that looks at the outputs of an encoder, in training: it is given the
// true sequence.
func ExampleBasicDecoder() {
	g := tf.NewGraph()
	source := ops.Placeholder(g, tf.Float32, tf.Shape{-1, -1, 16}) // embedded
	target := ops.Placeholder(g, tf.Float32, tf.Shape{-1, -1, 16})
	lengths := ops.Placeholder(g, tf.Int32, tf.Shape{-1})
	encoded, state := rnn.DynamicRNN(rnn.NewLSTM(32), source, rnn.Opts{Scope: "encoder"})
	cell := rnn.Attend(rnn.NewLSTM(32), rnn.Luong(32, encoded), rnn.AttendOpts{Size: 32, Initial: state})
	d := rnn.BasicDecoder{
		Cell: cell, Initial: rnn.ZeroState(cell, ops.Shape(source).At("0"), tf.Float32),
		Helper: rnn.TrainingHelper(target, lengths),
		Output: layers.NewDense(50).Apply, OutputSize: 50,
	}
	out := d.Decode()
	fmt.Println(out.Output.Shape(), out.Samples.Shape(), g.Err())
	// Output: [?,?,50] [?,?] <nil>
}

// A beam search over a cell whose scores of classes depend on the last class
// alone: after 1 most probably comes 2, then 3, then the end, which is 0.
func ExampleBeamDecoder() {
	g := tf.NewGraph()
	after := ops.Const(g, []float32{0, 0, 0, 0 /**/, 0, 0, 4, 1 /**/, 0, 0, 0, 4 /**/, 4, 0, 1, 0}, 4, 4)
	d := rnn.BeamDecoder{
		Cell: chain{after}, Embed: oneHot, Starts: ops.Const(g, []int32{1}), End: 0, Classes: 4, Width: 2,
		Initial: rnn.TileBatch(rnn.State{ops.Const(g, []float32{0}, 1, 1)}, 2),
	}
	beams := d.Decode(rnn.DecodeOpts{MaxSteps: ops.Scalar(g, int32(10))})
	s, err := session.New(g)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	out, err := s.Run(context.Background(), nil, ops.Transpose(beams.IDs, []int{0, 2, 1}), beams.Lengths)
	fmt.Println(out, err)
	// Output: [int32[1,2,3]{2, 3, 0, 3, 0, 0} int32[1,2]{3, 2}] <nil>
}
