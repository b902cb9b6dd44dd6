package rnn_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
	"github.com/gorge-tf/gorge/tf/vars"
)

// cases are what testdata/cases.py computed by tf.contrib.seq2seq.
type cases struct {
	Losses    map[string][]float64
	Attention map[string]attended
	Steps     map[string]stepped
}

type attended struct {
	Output, Samples, Lengths []float64
	State                    [][]float64
	Variables                []string
}

type stepped struct {
	Finished, First, Output, Samples, Next, Ended []float64
	State                                         [][]float64
}

func readCases(t *testing.T) (c cases) {
	t.Helper()
	data, err := os.ReadFile("testdata/cases.json")
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil || len(c.Losses) != 84 || len(c.Attention) != 7 || len(c.Steps) != 5 {
		t.Fatal(err, len(c.Losses), len(c.Attention), len(c.Steps))
	}
	return c
}

// closeTo compares tensors of any type, each element within 2e-6 of its size.
func closeTo(t *testing.T, s *session.Session, what string, got tf.Output, want []float64) {
	t.Helper()
	out, err := s.Run(t.Context(), nil, got.Cast(tf.Float64))
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	v := tf.Data[float64](out[0])
	if !slices.EqualFunc(v, want, func(a, b float64) bool { return math.Abs(a-b) <= 2e-6*max(1, math.Abs(b)) }) {
		t.Errorf("%s: got %v, want %v", what, v, want)
	}
}

// setInitial gives all variables the values that cases.py gives them, by their names.
func setInitial(t *testing.T, s *session.Session, g *tf.Graph) (names []string) {
	t.Helper()
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		seed := 0
		for _, c := range v.Name() {
			seed += int(c)
		}
		values := make([]float32, v.Shape().NumElements())
		for i := range values {
			values[i] = float32(math.Sin(float64(i)*1.7+float64(seed%17)) * 0.3)
		}
		if _, err := s.Run(t.Context(), nil, v.Assign(ops.Reshape(ops.Const(g, values), append([]int{}, v.Shape()...)).Cast(v.DType()))); err != nil {
			t.Fatal(err)
		}
		names = append(names, v.Name())
	}
	slices.Sort(names)
	return names
}

// TestLossCases: all flags of sequence_loss, with equal, mixed and no weights, by cross
// entropy and by a loss of one's own; classes as numbers and as probabilities.
func TestLossCases(t *testing.T) {
	weights := map[string][]float32{"ones": {1, 1, 1, 1, 1, 1}, "mixed": {1, 0.5, 2, 0, 1, 0}, "zeros": {0, 0, 0, 0, 0, 0}}
	squares := func(labels, logits tf.Output) tf.Output {
		return ops.Sum(ops.Square(logits.Sub(labels.OneHot(5))), []int{1})
	}
	flags := map[string]rnn.SequenceLossOpts{
		"1100": {}, "1000": {PerSequence: true}, "0100": {PerStep: true}, "0000": {PerStep: true, PerSequence: true},
		"0011": {ByCount: true}, "0010": {ByCount: true, PerSequence: true}, "0001": {ByCount: true, PerStep: true},
	}
	want := readCases(t).Losses
	g := tf.NewGraph()
	steps := make([]float32, 30)
	for i := range steps {
		steps[i] = float32(i/5%3) + 0.5
	}
	s := open(t, g)
	n := 0
	for kind, logits := range map[string]tf.Output{"steps": ops.Const(g, steps, 2, 3, 5), "wave": sine(g, 2, 3, 5)} {
		targets := ops.Const(g, []int32{0, 1, 2, 0, 1, 2}, 2, 3)
		for name, w := range weights {
			for f, o := range flags {
				at := ops.Const(g, w, 2, 3)
				key := fmt.Sprintf("%s %s %s", kind, name, f)
				closeTo(t, s, key, rnn.SequenceLoss(logits, targets, at, o), want[key])
				closeTo(t, s, key+", by probabilities", rnn.SequenceLoss(logits, targets.OneHot(5), at, o), want[key])
				o.Loss = squares
				closeTo(t, s, key+" squares", rnn.SequenceLoss(logits, targets, at, o), want[key+" squares"])
				n += 2
			}
		}
	}
	if n != len(want) {
		t.Errorf("%d of %d losses are compared", n, len(want))
	}
}

