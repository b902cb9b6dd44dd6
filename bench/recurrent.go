package main

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

const sequenceBatch, sequenceSteps, sequenceIn, sequenceUnits = 32, 200, 64, 128

// numbered returns an initializer that gives matrices the workloads' weights 1, 2,
// 3 and so on, in the order in which they are made, and vectors zeros.
func numbered() initializers.Initializer {
	k := 0
	return func(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
		if len(s) != 2 {
			return initializers.Zeros(g, d, s)
		}
		k++
		return ops.Const(g, weight(k, s[0], s[1]), s...)
	}
}

// dynamicRNN is workload 21.
func dynamicRNN(b *bench) {
	cells := []struct {
		name string
		cell func(rnn.CellOpts) rnn.Cell
	}{
		{"lstm", func(o rnn.CellOpts) rnn.Cell { return rnn.NewLSTM(sequenceUnits, rnn.LSTMOpts{CellOpts: o}) }},
		{"gru", func(o rnn.CellOpts) rnn.Cell { return rnn.NewGRU(sequenceUnits, o) }},
		{"block", func(o rnn.CellOpts) rnn.Cell { return rnn.NewLSTMBlock(sequenceUnits, rnn.LSTMOpts{CellOpts: o}) }},
	}
	for _, lengths := range []string{"", ".lengths"} {
		for _, c := range cells {
			if !b.wants(c.name + cmp.Or(lengths, ".full")) {
				continue
			}
			b.sequences(c.name+lengths+".", c.cell(rnn.CellOpts{KernelInitializer: numbered()}), lengths != "")
		}
	}
}

// sequences measures one network, forward alone and trained.
func (b *bench) sequences(name string, c rnn.Cell, ragged bool) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{sequenceBatch, sequenceSteps, sequenceIn})
	o := rnn.Opts{}
	if ragged {
		o.Lengths = ops.Const(g, sequenceLengths(), sequenceBatch)
	}
	y, _ := rnn.DynamicRNN(c, x, o)
	loss := ops.Mean(ops.Square(y), []int{0, 1, 2})
	step := train.GradientDescent{LearningRate: 1}.Minimize(loss)
	s := b.open(g, false)
	defer s.Close()
	must(s.Run(ctx, nil, tf.InitializeAll(g)))
	v := tensor(uniform(1008, x.Shape().NumElements(), 1), x.Shape()...)
	forward := must(s.MakeCallable([]tf.Output{x}, loss))
	b.check(name+"loss", scalar(must(forward.Run(ctx, v))[0]), nil)
	b.emit(name+"forward_ms", b.best(b.steps(5), b.repeat, func() { must(forward.Run(ctx, v)) })*1e3, "ms")
	b.training(name, s, []tf.Output{x}, loss, step, []batch{{v}}, 5, 3)
}

// sequenceLengths are between half and all of the steps.
func sequenceLengths() []int32 {
	n := labels(1009, sequenceBatch, sequenceSteps/2)
	for i := range n {
		n[i] += sequenceSteps/2 + 1
	}
	return n
}

func scalar(t *tf.Tensor) float64 { return float64(tf.Data[float32](t)[0]) }

const beamBatch, beamWidth, beamSteps, beamWords, beamEmbedding, beamUnits = 8, 5, 30, 2000, 128, 256

// beamSearch is workload 22. It leaves its graph at graphFile, where TensorFlow's
// side takes it from: both run the same nodes.
func beamSearch(b *bench) {
	g := tf.NewGraph()
	starts := ops.Placeholder(g, tf.Int32, tf.Shape{beamBatch}, tf.Name("starts"))
	state := ops.Placeholder(g, tf.Float32, tf.Shape{beamBatch, beamUnits}, tf.Name("state"))
	found := beams(g, starts, state)
	ids, scores := ops.Identity(found.IDs, tf.Name("ids")), ops.Identity(found.Scores, tf.Name("scores"))
	tf.Group(g, "init", tf.InitializeAll(g))
	if err := g.Err(); err != nil {
		fatal(err)
	}
	if err := os.WriteFile(graphFile("beam"), must(g.MarshalGraphDef()), 0o600); err != nil {
		fatal(err)
	}
	s := b.open(g, false)
	defer s.Close()
	must(s.Run(ctx, nil, tf.InitializeAll(g)))
	feeds := []*tf.Tensor{tensor(labels(1010, beamBatch, beamWords), beamBatch), tensor(uniform(1011, beamBatch*beamUnits, 1), beamBatch, beamUnits)}
	out := must(s.Run(ctx, session.Feeds{starts: feeds[0], state: feeds[1]}, ids, scores))
	sum := 0.0
	for _, id := range tf.Data[int32](out[0]) {
		sum += float64(id)
	}
	b.check("ids", sum, nil)
	b.check("score", scalar(out[1]), nil)
	c := must(s.MakeCallable([]tf.Output{starts, state}, ids, scores))
	b.emit("search_ms", b.best(b.steps(10), b.repeat, func() { must(c.Run(ctx, feeds...)) })*1e3, "ms")
}

// beams adds the search: an LSTM over embedded words, from a given state.
func beams(g *tf.Graph, starts, state tf.Output) (found rnn.Beams) {
	vars.Scope(g, "model", vars.ScopeOptions{Initializer: numbered()}, func() {
		embedding := vars.Get(g, "embedding", tf.Shape{beamWords, beamEmbedding})
		cell := rnn.NewLSTM(beamUnits)
		project := vars.Get(g, "projection", tf.Shape{beamUnits, beamWords})
		d := rnn.BeamDecoder{
			Cell: cell, Starts: starts, End: 1, Classes: beamWords, Width: beamWidth, LengthNorm: 0.6,
			Embed:   func(ids tf.Output) tf.Output { return ops.ResourceGather(embedding.Handle(), ids, tf.Float32) },
			Output:  func(y tf.Output) tf.Output { return ops.MatMul(y, project.Value()) },
			Initial: rnn.TileBatch(rnn.State{state, state}, beamWidth),
		}
		found = d.Decode(rnn.DecodeOpts{MaxSteps: ops.Scalar(g, int32(beamSteps))})
	})
	return found
}

// graphFile is where a workload leaves its graph for TensorFlow's side.
func graphFile(name string) string {
	return filepath.Join(os.TempDir(), "gorge-bench-"+name+".pb")
}
