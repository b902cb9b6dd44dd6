package rnn_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/tftest"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestGradientsInFunctions: the gradients of networks that a function of an eager graph
// runs are those of the networks run as they are.
func TestGradientsInFunctions(t *testing.T) {
	forward, back := rnn.NewGRU(3), rnn.NewGRU(3)
	decoded := rnn.NewGRU(3)
	for name, c := range map[string]rnn.Cell{"gru": rnn.NewGRU(3), "lstm": rnn.NewLSTM(3)} {
		sameInFunction(t, name, func(x tf.Output) tf.Output { y, _ := rnn.DynamicRNN(c, x); return y })
	}
	sameInFunction(t, "lengths", func(x tf.Output) tf.Output {
		y, last := rnn.DynamicRNN(decoded, x, rnn.Opts{Lengths: ops.Const(x.Graph(), []int32{1, 3})})
		return y.Add(last[0].ExpandDims(1))
	})
	sameInFunction(t, "both ways", func(x tf.Output) tf.Output { return rnn.BidirectionalRNN(forward, back, x).Output() })
	cell := rnn.NewGRU(3)
	sameInFunction(t, "decoder", func(x tf.Output) tf.Output {
		g := x.Graph()
		d := rnn.BasicDecoder{Cell: cell, Helper: rnn.TrainingHelper(x, ops.Const(g, []int32{3, 2})), Initial: rnn.ZeroState(cell, ops.Scalar(g, int32(2)), tf.Float32)}
		return d.Decode().Output
	})
}

// sameInFunction compares gradients of the variables of f.
func sameInFunction(t *testing.T, name string, f func(x tf.Output) tf.Output) {
	t.Helper()
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1}, 2, 3, 2)
	grads := func(call func() tf.Output) []train.GradVar {
		var y tf.Output
		tape := eager.Record(g, func() { y = call() })
		gv, err := train.TapeGradients(tape, y)
		if err != nil {
			t.Fatal(name, err)
		}
		return gv
	}
	f(x) // makes the variables
	want := grads(func() tf.Output { return f(x).Square().Sum() })
	traced := eager.NewFunc(g, "f", func(args []tf.Output, _ ...any) []tf.Output { return []tf.Output{f(args[0]).Square().Sum()} })
	got := grads(func() tf.Output { return traced.Call([]tf.Output{x})[0] })
	if len(want) == 0 || len(got) != len(want) {
		t.Fatal(name, len(got), len(want))
	}
	for i := range want {
		a, err := want[i].Grad.Output().Value()
		if err != nil {
			t.Fatal(name, err)
		}
		b, err := got[i].Grad.Output().Value()
		if err != nil {
			t.Fatal(name, err)
		}
		if !tftest.Equal(t, b, a, tftest.Within(1e-4, 1e-5)) {
			t.Error(name, want[i].Var)
		}
	}
}