// TestLossOfOtherWeights: whatever shape weights have, a loss has that of the steps.
func TestLossOfOtherWeights(t *testing.T) {
	g := tf.NewGraph()
	logits, targets, values := sine(g, 2, 3, 5), ops.Const(g, []int32{0, 1, 2, 0, 1, 2}, 2, 3), []float32{1, 0.5, 2, 0, 1, 0}
	want, other := ops.Const(g, values, 2, 3), ops.Const(g, values, 6, 1)
	unknown := func(x tf.Output, s ...int) tf.Output { return ops.PlaceholderWithDefault(x, s) }
	s := open(t, g)
	for _, o := range []rnn.SequenceLossOpts{{}, {PerSequence: true}, {PerStep: true}, {PerStep: true, PerSequence: true}, {PerStep: true, ByCount: true}} {
		all, err := s.Run(t.Context(), nil, rnn.SequenceLoss(logits, targets, want, o), rnn.SequenceLoss(logits, targets, other, o),
			rnn.SequenceLoss(unknown(logits, -1, -1, 5), targets, unknown(other, -1, -1), o))
		if err != nil {
			t.Fatal(err)
		}
		tftest.Equal(t, all[1], all[0])
		tftest.Equal(t, all[2], all[0])
	}
	if err := rnn.SequenceLoss(logits, targets, ops.Const(g, values[:2], 2, 1)).Err(); err == nil || !strings.Contains(err.Error(), "with a weight for each step of") {
		t.Error(err)
	}
}

