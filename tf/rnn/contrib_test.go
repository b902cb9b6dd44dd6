package rnn_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// contrib has the networks of testdata/contrib.py: what tf.contrib had.
func contrib() map[string]network {
	half := func(x, y tf.Output) tf.Output { return x.At(":, :3").Mul(2).Add(y) }
	teacher := func(x tf.Output) rnn.Helper { return rnn.TrainingHelper(x, readLengths(x.Graph())) }
	lstm := func(tf.Output) rnn.Cell { return rnn.NewLSTM(4) }
	impute := rnn.DecodeOpts{Impute: true}
	return map[string]network{
		"layer_norm":           dynamic(rnn.NewLayerNormLSTM(3), ended),
		"layer_norm_plain":     dynamic(rnn.NewLayerNormLSTM(3, rnn.LayerNormLSTMOpts{NoNorm: true, ForgetBias: new(0.5)})),
		"highway":              dynamic(rnn.Highway(rnn.NewGRU(4))),
		"highway_uncoupled":    dynamic(rnn.Highway(rnn.NewGRU(4), rnn.HighwayOpts{Uncoupled: true, CarryBias: new(0.5)})),
		"residual_function":    dynamic(rnn.Residual(rnn.NewGRU(3), half)),
		"block_lstm":           dynamic(rnn.NewLSTMBlock(3), ended),
		"block_lstm_peepholes": dynamic(rnn.NewLSTMBlock(3, rnn.LSTMOpts{Peepholes: true, ForgetBias: new(0.5)})),
		"block_gru":            dynamic(rnn.NewGRUBlock(3), ended),
		"stack_bidirectional":  stack,
		"luong":                attending(luong(rnn.AttentionOpts{}), rnn.AttendOpts{}),
		"luong_scaled":         attending(luong(rnn.AttentionOpts{Scale: true}), rnn.AttendOpts{Size: 6}, 4, 2, 1),
		"bahdanau":             attending(bahdanau(rnn.AttentionOpts{}), rnn.AttendOpts{Size: 6}, 4, 2, 1),
		"bahdanau_normed":      attending(bahdanau(rnn.AttentionOpts{Scale: true}), rnn.AttendOpts{Size: 6}),
		"attention_of_cell":    attending(luong(rnn.AttentionOpts{}), rnn.AttendOpts{Size: 6, CellOutput: true}, 4, 2, 1),
		"training":             decoding(teacher, lstm, 0, rnn.DecodeOpts{}),
		"training_imputed":     decoding(teacher, lstm, 6, impute),
		"training_limited":     decoding(teacher, lstm, 0, rnn.DecodeOpts{Impute: true, TimeMajor: true}, 3),
		"training_attention": decoding(teacher, func(x tf.Output) rnn.Cell {
			return looking(x.Graph(), bahdanau(rnn.AttentionOpts{Scale: true}), rnn.AttendOpts{Size: 6}, 1, 4, 2, 1)
		}, 0, impute),
		"scheduled_never":  decoding(scheduled(0), lstm, 0, impute),
		"scheduled_always": decoding(scheduled(1), lstm, 0, impute),
		"greedy":           greedily,
		"beam_1":           beamed(1, 0, 0),
		"beam_3":           beamed(3, 0, 0),
		"beam_4_penalty":   beamed(4, 0.6, 0),
		"beam_3_coverage":  beamed(3, 0, 0.7),
		"beam_4_penalties": beamed(4, 0.6, 0.3),
		"beam_3_stacked": beamed(3, 0.5, 0.4, func(c rnn.Cell) rnn.Cell {
			return rnn.Multi(c, rnn.NewGRU(5))
		}),
		"sequence_loss": sequenceLosses,

		"attentions":      several(rnn.AttendOpts{Sizes: []int{6, 3, 2}}),
		"attentions_bare": several(rnn.AttendOpts{}),
		"attentions_of_cell": several(rnn.AttendOpts{Sizes: []int{6, 3, 2}, CellOutput: true, Input: func(x, a tf.Output) tf.Output {
			return x.Add(a.At(":, :4"))
		}}),
		"attention_layer": attending(luong(rnn.AttentionOpts{}), rnn.AttendOpts{
			Sizes: []int{7}, Layers: []func(x tf.Output) tf.Output{layers.NewDense(7, layers.DenseOpts{Name: "look", Activation: layers.Tanh}).Apply},
		}, 4, 2, 1),
		"hardmax": attending(luong(rnn.AttentionOpts{Probability: rnn.ProbabilityFunc(func(scores tf.Output) tf.Output {
			g := scores.Graph()
			return ops.OneHot(ops.ArgMax(scores, -1), ops.Shape(scores).At("1"), ops.Scalar(g, float32(1)), ops.Scalar(g, float32(0)))
		})}), rnn.AttendOpts{Size: 6}, 4, 2, 1),
		"monotonic_luong":           attending(luongMonotonic(rnn.MonotonicOpts{AttentionOpts: rnn.AttentionOpts{Scale: true}, Bias: -0.5}), rnn.AttendOpts{Size: 6}, 4, 2, 1),
		"monotonic_luong_recursive": attending(luongMonotonic(rnn.MonotonicOpts{Mode: rnn.Recursive}), rnn.AttendOpts{Size: 6}, 4, 2, 1),
		"monotonic_luong_hard":      attending(luongMonotonic(rnn.MonotonicOpts{Mode: rnn.Hard}), rnn.AttendOpts{Size: 6}, 4, 2, 1),
		"monotonic_bahdanau":        attending(bahdanauMonotonic(rnn.MonotonicOpts{}), rnn.AttendOpts{Size: 6}, 4, 2, 1),
		"monotonic_bahdanau_normed": attending(bahdanauMonotonic(rnn.MonotonicOpts{AttentionOpts: rnn.AttentionOpts{Scale: true}, Mode: rnn.Recursive, Bias: 0.25}), rnn.AttendOpts{Size: 6}),
		"attention_history":         history,
	}
}

