package rnn_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
)

// TestMistakesOfAttention: each is told when the graph is built, with the rule and a
// line of the program.
func TestMistakesOfAttention(t *testing.T) {
	memory := func(g *tf.Graph) tf.Output { return sine(g, 3, 4, 5) }
	cell := func(g *tf.Graph, o rnn.AttendOpts) tf.Output {
		y, _ := rnn.DynamicRNN(rnn.Attend(rnn.NewGRU(5), rnn.Luong(5, memory(g)), o), sine(g, 3, 5, 4))
		return y
	}
	identity := func(x tf.Output) tf.Output { return x }
	for want, f := range map[string]func(g *tf.Graph) tf.Output{
		"exactly one integer per attention_mechanism, saw: 2 vs 1": func(g *tf.Graph) tf.Output { return cell(g, rnn.AttendOpts{Sizes: []int{2, 3}}) },
		"exactly one layer per attention_mechanism, saw: 1 vs 2": func(g *tf.Graph) tf.Output {
			return cell(g, rnn.AttendOpts{Size: 3, More: []rnn.Attention{rnn.Bahdanau(3, memory(g))}, Layers: []func(x tf.Output) tf.Output{identity}})
		},
		"needs their Sizes": func(g *tf.Graph) tf.Output {
			return cell(g, rnn.AttendOpts{Layers: []func(x tf.Output) tf.Output{identity}})
		},
		"must be positive": func(g *tf.Graph) tf.Output { return cell(g, rnn.AttendOpts{Sizes: []int{0}}) },
		"attention layer 0 must return [?,3]": func(g *tf.Graph) tf.Output {
			return cell(g, rnn.AttendOpts{Size: 3, Layers: []func(x tf.Output) tf.Output{identity}})
		},
		"needs an attention, got nil": func(g *tf.Graph) tf.Output { return cell(g, rnn.AttendOpts{More: []rnn.Attention{nil}}) },
		"mode must be 'recursive', 'parallel', or 'hard'": func(g *tf.Graph) tf.Output {
			return rnn.LuongMonotonic(5, memory(g), rnn.MonotonicOpts{Mode: "soft"}).Align(sine(g, 3, 5))
		},
		"a Noise of at least 0": func(g *tf.Graph) tf.Output {
			return rnn.BahdanauMonotonic(5, memory(g), rnn.MonotonicOpts{Noise: -1}).Align(sine(g, 3, 5))
		},
		"must be [3,4]": func(g *tf.Graph) tf.Output {
			o := rnn.AttentionOpts{Probability: rnn.ProbabilityFunc(func(scores tf.Output) tf.Output { return scores.Sum(1) })}
			return rnn.Luong(5, memory(g), o).Align(sine(g, 3, 5))
		},
		"Watch must return tensors": func(g *tf.Graph) tf.Output {
			c := rnn.NewGRU(5)
			d := rnn.BasicDecoder{Cell: c, Helper: rnn.TrainingHelper(sine(g, 3, 4, 5), ops.Const(g, []int32{4, 4, 4})), Initial: zeroState(c, g, 3)}
			d.Watch = func(rnn.State) []tf.Output { return []tf.Output{{}} }
			return d.Decode().Output
		},
		"must be 0.0 if no cell is attentional": func(g *tf.Graph) tf.Output {
			d := beam(g, 2, 3)
			d.Coverage = 0.5
			return d.Decode().IDs
		},
	} {
		err := f(tf.NewGraph()).Err()
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "_test.go:") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestEmptyMemory: a sequence of no elements fails the step, as in TensorFlow, since
// weights need one.
func TestEmptyMemory(t *testing.T) {
	for name, make := range map[string]func(m tf.Output, o rnn.AttentionOpts) rnn.Attention{
		"Luong":    func(m tf.Output, o rnn.AttentionOpts) rnn.Attention { return rnn.Luong(5, m, o) },
		"Bahdanau": func(m tf.Output, o rnn.AttentionOpts) rnn.Attention { return rnn.Bahdanau(5, m, o) },
		"monotonic": func(m tf.Output, o rnn.AttentionOpts) rnn.Attention {
			return rnn.LuongMonotonic(5, m, rnn.MonotonicOpts{AttentionOpts: o})
		},
	} {
		g := tf.NewGraph()
		y := make(sine(g, 3, 4, 5), rnn.AttentionOpts{Lengths: ops.Const(g, []int32{4, 0, 1})}).Align(sine(g, 3, 5))
		s := open(t, g)
		if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
			t.Fatal(err)
		}
		_, err := s.Run(t.Context(), nil, y)
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "All values in memory_sequence_length must be greater than zero") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestMonotonicWeights compares the three ways with a loop over the elements, for random
// scores: the memory is made so that scores are what is in it.
func TestMonotonicWeights(t *testing.T) {
	const batch, time, steps = 3, 6, 4
	for _, mode := range []rnn.MonotonicMode{rnn.Parallel, rnn.Recursive, rnn.Hard} {
		for _, noise := range []float64{0, 2} {
			g := tf.NewGraph()
			look := rnn.LuongMonotonic(5, sine(g, batch, time, 4), rnn.MonotonicOpts{Mode: mode, Noise: noise, Seed: 5, Bias: 0.3})
			cell := rnn.Attend(rnn.NewGRU(5), look)
			state := zeroState(cell, g, batch)
			fetches := []tf.Fetchable{cell.Weights(state)}
			for range steps {
				_, state = cell.Step(sine(g, batch, 4), state)
				fetches = append(fetches, cell.Weights(state))
			}
			s := open(t, g)
			if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
				t.Fatal(err)
			}
			all, err := s.Run(t.Context(), nil, fetches...)
			if err != nil {
				t.Fatal(err)
			}
			for i := 1; i < len(all); i++ {
				checkMonotonic(t, string(mode), tf.Data[float32](all[i-1]), tf.Data[float32](all[i]), time)
			}
		}
	}
}

// checkMonotonic: weights are none that are negative, add up to 1 at most, and have in
// the first n elements no more than those before: attention never goes back.
func checkMonotonic(t *testing.T, mode string, last, now []float32, time int) {
	t.Helper()
	for row := 0; row < len(now); row += time {
		before, sum := 0.0, 0.0
		for i := range time {
			before, sum = before+float64(last[row+i]), sum+float64(now[row+i])
			if w := now[row+i]; w < -1e-6 || math.IsNaN(float64(w)) || mode == "hard" && w != 0 && w != 1 || sum > before+1e-4 {
				t.Fatalf("%s: weights %v after %v", mode, now[row:row+time], last[row:row+time])
			}
		}
	}
}