// TestLossMistakes names the user's line.
func TestLossMistakes(t *testing.T) {
	g := tf.NewGraph()
	logits, targets, weights := sine(g, 2, 3, 5), ops.Const(g, make([]int32, 6), 2, 3), sine(g, 2, 3)
	for want, y := range map[string]tf.Output{
		"Logits must be":                 rnn.SequenceLoss(weights, targets, weights),
		"Targets must be":                rnn.SequenceLoss(logits, targets.Reshape(-1), weights),
		"Weights must be":                rnn.SequenceLoss(logits, targets, logits),
		"A Loss of one's own":            rnn.SequenceLoss(logits, targets.OneHot(5), weights, rnn.SequenceLossOpts{Loss: func(x, _ tf.Output) tf.Output { return x }}),
		"the zero Output":                rnn.SequenceLoss(logits, tf.Output{}, weights),
		"there are 6 rows of logits and": rnn.SequenceLoss(logits, ops.Const(g, []int32{1, 2}, 2, 1), weights),
	} {
		if err := y.Err(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestAttentionCases decodes by cells with attention, as attention_wrapper_test does.
func TestAttentionCases(t *testing.T) {
	bahdanau := func(o rnn.AttentionOpts) func(m tf.Output) rnn.Attention {
		return func(m tf.Output) rnn.Attention {
			o.Lengths = ops.Const(m.Graph(), []int32{8, 3, 5, 1, 7})
			return rnn.Bahdanau(6, m, o)
		}
	}
	luong := func(o rnn.AttentionOpts) func(m tf.Output) rnn.Attention {
		return func(m tf.Output) rnn.Attention {
			o.Lengths = ops.Const(m.Graph(), []int32{8, 3, 5, 1, 7})
			return rnn.Luong(9, m, o)
		}
	}
	plain, scaled := rnn.AttentionOpts{}, rnn.AttentionOpts{Scale: true}
	all := map[string]struct {
		make  func(m tf.Output) rnn.Attention
		size  int
		dtype tf.DType
	}{
		"bahdanau": {bahdanau(plain), 6, tf.Float32}, "bahdanau_normalized": {bahdanau(scaled), 6, tf.Float32}, "bahdanau_normalized_64": {bahdanau(scaled), 6, tf.Float64},
		"luong": {luong(plain), 6, tf.Float32}, "luong_scaled": {luong(scaled), 6, tf.Float32}, "luong_scaled_64": {luong(scaled), 6, tf.Float64},
		"no_attention_layer": {bahdanau(plain), 0, tf.Float32},
	}
	for name, want := range readCases(t).Attention {
		c, ok := all[name]
		if !ok {
			t.Fatalf("there is no case %s", name)
		}
		g := tf.NewGraph()
		cell := rnn.Attend(rnn.NewLSTM(9), c.make(sine(g, 5, 8, 10).Cast(c.dtype)), rnn.AttendOpts{Size: c.size})
		helper := rnn.TrainingHelper(sine(g, 5, 9, 7).Cast(c.dtype), ops.Const(g, []int32{9, 4, 6, 1, 9}))
		d := rnn.BasicDecoder{Cell: cell, Helper: helper, Initial: rnn.ZeroState(cell, ops.Scalar(g, int32(5)), c.dtype)}
		out := d.Decode(rnn.DecodeOpts{Impute: true})
		if err := out.Output.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s := open(t, g)
		if names := setInitial(t, s, g); !slices.Equal(names, want.Variables) {
			t.Errorf("%s: variables are %q, want %q", name, names, want.Variables)
		}
		closeTo(t, s, name+": output", out.Output, want.Output)
		closeTo(t, s, name+": samples", out.Samples, want.Samples)
		closeTo(t, s, name+": lengths", out.Lengths, want.Lengths)
		for i, x := range want.State {
			closeTo(t, s, fmt.Sprintf("%s: state %d", name, i), out.State[i], x)
		}
	}
}

// TestStepCases takes one step by each helper, as basic_decoder_test does.
func TestStepCases(t *testing.T) {
	for name, want := range readCases(t).Steps {
		g := tf.NewGraph()
		x, n, table := sine(g, 5, 8, 7), ops.Const(g, []int32{3, 4, 3, 1, 0}), sine(g, 10, 7)
		embed := func(ids tf.Output) tf.Output { return ops.Gather(table, ids, 0) }
		units, helper := 10, rnn.TrainingHelper(x, n)
		switch name {
		case "greedy":
			helper = rnn.GreedyHelper(embed, ops.Const(g, []int32{1, 2, 3, 4, 5}), 7)
		case "scheduled_never":
			helper = rnn.ScheduledHelper(x, n, ops.Scalar(g, float32(0)), embed, 0)
		case "scheduled_always":
			units, helper = 7, rnn.ScheduledOutputHelper(x, n, ops.Scalar(g, float32(1)), 0)
		}
		cell := rnn.NewLSTM(units)
		finished, first := helper.First()
		var y tf.Output
		var state rnn.State
		vars.Scope(g, "decoder", vars.ScopeOptions{}, func() {
			if y, state = cell.Step(first, zeroState(cell, g, 5)); name == "training_layer" {
				y = layers.NewDense(9, layers.DenseOpts{Name: "words"}).Apply(y)
			}
		})
		time := ops.Scalar(g, int32(0))
		samples := helper.Sample(time, y)
		ended, next := helper.Next(time, y, samples)
		s := open(t, g)
		setInitial(t, s, g)
		for what, x := range map[string]struct {
			got  tf.Output
			want []float64
		}{
			"finished": {finished, want.Finished}, "first": {first, want.First}, "output": {y, want.Output}, "samples": {samples, want.Samples},
			"next": {next, want.Next}, "ended": {ended, want.Ended}, "c": {state[0], want.State[0]}, "h": {state[1], want.State[1]},
		} {
			closeTo(t, s, name+": "+what, x.got, x.want)
		}
	}
}
