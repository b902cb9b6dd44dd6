package rnn_test

import (
	"math"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/vars"
)

// A chain is a cell whose scores are a row of a table, that of its input: a Markov
// chain, of which all sequences can be listed.
type chain struct{ table tf.Output }

func (c chain) StateSize() []int { return []int{1} }
func (c chain) OutputSize() int  { return c.table.Shape()[1] }
func (c chain) Step(x tf.Output, s rnn.State) (tf.Output, rnn.State) {
	return ops.MatMul(x, c.table), rnn.State{s[0].Add(1)}
}

// scores are those of the classes after each class; class 0 ends sequences.
var scores = [][]float64{{0, 0, 0, 0}, {-0.5, 0.1, 0.9, 0.3}, {0.2, 1.0, -0.7, 0.6}, {0.8, 0.4, 0.5, -0.2}}

func table(g *tf.Graph) tf.Output {
	var flat []float32
	for _, row := range scores {
		for _, x := range row {
			flat = append(flat, float32(x))
		}
	}
	return ops.Const(g, flat, 4, 4)
}

func oneHot(ids tf.Output) tf.Output { return ids.OneHot(4) }

// A found is a sequence and what it scores.
type found struct {
	ids    []int
	length int
	log    float64
	score  float64
	ended  bool
}

// search is a beam search over the chain in plain Go, by the rules of the paper and
// of tf.contrib.seq2seq.
func search(start, width, steps int, norm float64) []found {
	beams := []found{{ids: []int{start}}}
	for range steps {
		var all []found
		for _, b := range beams {
			if b.ended {
				b.score = b.log / math.Pow((5+float64(b.length))/6, norm)
				all = append(all, b)
				continue
			}
			row := scores[b.ids[len(b.ids)-1]]
			sum := 0.0
			for _, x := range row {
				sum += math.Exp(x)
			}
			for id, x := range row {
				n := found{ids: append(slices.Clone(b.ids), id), length: b.length + 1, log: b.log + x - math.Log(sum), ended: id == 0}
				counted := n.length
				if n.ended {
					counted--
				}
				n.score = n.log / math.Pow((5+float64(counted))/6, norm)
				all = append(all, n)
			}
		}
		sort.SliceStable(all, func(i, j int) bool { return all[i].score > all[j].score })
		beams = all[:min(width, len(all))]
	}
	return beams
}

func TestBeamSearch(t *testing.T) {
	const steps = 6
	for _, width := range []int{1, 2, 3, 4, 6} { // of 4 classes
		for _, norm := range []float64{0, 1, 0.6} {
			g := tf.NewGraph()
			starts := ops.Const(g, []int32{1, 2, 3})
			d := &rnn.BeamDecoder{Cell: chain{table(g)}, Embed: oneHot, Starts: starts, Classes: 4, Width: width, LengthNorm: norm,
				Initial: rnn.TileBatch(rnn.State{ops.Fill([]int{3, 1}, ops.Scalar(g, float32(0)))}, width)}
			b := d.Decode(rnn.DecodeOpts{MaxSteps: ops.Scalar(g, int32(steps))})
			s := open(t, g)
			out, err := s.Run(t.Context(), nil, b.IDs, b.Scores, b.Lengths)
			if err != nil {
				t.Fatal(err)
			}
			ids, time := tf.Data[int32](out[0]), out[0].Dim(1)
			for i, start := range []int{1, 2, 3} {
				all := search(start, width, time, norm)
				for k, want := range all {
					var got []int
					for n := range time {
						got = append(got, int(ids[(i*time+n)*width+k]))
					}
					for _, other := range all { // rounding decides between equal ones
						if math.Abs(other.score-want.score) < 1e-6 && slices.Equal(got[:len(other.ids)-1], other.ids[1:]) {
							want = other
						}
					}
					full := append(want.ids[1:], make([]int, time-len(want.ids)+1)...)
					score := float64(tf.Data[float32](out[1])[i*width+k])
					cut := width > 4 && k == width-1 // an equal one may have been cut off
					if !cut && !slices.Equal(got, full) || math.Abs(score-want.score) > 1e-5 || int(tf.Data[int32](out[2])[i*width+k]) != want.length {
						t.Errorf("width %d, penalty %v, start %d, beam %d: %v of score %v and length %v; want %v, %v, %d", width, norm, start, k, got, score, out[2], full, want.score, want.length)
					}
				}
			}
		}
	}
}

