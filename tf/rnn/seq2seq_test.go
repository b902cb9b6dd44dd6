package rnn_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// The sizes of testdata/seq2seq.py.
const mirrorBatch, mirrorTime, mirrorWords, mirrorUnits, mirrorSize = 8, 6, 12, 16, 8

// mirrored returns sentences, their lengths, the same reversed, and what a decoder
// is given in training: 1 and then the target.
func mirrored(g *tf.Graph) (source, lengths, target, given tf.Output) {
	from, n := make([]int32, mirrorBatch*mirrorTime), make([]int32, mirrorBatch)
	to, in := make([]int32, mirrorBatch*(mirrorTime+1)), make([]int32, mirrorBatch*(mirrorTime+1))
	for i := range n {
		n[i] = int32(3 + i%4)
		row := from[i*mirrorTime:][:n[i]]
		for j := range row {
			row[j] = int32(2 + (i*7+j*j*3+i*j)%(mirrorWords-2))
		}
		at := i * (mirrorTime + 1)
		copy(to[at:], row)
		slices.Reverse(to[at : at+len(row)])
		in[at] = 1
		copy(in[at+1:at+1+mirrorTime], to[at:])
	}
	return ops.Const(g, from, mirrorBatch, mirrorTime), ops.Const(g, n), ops.Const(g, to, mirrorBatch, mirrorTime+1), ops.Const(g, in, mirrorBatch, mirrorTime+1)
}

// mirror is the network of testdata/seq2seq.py: its loss, and what it writes.
func mirror(g *tf.Graph) (loss, written tf.Output) {
	source, lengths, target, given := mirrored(g)
	table := vars.Get(g, "embedding", tf.Shape{mirrorWords, mirrorSize})
	embed := func(ids tf.Output) tf.Output { return ops.ResourceGather(table.Handle(), ids, tf.Float32) }
	encoded, state := rnn.DynamicRNN(rnn.NewLSTM(mirrorUnits), embed(source), rnn.Opts{Lengths: lengths, Scope: "encoder"})
	attention := rnn.Bahdanau(mirrorUnits, encoded, rnn.AttentionOpts{Lengths: lengths, Scale: true})
	cell := rnn.Attend(rnn.NewLSTM(mirrorUnits), attention, rnn.AttendOpts{Size: mirrorUnits, Initial: state})
	initial := rnn.ZeroState(cell, ops.Scalar(g, int32(mirrorBatch)), tf.Float32)
	words := layers.NewDense(mirrorWords, layers.DenseOpts{Name: "words"})
	decode := func(h rnn.Helper) (out rnn.Decoded) {
		vars.Scope(g, "decode", vars.ScopeOptions{Reuse: vars.Auto}, func() {
			d := rnn.BasicDecoder{Cell: cell, Helper: h, Initial: initial, Output: words.Apply, OutputSize: mirrorWords}
			out = d.Decode(rnn.DecodeOpts{MaxSteps: ops.Scalar(g, int32(mirrorTime+1))})
		})
		return out
	}
	taught := decode(rnn.TrainingHelper(embed(given), lengths.Add(1)))
	steps := ops.Range(g, 0, mirrorTime+1, 1)
	weights := ops.Less(ops.ExpandDims(steps, 0), ops.ExpandDims(lengths.Add(1), 1)).Cast(tf.Float32)
	free := decode(rnn.GreedyHelper(embed, ops.Fill([]int{mirrorBatch}, ops.Scalar(g, int32(1))), 0))
	return rnn.SequenceLoss(taught.Output, target, weights), free.Samples
}

// clipped returns the gradients of a loss, whose common norm is limited.
func clipped(t *testing.T, loss tf.Output, norm float64) []train.GradVar {
	t.Helper()
	gvs, err := train.ComputeGradients(loss)
	if err != nil {
		t.Fatal(err)
	}
	var gs []tf.Gradient
	for _, gv := range gvs {
		gs = append(gs, gv.Grad)
	}
	gs, _ = train.ClipByGlobalNorm(norm, gs...)
	for i := range gvs {
		gvs[i].Grad = gs[i]
	}
	return gvs
}

// TestSequenceToSequence trains an encoder and a decoder with attention beside
// TensorFlow, from its initial variables, over 200 steps, and writes afterwards what
// TensorFlow's network writes: the sentences reversed.
func TestSequenceToSequence(t *testing.T) {
	var want struct {
		Losses    []float64
		Written   [][]int32
		Variables []string
	}
	data, err := os.ReadFile("testdata/seq2seq.json")
	if err == nil {
		err = json.Unmarshal(data, &want)
	}
	if err != nil || len(want.Losses) != 200 || len(want.Written) != mirrorBatch {
		t.Fatal(len(want.Losses), err)
	}
	g := tf.NewGraph()
	loss, written := mirror(g)
	gvs := clipped(t, loss, 1)
	saver, err := train.NewSaver(g, train.SaverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range tf.Variables(g, tf.TrainableVariables) {
		names = append(names, v.Name())
	}
	if !slices.Equal(names, want.Variables) {
		t.Errorf("variables are %q, want %q", names, want.Variables)
	}
	step, err := train.Adam{LearningRate: 0.002}.ApplyGradients(gvs)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, g)
	initialize(t, s, g)
	if err := saver.Restore(t.Context(), s, "testdata/seq2seq.ckpt"); err != nil {
		t.Fatal(err)
	}
	for i, w := range want.Losses {
		out, err := s.Run(t.Context(), nil, loss, step)
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(tf.Data[float32](out[0])[0]); math.Abs(got-w) > 1e-4 {
			t.Fatalf("the loss before step %d is %v, TensorFlow's %v", i, got, w)
		}
	}
	out, err := s.Run(t.Context(), nil, written)
	if err != nil || !slices.Equal(tf.Data[int32](out[0]), slices.Concat(want.Written...)) {
		t.Errorf("the network writes %v, %v; TensorFlow's %v", out, err, want.Written)
	}
}
