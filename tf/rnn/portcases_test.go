package rnn_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/vars"
)

// The tests of this file have cases of TensorFlow's tests of cells and decoders:
// testdata/ports.md says which.

// counter is a cell that adds 1 to its input and counts its steps.
type counter struct{ size int }

func (c counter) StateSize() []int { return []int{c.size} }
func (c counter) OutputSize() int  { return c.size }
func (c counter) Step(x tf.Output, s rnn.State) (tf.Output, rnn.State) {
	return x.Add(1), rnn.State{s[0].Add(1)}
}

// TestCounter runs the cell over 8 steps, whole, with lengths, and with outputs that
// are almost surely dropped.
func TestCounter(t *testing.T) {
	for _, lengths := range [][]int32{nil, {8, 4}, {0, 3}} {
		g := tf.NewGraph()
		x := sine(g, 2, 8, 5)
		var o rnn.Opts
		if lengths != nil {
			o.Lengths = ops.Const(g, lengths)
		} else {
			lengths = []int32{8, 8}
		}
		y, last := rnn.DynamicRNN(counter{5}, x, o)
		ys, static := rnn.StaticRNN(counter{5}, x.Unstack(1), o)
		s := open(t, g)
		out, err := s.Run(t.Context(), nil, y, ops.Stack(ys, 1), last[0], static[0], x)
		if err != nil {
			t.Fatal(err)
		}
		in := tf.Data[float32](out[4])
		for i, v := range tf.Data[float32](out[0]) {
			want := in[i] + 1
			if int32(i/5%8) >= lengths[i/40] {
				want = 0
			}
			if v != want || tf.Data[float32](out[1])[i] != want {
				t.Fatalf("lengths %v: element %d is %v and %v, want %v", lengths, i, v, tf.Data[float32](out[1])[i], want)
			}
		}
		for i, v := range tf.Data[float32](out[2]) {
			if v != float32(lengths[i/5]) || tf.Data[float32](out[3])[i] != v {
				t.Errorf("lengths %v: states are %v and %v", lengths, out[2], out[3])
			}
		}
	}
	g := tf.NewGraph()
	y, _ := rnn.DynamicRNN(rnn.Dropout(counter{5}, rnn.DropoutOpts{Output: 1 - 1e-12, Seed: 1}), sine(g, 2, 8, 5))
	out, err := open(t, g).Run(t.Context(), nil, y)
	if err != nil || zeroCount(out[0]) != 80 {
		t.Errorf("%v, %v", out, err)
	}
}

// TestStaticIsDynamic: cells of all kinds compute the same by a loop and without one,
// in float32 and float64, and share their variables.
func TestStaticIsDynamic(t *testing.T) {
	for name, cell := range map[string]func() rnn.Cell{
		"lstm": func() rnn.Cell { return rnn.NewLSTM(3, rnn.LSTMOpts{Peepholes: true, CellClip: 0.01}) },
		"projection": func() rnn.Cell {
			return rnn.NewLSTM(3, rnn.LSTMOpts{Projection: 2, ProjClip: 0.1})
		},
		"gru":      func() rnn.Cell { return rnn.NewGRU(4) },
		"multi":    func() rnn.Cell { return rnn.Multi(rnn.NewGRU(2), rnn.NewBasicLSTM(3), rnn.NewBasicRNN(2)) },
		"residual": func() rnn.Cell { return rnn.Residual(rnn.NewGRU(4)) },
		"block":    func() rnn.Cell { return rnn.NewLSTMBlock(3) },
		"dropout":  func() rnn.Cell { return rnn.Dropout(rnn.NewLSTM(3), rnn.DropoutOpts{}) },
	} {
		for _, d := range []tf.DType{tf.Float32, tf.Float64} {
			if name == "block" && d == tf.Float64 {
				continue // its operation is for float32
			}
			g := tf.NewGraph()
			g.SetSeed(5)
			x := sine(g, 3, 5, 4).Cast(d)
			o := rnn.Opts{Lengths: ops.Const(g, []int64{5, 0, 3})}
			c := cell()
			y, last := rnn.DynamicRNN(c, x, o)
			made := len(vars.All(g))
			var ys []tf.Output
			var static rnn.State
			vars.Scope(g, "", vars.ScopeOptions{Reuse: vars.Auto}, func() { ys, static = rnn.StaticRNN(c, x.Unstack(1), o) })
			if len(vars.All(g)) != made {
				t.Errorf("%s: %d variables, then %d", name, made, len(vars.All(g)))
			}
			s := open(t, g)
			initialize(t, s, g)
			same(t, s, fmt.Sprint(name, " ", d), append([]tf.Output{y}, last...), append([]tf.Output{ops.Stack(ys, 1)}, static...))
		}
	}
}

