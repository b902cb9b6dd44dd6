package rnn_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// BenchmarkDynamicRNN trains and runs an LSTM of 128 units over 32 sequences of
// 200 steps of 64 numbers. testdata/bench.py measures TensorFlow.
func BenchmarkDynamicRNN(b *testing.B) {
	for name, cell := range map[string]func() rnn.Cell{
		"lstm":  func() rnn.Cell { return rnn.NewLSTM(128) },
		"block": func() rnn.Cell { return rnn.NewLSTMBlock(128) },
		"gru":   func() rnn.Cell { return rnn.NewGRU(128) },
	} {
		g := tf.NewGraph()
		g.SetSeed(1)
		x := ops.RandomStandardNormal(g, []int{32, 200, 64}, tf.Float32)
		y, _ := rnn.DynamicRNN(cell(), x)
		infer := ops.Mean(ops.Square(y), []int{0, 1, 2})
		step := train.GradientDescent{LearningRate: 0.1}.Minimize(infer)
		s, err := session.New(g)
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Run(b.Context(), nil, tf.InitializeAll(g)); err != nil {
			b.Fatal(err)
		}
		for what, f := range map[string]tf.Fetchable{"infer": infer, "train": step} {
			b.Run(name+"/"+what, func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Run(b.Context(), nil, f); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
