package rnn_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// ptb is the network of testdata/port.py. It returns the loss.
func ptb(g *tf.Graph) (loss tf.Output) {
	const vocabulary, units, batch, time = 20, 16, 4, 10
	text := make([]int32, batch*(time+1))
	for i := range text {
		text[i] = int32((i*i + i/3) % vocabulary)
	}
	words := ops.Const(g, text, batch, time+1)
	x, y := words.At(":, :-1"), words.At(":, 1:")
	vars.Scope(g, "Model", vars.ScopeOptions{Initializer: initializers.RandomUniform(-0.1, 0.1)}, func() {
		embedding := vars.Get(g, "embedding", tf.Shape{vocabulary, units})
		in := ops.ResourceGather(embedding.Handle(), x, tf.Float32)
		cell := func() rnn.Cell { return rnn.NewBasicLSTM(units, rnn.LSTMOpts{ForgetBias: new(0.0)}) }
		out, _ := rnn.DynamicRNN(rnn.Multi(cell(), cell()), in)
		w, b := vars.Get(g, "softmax_w", tf.Shape{units, vocabulary}), vars.Get(g, "softmax_b", tf.Shape{vocabulary})
		logits := ops.XwPlusB(ops.Reshape(out, []int{-1, units}), w.Value(), b.Value())
		loss = ops.Mean(ops.SparseSoftmaxCrossEntropyWithLogits(y.Reshape(-1), logits), []int{0})
	})
	return loss
}

// TestPort trains beside TensorFlow, from its initial variables, over 200 steps.
// The gradients are clipped, and the rate is small enough for the network not to be
// chaotic, where rounding alone would part the two.
func TestPort(t *testing.T) {
	var want []float64
	data, err := os.ReadFile("testdata/port.json")
	if err == nil {
		err = json.Unmarshal(data, &want)
	}
	if err != nil || len(want) != 200 {
		t.Fatal(len(want), err)
	}
	g := tf.NewGraph()
	loss := ptb(g)
	gvs := clipped(t, loss, 0.2)
	saver, err := train.NewSaver(g, train.SaverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	step, err := train.GradientDescent{LearningRate: 1}.ApplyGradients(gvs)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, g)
	if err := saver.Restore(t.Context(), s, "testdata/port.ckpt"); err != nil {
		t.Fatal(err)
	}
	for i, w := range want {
		out, err := s.Run(t.Context(), nil, loss, step)
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(tf.Data[float32](out[0])[0]); math.Abs(got-w) > 1e-4 {
			t.Fatalf("the loss before step %d is %v, TensorFlow's %v", i, got, w)
		}
	}
}