// same compares outputs of either type.
func same(t *testing.T, s *session.Session, what string, got, want []tf.Output) {
	t.Helper()
	for i := range want {
		out, err := s.Run(t.Context(), nil, got[i].Cast(tf.Float64), want[i].Cast(tf.Float64))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		a, b := tf.Data[float64](out[0]), tf.Data[float64](out[1])
		if !slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-6 }) || got[i].DType() != want[i].DType() {
			t.Errorf("%s: output %d is %v, want %v", what, i, a, b)
		}
	}
}

// TestUnknownTime: neither the time nor the number of sequences need be known.
func TestUnknownTime(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, -1, 4})
	y, last := rnn.DynamicRNN(rnn.NewLSTM(3), x)
	b := rnn.BidirectionalRNN(rnn.NewGRU(2), rnn.NewGRU(2), x)
	if !y.Shape().Equal(tf.Shape{-1, -1, 3}) || !last[0].Shape().Compatible(tf.Shape{-1, 3}) {
		t.Errorf("shapes are %v and %v", y.Shape(), last[0].Shape())
	}
	s := open(t, g)
	initialize(t, s, g)
	for _, n := range [][2]int{{2, 7}, {5, 1}} {
		v, _ := tf.NewTensor(tf.Float32, tf.Shape{n[0], n[1], 4})
		out, err := s.Run(t.Context(), session.Feeds{x: v}, y, last[1], b.Output())
		if err != nil || !out[0].Shape().Equal(tf.Shape{n[0], n[1], 3}) || !out[1].Shape().Equal(tf.Shape{n[0], 3}) || !out[2].Shape().Equal(tf.Shape{n[0], n[1], 4}) {
			t.Errorf("%v: %v, %v", n, out, err)
		}
	}
}

// TestDecodedShapes: with time or the batch first, without and with a limit of steps.
func TestDecodedShapes(t *testing.T) {
	lengths := []int32{3, 4, 3, 1, 0}
	for _, major := range []bool{false, true} {
		for _, limit := range []int32{-1, 0, 1, 3, 100} {
			g := tf.NewGraph()
			cell := rnn.NewLSTM(10)
			o := rnn.DecodeOpts{TimeMajor: major}
			steps := 4
			if limit >= 0 {
				o.MaxSteps, steps = ops.Scalar(g, limit), min(4, int(limit))
			}
			d := rnn.BasicDecoder{Cell: cell, Helper: rnn.TrainingHelper(sine(g, 5, 8, 7), ops.Const(g, lengths)), Initial: zeroState(cell, g, 5)}
			out := d.Decode(o)
			s := open(t, g)
			initialize(t, s, g)
			v, err := s.Run(t.Context(), nil, out.Output, out.Samples, out.Lengths)
			if err != nil {
				t.Errorf("at most %d: %v", limit, err)
				continue
			}
			want := tf.Shape{5, steps, 10}
			if major {
				want = tf.Shape{steps, 5, 10}
			}
			if !v[0].Shape().Equal(want) || !v[1].Shape().Equal(want[:2]) {
				t.Errorf("time first %v, at most %d: %v and %v", major, limit, v[0].Shape(), v[1].Shape())
			}
			for i, n := range tf.Data[int32](v[2]) {
				if n != min(lengths[i], int32(steps)) {
					t.Errorf("at most %d: lengths are %v", limit, v[2])
				}
			}
		}
	}
}

// TestCellVariables: what initializers, regularizers of scopes and options make of a
// cell's variables.
func TestCellVariables(t *testing.T) {
	g := tf.NewGraph()
	x := sine(g, 2, 4)
	step := func(c rnn.Cell) error {
		y, _ := c.Step(x, zeroState(c, g, 2))
		return y.Err()
	}
	fixed := rnn.NewBasicRNN(2, rnn.CellOpts{NotTrainable: true, Name: "fixed"})
	set := rnn.NewGRU(2, rnn.CellOpts{Name: "set", KernelInitializer: wave, BiasInitializer: fours})
	if err := errors.Join(step(fixed), step(set)); err != nil {
		t.Fatal(err)
	}
	var trained []string
	for _, v := range tf.Variables(g, tf.TrainableVariables) {
		trained = append(trained, v.Name())
	}
	if want := []string{"set/gates/kernel", "set/gates/bias", "set/candidate/kernel", "set/candidate/bias"}; !slices.Equal(trained, want) {
		t.Errorf("%q are trained, want %q", trained, want)
	}
	s := open(t, g)
	initialize(t, s, g)
	for _, v := range tf.Variables(g, tf.TrainableVariables) {
		got, err := session.Fetch[float32](t.Context(), s, nil, v.Value())
		if err != nil || strings.HasSuffix(v.Name(), "bias") && (got[0] != 4 || got[1] != 4) {
			t.Errorf("%s begins with %v, %v", v.Name(), got, err)
		}
	}
}

func fours(g *tf.Graph, _ tf.DType, s tf.Shape) tf.Output {
	return ops.Fill(s, ops.Scalar(g, float32(4)))
}