// The greedy decoder follows the best class of each step until the end.
func TestGreedyDecoder(t *testing.T) {
	g := tf.NewGraph()
	d := &rnn.BasicDecoder{Cell: chain{table(g)}, Helper: rnn.GreedyHelper(oneHot, ops.Const(g, []int32{3, 1}), 0), Initial: rnn.State{ops.Fill([]int{2, 1}, ops.Scalar(g, float32(0)))}}
	out := d.Decode(rnn.DecodeOpts{MaxSteps: ops.Scalar(g, int32(4)), Impute: true})
	s := open(t, g)
	v, err := s.Run(t.Context(), nil, out.Samples, out.Lengths, out.State[0], out.Output)
	if err != nil {
		t.Fatal(err)
	}
	if got := tf.Data[int32](v[0]); !slices.Equal(got, []int32{0, 0, 0, 0, 2, 1, 2, 1}) {
		t.Errorf("samples are %v", got)
	}
	if got := tf.Data[int32](v[1]); !slices.Equal(got, []int32{1, 4}) {
		t.Errorf("lengths are %v", got)
	}
	if got := tf.Data[float32](v[2]); !slices.Equal(got, []float32{1, 4}) {
		t.Errorf("the last states are %v, want those with which sequences ended", got)
	}
	if !v[3].Shape().Equal(tf.Shape{2, 4, 4}) || tf.Data[float32](v[3])[4] != 0 {
		t.Errorf("outputs are %v", v[3])
	}
}

// Sampling follows the probabilities; a low temperature makes it greedy.
func TestSampleDecoder(t *testing.T) {
	g := tf.NewGraph()
	const n = 4000
	starts := ops.Fill([]int{n}, ops.Scalar(g, int32(2)))
	decode := func(temperature float64) tf.Output {
		d := &rnn.BasicDecoder{Cell: chain{table(g)}, Helper: rnn.SampleHelper(oneHot, starts, 0, temperature, 5), Initial: rnn.State{ops.Fill([]int{n, 1}, ops.Scalar(g, float32(0)))}}
		return d.Decode(rnn.DecodeOpts{MaxSteps: ops.Scalar(g, int32(1))}).Samples
	}
	s := open(t, g)
	out, err := s.Run(t.Context(), nil, decode(0), decode(0.01))
	if err != nil {
		t.Fatal(err)
	}
	var count [4]int
	for _, id := range tf.Data[int32](out[0]) {
		count[id]++
	}
	sum := 0.0
	for _, x := range scores[2] {
		sum += math.Exp(x)
	}
	for id, c := range count {
		if want := n * math.Exp(scores[2][id]) / sum; math.Abs(float64(c)-want) > 0.15*n/4 {
			t.Errorf("class %d was drawn %d times, want about %.0f", id, c, want)
		}
	}
	for _, id := range tf.Data[int32](out[1]) {
		if id != 1 {
			t.Fatalf("at a low temperature class %d was drawn", id)
		}
	}
}

// The training helper gives the truth, so that decoding is running the cell; the
// scheduled ones give it with probability 1 - share.
func TestTrainingHelpers(t *testing.T) {
	g := tf.NewGraph()
	x, n := sine(g, 2, 5, 4), ops.Const(g, []int32{5, 2})
	cell := rnn.NewGRU(4)
	zero := rnn.ZeroState(cell, ops.Scalar(g, int32(2)), tf.Float32)
	want, _ := rnn.DynamicRNN(cell, x, rnn.Opts{Lengths: n})
	embed := func(ids tf.Output) tf.Output { return ids.OneHot(4) }
	never, always := ops.Scalar(g, float32(0)), ops.Scalar(g, float32(1))
	same := map[string]rnn.Helper{
		"training":         rnn.TrainingHelper(x, n),
		"scheduled":        rnn.ScheduledHelper(x, n, never, embed, 1),
		"scheduled output": rnn.ScheduledOutputHelper(x, n, never, 1),
	}
	outputs := []tf.Fetchable{want}
	for _, h := range same {
		d := rnn.BasicDecoder{Cell: cell, Helper: h, Initial: zero}
		outputs = append(outputs, d.Decode(rnn.DecodeOpts{Impute: true}).Output)
	}
	for _, h := range []rnn.Helper{rnn.ScheduledHelper(x, n, always, embed, 1), rnn.ScheduledOutputHelper(x, n, always, 1)} {
		d := rnn.BasicDecoder{Cell: cell, Helper: h, Initial: zero}
		outputs = append(outputs, d.Decode(rnn.DecodeOpts{Impute: true}).Output)
	}
	s := open(t, g)
	initialize(t, s, g)
	out, err := s.Run(t.Context(), nil, outputs...)
	if err != nil {
		t.Fatal(err)
	}
	var truth []float64
	for _, v := range tf.Data[float32](out[0]) {
		truth = append(truth, float64(v))
	}
	for _, v := range out[1 : 1+len(same)] {
		near(t, "outputs", v, truth)
	}
	for _, v := range out[1+len(same):] {
		if slices.Equal(tf.Data[float32](v), tf.Data[float32](out[0])) {
			t.Error("outputs with samples are those with the truth")
		}
	}
}