func luongMonotonic(o rnn.MonotonicOpts) mechanism {
	return func(m, n tf.Output) rnn.Attention { o.Lengths = n; return rnn.LuongMonotonic(5, m, o) }
}

func bahdanauMonotonic(o rnn.MonotonicOpts) mechanism {
	return func(m, n tf.Output) rnn.Attention { o.Lengths = n; return rnn.BahdanauMonotonic(5, m, o) }
}

// several runs a cell that looks at two memories of other sizes in three ways.
func several(o rnn.AttendOpts) network {
	return func(x tf.Output) (tf.Output, rnn.State) {
		g := x.Graph()
		memory, other := sine(g, 3, 4, 6), sine(g, 3, 3, 5)
		m := rnn.Luong(5, memory, rnn.AttentionOpts{Lengths: ops.Const(g, []int32{4, 2, 1}), Scale: true})
		o := o
		o.More = []rnn.Attention{rnn.Bahdanau(4, other), rnn.Luong(5, other, rnn.AttentionOpts{Scale: true})}
		return rnn.DynamicRNN(rnn.Attend(rnn.NewLSTM(5), m, o), x)
	}
}

// history returns the weights of all steps.
func history(x tf.Output) (tf.Output, rnn.State) {
	g := x.Graph()
	c := looking(g, bahdanau(rnn.AttentionOpts{}), rnn.AttendOpts{Size: 6}, 1, 4, 2, 1)
	out := (&rnn.BasicDecoder{
		Cell: c, Helper: rnn.TrainingHelper(x, ops.Const(g, []int32{5, 2, 3})), Initial: zeroState(c, g, 3),
		Watch: func(s rnn.State) []tf.Output { return []tf.Output{c.Weights(s)} },
	}).Decode()
	return out.Output, rnn.State(out.Watched)
}

