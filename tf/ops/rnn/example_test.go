package rnn_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/rnn"
)

// The labels of each step: equal ones that follow each other may be one, and
// any class may be the one that is no label.
func ExampleCTCGreedyDecoder() {
	g := eager.New()
	x := ops.Const(g, []float32{9, 0, 0, 9, 0, 0, 0, 0, 9, 0, 9, 0}, 4, 1, 3) // classes 0, 0, 2, 1
	steps := ops.Const(g, []int32{4})
	for _, o := range []rnn.CTCGreedyOpts{{}, {MergeRepeated: true}, {BlankIndex: new(0)}} {
		var d rnn.Decoded
		d, _ = rnn.CTCGreedyDecoder(x, steps, o)
		v, err := d.Values.Value()
		fmt.Println(v, err)
	}
	// Output:
	// int64[3]{0, 0, 1} <nil>
	// int64[2]{0, 1} <nil>
	// int64[2]{2, 1} <nil>
}

// The two most probable sequences of labels.
func ExampleCTCBeamSearchDecoder() {
	g := eager.New()
	x := ops.Const(g, []float32{5, 0, 0, 0, 0, 5, 5, 4, 0}, 3, 1, 3)
	paths, _ := rnn.CTCBeamSearchDecoder(x, ops.Const(g, []int32{3}), 10, 2, rnn.CTCBeamOpts{KeepRepeated: true})
	for _, path := range paths {
		v, err := path.Values.Value()
		fmt.Println(v, err)
	}
	// Output:
	// int64[2]{0, 0} <nil>
	// int64[2]{0, 1} <nil>
}

// A sequence of one step cannot have two labels: its loss is zero, or an error.
func ExampleCTCLoss() {
	g := eager.New()
	x := ops.Const(g, []float32{0, 0, 0}, 1, 1, 3)
	at, labels := ops.Const(g, []int64{0, 0, 0, 1}, 2, 2), ops.Const(g, []int32{0, 1})
	for _, ignore := range []bool{true, false} {
		loss, _ := rnn.CTCLoss(x, at, labels, ops.Const(g, []int32{1}), rnn.CTCLossOpts{IgnoreLonger: ignore})
		v, err := loss.Value()
		fmt.Println(v, tf.CodeOf(err))
	}
	// Output:
	// float32[1]{0} OK
	// <nil> INVALID_ARGUMENT
}

// One step of a gated recurrent unit, and the gradients of what went in.
func ExampleGRUBlockCell() {
	g := eager.New()
	x, before := ops.Const(g, []float32{1}, 1, 1), ops.Const(g, []float32{0.5}, 1, 1)
	w := rnn.GRUWeights{
		RU: ops.Const(g, []float32{1, 0, 0, 1}, 2, 2), BRU: ops.Const(g, []float32{0, 0}),
		C: ops.Const(g, []float32{1, 1}, 2, 1), BC: ops.Const(g, []float32{0}),
	}
	var s rnn.GRUStates = rnn.GRUBlockCell(x, before, w)
	var d rnn.GRUGrads = rnn.GRUBlockCellGrad(x, before, w, s, ops.OnesLike(s.H))
	for _, y := range []tf.Output{s.R, s.U, s.C, s.H, d.X, d.HPrev} {
		v, err := y.Value()
		fmt.Printf("%.3f %v\n", tf.Data[float32](v), err)
	}
	// Output:
	// [0.731] <nil>
	// [0.622] <nil>
	// [0.878] <nil>
	// [0.643] <nil>
	// [0.095] <nil>
	// [0.597] <nil>
}

// One step of an LSTM without peepholes, and the gradients of what went in.
func ExampleLSTMBlockCell() {
	g := eager.New()
	x, state, before := ops.Const(g, []float32{1}, 1, 1), ops.Const(g, []float32{0.5}, 1, 1), ops.Const(g, []float32{0}, 1, 1)
	none := ops.Const(g, []float32{0})
	w := rnn.LSTMWeights{
		W: ops.Const(g, []float32{1, 2, 0, 1, 0, 0, 0, 0}, 2, 4), B: ops.Const(g, []float32{0, 0, 0, 0}),
		WCI: none, WCF: none, WCO: none,
	}
	var s rnn.LSTMStates = rnn.LSTMBlockCell(x, state, before, w, rnn.LSTMOpts{ForgetBias: new(float32(0))})
	var d rnn.LSTMCellGrads = rnn.LSTMBlockCellGrad(x, state, before, w, s, ops.ZerosLike(s.CS), ops.OnesLike(s.H), false)
	for _, y := range []tf.Output{s.I, s.CI, s.F, s.O, s.CS, s.H, d.CSPrev, d.Gates} {
		v, err := y.Value()
		fmt.Printf("%.3f %v\n", tf.Data[float32](v), err)
	}
	// Output:
	// [0.731] <nil>
	// [0.964] <nil>
	// [0.500] <nil>
	// [0.731] <nil>
	// [0.955] <nil>
	// [0.542] <nil>
	// [0.164] <nil>
	// [0.062 0.017 0.041 0.146] <nil>
}

// An LSTM over two of three steps, and the gradients of its weights.
func ExampleBlockLSTM() {
	g := eager.New()
	steps := ops.Scalar[int64](g, 2)
	x, zero := ops.Const(g, []float32{1, 1, 1}, 3, 1, 1), ops.Const(g, []float32{0}, 1, 1)
	none := ops.Const(g, []float32{0})
	w := rnn.LSTMWeights{
		W: ops.Const(g, []float32{1, 2, 0, 1, 0, 0, 0, 0}, 2, 4), B: ops.Const(g, []float32{0, 0, 0, 0}),
		WCI: none, WCF: none, WCO: none,
	}
	s := rnn.BlockLSTM(steps, x, zero, zero, w)
	var d rnn.BlockLSTMGrads = rnn.BlockLSTMGrad(steps, x, zero, zero, w, s, ops.ZerosLike(s.CS), ops.OnesLike(s.H), false)
	for _, y := range []tf.Output{s.H, d.X, d.W, d.B} {
		v, err := y.Value()
		fmt.Printf("%.3f %v\n", tf.Data[float32](v), err)
	}
	// Output:
	// [0.444 0.614 0.000] <nil>
	// [0.301 0.228 0.000] <nil>
	// [0.158 0.043 0.030 0.285 0.018 0.005 0.013 0.073] <nil>
	// [0.158 0.043 0.030 0.285] <nil>
}