// TestTrainingBeyondTime: a helper has no inputs for lengths beyond the time, as in
// TensorFlow, which fails to read them.
func TestTrainingBeyondTime(t *testing.T) {
	for _, length := range []int32{5, 6} {
		g := tf.NewGraph()
		cell := rnn.NewGRU(4)
		d := rnn.BasicDecoder{
			Cell: cell, Helper: rnn.TrainingHelper(sine(g, 2, 5, 4), ops.Const(g, []int32{length, 2})),
			Initial: rnn.ZeroState(cell, ops.Scalar(g, int32(2)), tf.Float32),
		}
		out := d.Decode().Lengths
		s := open(t, g)
		initialize(t, s, g)
		if _, err := s.Run(t.Context(), nil, out); (tf.CodeOf(err) == tf.InvalidArgument) != (length > 5) {
			t.Errorf("length %d: got %v", length, err)
		}
	}
}

// Attention's weights and contexts are those of the papers' formulas, and names are
// those of tf.contrib.seq2seq.
func TestAttention(t *testing.T) {
	g := tf.NewGraph()
	g.SetSeed(4)
	memory, n, query := sine(g, 2, 3, 4), ops.Const(g, []int32{3, 2}), sine(g, 2, 5)
	var luong, bahdanau, scaled, normed tf.Output
	vars.Scope(g, "l", vars.ScopeOptions{}, func() { luong = rnn.Luong(5, memory, rnn.AttentionOpts{Lengths: n}).Align(query) })
	vars.Scope(g, "b", vars.ScopeOptions{}, func() { bahdanau = rnn.Bahdanau(6, memory, rnn.AttentionOpts{Lengths: n}).Align(query) })
	vars.Scope(g, "ls", vars.ScopeOptions{}, func() { scaled = rnn.Luong(5, memory, rnn.AttentionOpts{Scale: true}).Align(query) })
	vars.Scope(g, "bn", vars.ScopeOptions{}, func() { normed = rnn.Bahdanau(6, memory, rnn.AttentionOpts{Scale: true}).Align(query) })
	variables := map[string]tf.Output{}
	var names []string
	for _, v := range vars.All(g) {
		variables[v.Name()], names = v.Value(), append(names, v.Name())
	}
	if got := strings.Join(names, " "); got != "b/bahdanau_attention/attention_v b/bahdanau_attention/query_layer/kernel b/memory_layer/kernel "+
		"bn/bahdanau_attention/attention_b bn/bahdanau_attention/attention_g bn/bahdanau_attention/attention_v bn/bahdanau_attention/query_layer/kernel bn/memory_layer/kernel "+
		"l/memory_layer/kernel ls/luong_attention/attention_g ls/memory_layer/kernel" {
		t.Errorf("variables are %s", got)
	}
	s := open(t, g)
	initialize(t, s, g)
	fetch := func(x tf.Output) []float32 {
		out, err := s.Run(t.Context(), nil, x)
		if err != nil {
			t.Fatal(err)
		}
		return tf.Data[float32](out[0])
	}
	q, m := fetch(query), fetch(memory)
	product := func(a, w []float32, out int) []float64 { // a row times a matrix
		y := make([]float64, out)
		for i := range a {
			for j := range y {
				y[j] += float64(a[i]) * float64(w[i*out+j])
			}
		}
		return y
	}
	keys, wk, wq, v := fetch(variables["l/memory_layer/kernel"]), fetch(variables["b/memory_layer/kernel"]), fetch(variables["b/bahdanau_attention/query_layer/kernel"]), fetch(variables["b/bahdanau_attention/attention_v"])
	var wantL, wantB []float64
	for i := range 2 {
		var l, b []float64
		for k := range 3 - i { // the second sequence is shorter
			row := m[(i*3+k)*4 : (i*3+k)*4+4]
			sum := 0.0
			for j, key := range product(row, keys, 5) {
				sum += key * float64(q[i*5+j])
			}
			l = append(l, sum)
			key, query, sum := product(row, wk, 6), product(q[i*5:i*5+5], wq, 6), 0.0
			for j := range key {
				sum += float64(v[j]) * math.Tanh(key[j]+query[j])
			}
			b = append(b, sum)
		}
		wantL, wantB = append(wantL, softmax(l, 3)...), append(wantB, softmax(b, 3)...)
	}
	for name, c := range map[string]struct {
		got  tf.Output
		want []float64
	}{"luong": {luong, wantL}, "bahdanau": {bahdanau, wantB}} {
		out, err := s.Run(t.Context(), nil, c.got)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, out[0], c.want)
	}
	for _, x := range []tf.Output{scaled, normed} {
		if w := fetch(x); math.Abs(float64(w[0]+w[1]+w[2])-1) > 1e-5 {
			t.Errorf("weights are %v", w)
		}
	}
}