func readLengths(g *tf.Graph) tf.Output { return ops.Const(g, []int32{5, 2, 0}) }

func stack(x tf.Output) (tf.Output, rnn.State) {
	y, all := rnn.StackBidirectional([]rnn.Cell{rnn.NewGRU(3), rnn.NewLSTM(2)}, []rnn.Cell{rnn.NewGRU(3), rnn.NewGRU(2)}, x, rnn.Opts{Lengths: readLengths(x.Graph())})
	var states rnn.State
	for _, b := range all {
		states = append(append(states, b.ForwardState...), b.BackwardState...)
	}
	return y, states
}

type mechanism func(memory, lengths tf.Output) rnn.Attention

func luong(o rnn.AttentionOpts) mechanism {
	return func(m, n tf.Output) rnn.Attention { o.Lengths = n; return rnn.Luong(5, m, o) }
}

func bahdanau(o rnn.AttentionOpts) mechanism {
	return func(m, n tf.Output) rnn.Attention { o.Lengths = n; return rnn.Bahdanau(6, m, o) }
}

// looking returns a cell that looks at a memory, of which each sequence is repeated
// n times.
func looking(g *tf.Graph, m mechanism, o rnn.AttendOpts, n int, lengths ...int32) *rnn.AttentionCell {
	memory, long := rnn.TileBatch(rnn.State{sine(g, 3, 4, 6)}, n)[0], tf.Output{}
	if lengths != nil {
		long = rnn.TileBatch(rnn.State{ops.Const(g, lengths)}, n)[0]
	}
	return rnn.Attend(rnn.NewLSTM(5), m(memory, long), o)
}

func attending(m mechanism, o rnn.AttendOpts, lengths ...int32) network {
	return func(x tf.Output) (tf.Output, rnn.State) {
		return rnn.DynamicRNN(looking(x.Graph(), m, o, 1, lengths...), x)
	}
}

func zeroState(c rnn.Cell, g *tf.Graph, n int32) rnn.State {
	return rnn.ZeroState(c, ops.Scalar(g, n), tf.Float32)
}

// decoding runs a decoder with an output layer of some words, if not 0, for steps
// at most, if given.
func decoding(helper func(x tf.Output) rnn.Helper, cell func(x tf.Output) rnn.Cell, words int, o rnn.DecodeOpts, steps ...int32) network {
	return func(x tf.Output) (tf.Output, rnn.State) {
		c := cell(x)
		d := &rnn.BasicDecoder{Cell: c, Helper: helper(x), Initial: zeroState(c, x.Graph(), 3)}
		if words > 0 {
			d.Output, d.OutputSize = layers.NewDense(words, layers.DenseOpts{Name: "words"}).Apply, words
		}
		if steps != nil {
			o.MaxSteps = ops.Scalar(x.Graph(), steps[0])
		}
		return decoded(d, o)
	}
}

func decoded(d *rnn.BasicDecoder, o rnn.DecodeOpts) (tf.Output, rnn.State) {
	out := d.Decode(o)
	return out.Output, append(append(rnn.State{}, out.State...), out.Samples.Cast(tf.Float32), out.Lengths.Cast(tf.Float32))
}

func scheduled(share float32) func(x tf.Output) rnn.Helper {
	return func(x tf.Output) rnn.Helper {
		return rnn.ScheduledOutputHelper(x, readLengths(x.Graph()), ops.Scalar(x.Graph(), share), 0)
	}
}

// embedding returns a table of words.
func embedding(g *tf.Graph) rnn.Embed {
	table := vars.Get(g, "table", tf.Shape{7, 4})
	return func(ids tf.Output) tf.Output { return ops.ResourceGather(table.Handle(), ids, tf.Float32) }
}