// softmax returns that of x, and zeros up to n.
func softmax(x []float64, n int) []float64 {
	sum, out := 0.0, make([]float64, n)
	for _, v := range x {
		sum += math.Exp(v)
	}
	for i, v := range x {
		out[i] = math.Exp(v) / sum
	}
	return out
}

// A cell with attention returns the layer of its output and the context.
func TestAttentionCell(t *testing.T) {
	g := tf.NewGraph()
	memory := sine(g, 2, 3, 4)
	var cell *rnn.AttentionCell
	var y tf.Output
	var state rnn.State
	vars.Scope(g, "decoder", vars.ScopeOptions{}, func() {
		cell = rnn.Attend(rnn.NewLSTM(5), rnn.Luong(5, memory), rnn.AttendOpts{Size: 6})
		y, state = cell.Step(sine(g, 2, 3), rnn.ZeroState(cell, ops.Scalar(g, int32(2)), tf.Float32))
	})
	if err := y.Err(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range vars.All(g) {
		names = append(names, v.Name()+v.Shape().String())
	}
	if got := strings.Join(names, " "); got != "decoder/attention_wrapper/attention_layer/kernel[9,6] decoder/attention_wrapper/lstm_cell/bias[20] decoder/attention_wrapper/lstm_cell/kernel[14,20] decoder/memory_layer/kernel[4,5]" {
		t.Errorf("variables are %s", got)
	}
	if !slices.Equal(cell.StateSize(), []int{5, 5, 6, 3}) || !y.Shape().Equal(tf.Shape{2, 6}) || !cell.Weights(state).Shape().Equal(tf.Shape{2, 3}) {
		t.Errorf("the state is %v, the output %v", cell.StateSize(), y)
	}
	if _, err := tf.Gradients(y.Sum(), vars.All(g)[2].Handle()); err != nil {
		t.Error(err)
	}
}

func TestSequenceLoss(t *testing.T) {
	g := tf.NewGraph()
	logits, targets, weights := sine(g, 2, 3, 4), ops.Const(g, []int32{0, 1, 2, 3, 2, 1}, 2, 3), ops.Const(g, []float32{1, 1, 1, 1, 0, 0}, 2, 3)
	var losses []float64
	for i, target := range []int{0, 1, 2, 3, 2, 1} {
		var row []float64
		for k := range 4 {
			row = append(row, math.Sin(float64(i*4+k)))
		}
		losses = append(losses, -math.Log(softmax(row, 4)[target]))
	}
	losses[4], losses[5] = 0, 0
	sum := losses[0] + losses[1] + losses[2]
	want := [][]float64{{(sum + losses[3]) / 4}, {sum / 3, losses[3]}, {(losses[0] + losses[3]) / 2, losses[1], losses[2]}, losses}
	s := open(t, g)
	for i, o := range []rnn.SequenceLossOpts{{}, {PerSequence: true}, {PerStep: true}, {PerStep: true, PerSequence: true}} {
		out, err := s.Run(t.Context(), nil, rnn.SequenceLoss(logits, targets, weights, o))
		if err != nil {
			t.Fatal(err)
		}
		near(t, "loss", out[0], want[i])
	}
	if err := rnn.SequenceLoss(sine(g, 2, 3), targets, weights).Err(); err == nil {
		t.Error("a matrix of logits was taken")
	}
}

// Mistakes of decoders name the user's line.
func TestDecoderMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		want string
		f    func(g *tf.Graph) tf.Output
	}{
		"a beam of no width": {"positive Width", func(g *tf.Graph) tf.Output { return beam(g, 0, 4).Decode().IDs }},
		"other classes":      {"must be float32 [batch·width 7]", func(g *tf.Graph) tf.Output { return beam(g, 2, 7).Decode().IDs }},
		"state not tiled": {"state", func(g *tf.Graph) tf.Output {
			d := beam(g, 2, 4)
			d.Initial = nil
			return d.Decode().IDs
		}},
		"output without size": {"OutputSize", func(g *tf.Graph) tf.Output {
			d := rnn.BasicDecoder{Cell: chain{table(g)}, Helper: rnn.GreedyHelper(oneHot, ops.Const(g, []int32{1}), 0), Initial: rnn.State{sine(g, 1, 1)},
				Output: layers.NewDense(4).Apply}
			return d.Decode().Output
		}},
		"no helper": {"needs a helper", func(g *tf.Graph) tf.Output {
			d := rnn.BasicDecoder{Cell: chain{table(g)}, Initial: rnn.State{sine(g, 1, 1)}}
			return d.Decode().Output
		}},
		"no cell": {"a cell must not be nil", func(g *tf.Graph) tf.Output {
			d := rnn.BasicDecoder{Helper: rnn.GreedyHelper(oneHot, ops.Const(g, []int32{1}), 0), Initial: rnn.State{sine(g, 1, 1)}}
			return d.Decode().Output
		}},
		"no state": {"initial state", func(g *tf.Graph) tf.Output {
			d := rnn.BasicDecoder{Cell: chain{table(g)}, Helper: rnn.GreedyHelper(oneHot, ops.Const(g, []int32{1}), 0)}
			return d.Decode().Output
		}},
		"beams without a cell": {"a cell must not be nil", func(g *tf.Graph) tf.Output {
			d := beam(g, 2, 4)
			d.Cell = nil
			return d.Decode().IDs
		}},
		"no embedding": {"turns ids into inputs, got nil", func(g *tf.Graph) tf.Output {
			return helped(g, rnn.GreedyHelper(nil, ops.Const(g, []int32{1}), 0))
		}},
		"starts of a matrix": {"start_tokens must be a vector", func(g *tf.Graph) tf.Output {
			return helped(g, rnn.GreedyHelper(oneHot, ops.Const(g, []int32{1}, 1, 1), 0))
		}},
		"lengths of a matrix": {"sequence_length to be a vector", func(g *tf.Graph) tf.Output {
			return helped(g, rnn.TrainingHelper(sine(g, 1, 3, 4), ops.Const(g, []int32{1}, 1, 1)))
		}},
		"inputs of a matrix": {"must be [batch time in]", func(g *tf.Graph) tf.Output {
			return helped(g, rnn.TrainingHelper(sine(g, 3, 4), ops.Const(g, []int32{1})))
		}},
		"no attention": {"needs an attention, got nil", func(g *tf.Graph) tf.Output {
			return over(g, rnn.Attend(rnn.NewGRU(3), nil))
		}},
		"units of queries": {"Query", func(g *tf.Graph) tf.Output { return rnn.Luong(4, sine(g, 2, 3, 4)).Align(sine(g, 2, 5)) }},
		"flat memory":      {"needs a memory", func(g *tf.Graph) tf.Output { return rnn.Bahdanau(4, sine(g, 2, 3)).Align(sine(g, 2, 5)) }},
		"cell on a flat memory": {"needs a memory", func(g *tf.Graph) tf.Output {
			return over(g, rnn.Attend(rnn.NewGRU(3), rnn.Luong(3, sine(g, 2, 3))))
		}},
	} {
		err := c.f(tf.NewGraph()).Err()
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "decoder_test.go:") && !strings.Contains(err.Error(), "cells_test.go:") {
			t.Errorf("%s: %v; want %q and a test's line", name, err, c.want)
		}
	}
}

// helped decodes by a helper.
func helped(g *tf.Graph, h rnn.Helper) tf.Output {
	d := rnn.BasicDecoder{Cell: chain{table(g)}, Helper: h, Initial: rnn.State{sine(g, 1, 1)}}
	return d.Decode().Output
}

func beam(g *tf.Graph, width, classes int) *rnn.BeamDecoder {
	return &rnn.BeamDecoder{Cell: chain{table(g)}, Embed: oneHot, Starts: ops.Const(g, []int32{1, 2}), Classes: classes, Width: width,
		Initial: rnn.TileBatch(rnn.State{ops.Fill([]int{2, 1}, ops.Scalar(g, float32(0)))}, width)}
}