func greedily(x tf.Output) (tf.Output, rnn.State) {
	g := x.Graph()
	embed := embedding(g)
	c := looking(g, luong(rnn.AttentionOpts{Scale: true}), rnn.AttendOpts{Size: 6}, 1, 4, 2, 1)
	y, s := decoded(&rnn.BasicDecoder{
		Cell: c, Helper: rnn.GreedyHelper(embed, ops.Const(g, []int32{1, 2, 3}), 0), Initial: zeroState(c, g, 3),
		Output: layers.NewDense(7, layers.DenseOpts{Name: "words"}).Apply, OutputSize: 7,
	}, rnn.DecodeOpts{Impute: true, MaxSteps: ops.Scalar(g, int32(6))})
	return y.Add(x.Sum().Mul(0)), s
}

func beamed(width int, penalty, coverage float64, wrap ...func(rnn.Cell) rnn.Cell) network {
	return func(x tf.Output) (tf.Output, rnn.State) {
		g := x.Graph()
		embed := embedding(g)
		var c rnn.Cell = looking(g, bahdanau(rnn.AttentionOpts{}), rnn.AttendOpts{Size: 6}, width, 4, 2, 1)
		for _, f := range wrap {
			c = f(c)
		}
		b := (&rnn.BeamDecoder{
			Cell: c, Embed: embed, Starts: ops.Const(g, []int32{1, 2, 3}), Classes: 7, Width: width, LengthNorm: penalty, Coverage: coverage,
			Initial: zeroState(c, g, int32(3*width)), Output: layers.NewDense(7, layers.DenseOpts{Name: "words"}).Apply,
		}).Decode(rnn.DecodeOpts{MaxSteps: ops.Scalar(g, int32(6))})
		return b.IDs.Cast(tf.Float32), rnn.State{b.Scores, b.Lengths.Cast(tf.Float32)}
	}
}

func sequenceLosses(x tf.Output) (tf.Output, rnn.State) {
	g := x.Graph()
	targets, weights := make([]int32, 15), make([]float32, 15)
	for i := range targets {
		targets[i] = int32(i * 7 % 6)
		if i < 5 {
			weights[i] = 1
		} else if i < 7 {
			weights[i] = 0.5
		}
	}
	logits := layers.Dense(x, 6)
	loss := func(o rnn.SequenceLossOpts) tf.Output {
		return rnn.SequenceLoss(logits, ops.Const(g, targets, 3, 5), ops.Const(g, weights, 3, 5), o)
	}
	each := loss(rnn.SequenceLossOpts{PerStep: true, PerSequence: true})
	return ops.ExpandDims(each, 2), rnn.State{loss(rnn.SequenceLossOpts{}), loss(rnn.SequenceLossOpts{PerSequence: true}), loss(rnn.SequenceLossOpts{PerStep: true})}
}

// TestContrib restores the checkpoint of tf.contrib's cells, attention and decoders
// by the names of the variables, compares results, states and gradients, and saves
// the same checkpoint again.
func TestContrib(t *testing.T) {
	cases := map[string]*walked{}
	data, err := os.ReadFile("testdata/contrib.json")
	if err == nil {
		err = json.Unmarshal(data, &cases)
	}
	all := contrib()
	if err != nil || len(cases) != len(all) {
		t.Fatalf("%d networks for %d results of TensorFlow, %v", len(all), len(cases), err)
	}
	g, models := tf.NewGraph(), map[string]*model{}
	for name, want := range cases {
		if all[name] == nil {
			t.Fatalf("%s: there is no network", name)
		}
		models[name] = build(t, g, name, all[name], want)
	}
	saver, err := train.NewSaver(g, train.SaverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, g)
	if err := saver.Restore(t.Context(), s, "testdata/contrib.ckpt"); err != nil {
		t.Fatal(err)
	}
	saved, err := saver.Save(t.Context(), s, filepath.Join(t.TempDir(), "contrib"))
	if err != nil {
		t.Fatal(err)
	}
	sameCheckpoints(t, "testdata/contrib.ckpt", saved)
	for name, m := range models {
		t.Run(name, func(t *testing.T) { m.check(t, s) })
	}
}
