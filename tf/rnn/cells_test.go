package rnn_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// Cells of one operation compute what those of many do, from the same checkpoint,
// and so do their gradients: in a loop, and by one operation for all steps.
func TestBlockCells(t *testing.T) {
	g, cases, models := tf.NewGraph(), readWalk(t), map[string]*model{}
	for name, n := range map[string]network{
		"gru":            dynamic(rnn.NewGRUBlock(3), ended),
		"lstm":           dynamic(rnn.NewLSTMBlock(3), ended),
		"device":         dynamic(rnn.OnDevice(rnn.NewLSTMBlock(3), "/cpu:0")), // step by step, in a loop
		"lstm_peepholes": dynamic(rnn.NewLSTMBlock(3, rnn.LSTMOpts{Peepholes: true, CellClip: 0.3})),
	} {
		models[name] = build(t, g, name, n, cases[name])
	}
	saver, err := train.NewSaver(g, train.SaverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, g)
	if err := saver.Restore(t.Context(), s, "testdata/walk.ckpt"); err != nil {
		t.Fatal(err)
	}
	for name, m := range models {
		if v := m.want.Variables; name == "lstm_peepholes" { // made in another order; the operation's gradient of a clipped memory ignores the clip, as TensorFlow's does
			v[2], v[3], m.want.Gradients = v[3], v[2], nil
		}
		t.Run(name, func(t *testing.T) { m.check(t, s) })
	}
}

// An eager graph runs cells at once.
func TestEagerly(t *testing.T) {
	g := eager.New()
	g.SetSeed(1)
	cell := rnn.NewLSTM(3)
	x, n := sine(g, 2, 4, 3), ops.Const(g, []int32{4, 1})
	tape := eager.Record(g, func() {
		y, s := rnn.DynamicRNN(cell, x, rnn.Opts{Lengths: n})
		v, err := y.Value()
		if err != nil || !v.Shape().Equal(tf.Shape{2, 4, 3}) {
			t.Fatalf("%v, %v", v, err)
		}
		if last := tf.Data[float32](v)[2*4*3-9:]; last[0] != 0 || last[8] != 0 {
			t.Errorf("outputs behind the end are %v", last)
		}
		c, err := s[0].Value()
		if err != nil || !c.Shape().Equal(tf.Shape{2, 3}) {
			t.Errorf("%v, %v", c, err)
		}
	})
	_ = tape
	before, _ := rnn.DynamicRNN(cell, x, rnn.Opts{Scope: "again"})
	for _, v := range tf.Variables(g, tf.GlobalVariables) {
		v.Assign(ops.ZerosLike(v.Value()))
	}
	after, _ := rnn.DynamicRNN(cell, x, rnn.Opts{Scope: "again"})
	a, _ := before.Value()
	b, err := after.Value()
	if err != nil || tf.Data[float32](a)[0] == 0 || tf.Data[float32](b)[0] != 0 {
		t.Errorf("the cell does not see that its variables have changed: %v %v", b, err)
	}
}

// Without normalization a normalized LSTM is an ordinary one.
func TestLayerNormLSTM(t *testing.T) {
	g := tf.NewGraph()
	g.SetSeed(2)
	x := sine(g, 3, 5, 4)
	plain, _ := rnn.DynamicRNN(rnn.NewBasicLSTM(3, rnn.LSTMOpts{CellOpts: rnn.CellOpts{KernelInitializer: wave}}), x)
	same, _ := rnn.DynamicRNN(rnn.NewLayerNormLSTM(3, rnn.LayerNormLSTMOpts{NoNorm: true, CellOpts: rnn.CellOpts{KernelInitializer: wave}}), x, rnn.Opts{Scope: "same"})
	normal, state := rnn.DynamicRNN(rnn.NewLayerNormLSTM(3, rnn.LayerNormLSTMOpts{CellOpts: rnn.CellOpts{KernelInitializer: wave}}), x, rnn.Opts{Scope: "normal"})
	mean, variance := ops.Moments(state[0], []int{1}, false)
	s := open(t, g)
	initialize(t, s, g)
	out, err := s.Run(t.Context(), nil, plain, same, normal, mean, variance)
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{}
	for _, v := range tf.Data[float32](out[0]) {
		want = append(want, float64(v))
	}
	near(t, "output", out[1], want)
	near(t, "means of the memory", out[3], []float64{0, 0, 0})
	near(t, "variances of the memory", out[4], []float64{1, 1, 1})
	var names []string
	for _, v := range vars.All(g) {
		if strings.HasPrefix(v.Name(), "normal/") {
			names = append(names, strings.TrimPrefix(v.Name(), "normal/layer_norm_basic_lstm_cell/"))
		}
	}
	if got := strings.Join(names, " "); got != "forget/beta forget/gamma input/beta input/gamma kernel output/beta output/gamma state/beta state/gamma transform/beta transform/gamma" {
		t.Errorf("variables are %s", got)
	}
}

func wave(g *tf.Graph, _ tf.DType, s tf.Shape) tf.Output { return sine(g, s...) }

func initialize(t *testing.T, s *session.Session, g *tf.Graph) {
	t.Helper()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
}

// A highway cell mixes input and output by its gate.
func TestHighway(t *testing.T) {
	g := tf.NewGraph()
	cell := rnn.NewBasicRNN(2)
	x := sine(g, 3, 2)
	zero := rnn.ZeroState(cell, ops.Scalar(g, int32(3)), tf.Float32)
	y, _ := rnn.Highway(cell).Step(x, zero)
	inner, _ := cell.Step(x, zero)
	w, b := vars.All(g)[3], vars.All(g)[2]
	if w.Name() != "carry_w" || b.Name() != "carry_b" {
		t.Fatalf("variables are %s and %s", w.Name(), b.Name())
	}
	gate := ops.Sigmoid(ops.BiasAdd(ops.MatMul(x, w.Value()), b.Value()))
	s := open(t, g)
	initialize(t, s, g)
	out, err := s.Run(t.Context(), nil, y, inner, gate, x)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, 6)
	for i := range want {
		h, c, in := float64(tf.Data[float32](out[1])[i]), float64(tf.Data[float32](out[2])[i]), float64(tf.Data[float32](out[3])[i])
		want[i] = c*in + (1-c)*h
	}
	near(t, "output", out[0], want)
}

// Variational dropout drops the same elements in all steps, the other kind others;
// the memory of an LSTM is never dropped.
func TestDropout(t *testing.T) {
	const n, steps = 200, 3
	for _, variational := range []bool{true, false} {
		g := tf.NewGraph()
		g.SetSeed(3)
		x := ops.Fill([]int{1, steps, n}, ops.Scalar(g, float32(1)))
		y, state := rnn.DynamicRNN(rnn.Dropout(rnn.NewLSTM(n), rnn.DropoutOpts{Input: 0.2, Output: 0.5, State: 0.4, Variational: variational, InputSize: n, Seed: 7}), x)
		s := open(t, g)
		initialize(t, s, g)
		out, err := s.Run(t.Context(), nil, y, state[0], state[1])
		if err != nil {
			t.Fatal(err)
		}
		rows := tf.Data[float32](out[0])
		same, dropped := 0, 0
		for i := range n {
			if (rows[i] == 0) == (rows[n+i] == 0) {
				same++
			}
			if rows[i] == 0 {
				dropped++
			}
		}
		if dropped < n*35/100 || dropped > n*65/100 || (same == n) != variational {
			t.Errorf("variational %v: %d of %d dropped, %d alike in two steps", variational, dropped, n, same)
		}
		if z := zeroCount(out[1]); z != 0 {
			t.Errorf("%d elements of the memory are dropped", z)
		}
		if z := zeroCount(out[2]); z < n*25/100 || z > n*55/100 {
			t.Errorf("%d of %d elements of the state are dropped, want 40%%", z, n)
		}
	}
}

func zeroCount(x *tf.Tensor) (n int) {
	for _, v := range tf.Data[float32](x) {
		if v == 0 {
			n++
		}
	}
	return n
}

// A cell that is used twice, or in a stack twice, shares its variables.
func TestSharedCell(t *testing.T) {
	g := tf.NewGraph()
	c := rnn.NewGRU(4)
	x := sine(g, 2, 3, 4)
	a, _ := rnn.DynamicRNN(rnn.Multi(c, c), x)
	b, _ := rnn.DynamicRNN(c, x, rnn.Opts{Scope: "other"})
	if n := len(vars.All(g)); n != 4 || a.Err() != nil || b.Err() != nil {
		t.Errorf("there are %d variables, want those of one cell; %v %v", n, a.Err(), b.Err())
	}
}

// Each mistake gets an error with the user's line.
func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		want string
		f    func(g *tf.Graph) tf.Output
	}{
		"state of another size": {"tensor 1 of the state must be [batch 3]", func(g *tf.Graph) tf.Output {
			y, _ := rnn.DynamicRNN(rnn.NewLSTM(3), sine(g, 2, 3, 4), rnn.Opts{Initial: rnn.State{sine(g, 2, 3), sine(g, 2, 4)}})
			return y
		}},
		"state of another cell": {"Expected state to be a tuple of length 2", func(g *tf.Graph) tf.Output {
			y, _ := rnn.NewLSTM(3).Step(sine(g, 2, 3), rnn.State{sine(g, 2, 3)})
			return y
		}},
		"no units":          {"positive number of units", func(g *tf.Graph) tf.Output { return over(g, rnn.NewGRU(0)) }},
		"no cell":           {"a cell must not be nil", func(g *tf.Graph) tf.Output { return over(g, nil) }},
		"a pointer to none": {"a cell must not be nil", func(g *tf.Graph) tf.Output { var c *rnn.GRUCell; return over(g, c) }},
		"a stack of none":   {"a cell must not be nil", func(g *tf.Graph) tf.Output { return over(g, rnn.Multi(rnn.NewGRU(3), nil)) }},
		"wrapped none": {"a cell must not be nil", func(g *tf.Graph) tf.Output {
			return over(g, rnn.Residual(rnn.OnDevice(rnn.Dropout(nil, rnn.DropoutOpts{}), "")))
		}},
		"none over highway": {"a cell must not be nil", func(g *tf.Graph) tf.Output { return over(g, rnn.Highway(nil)) }},
		"none both ways": {"a cell must not be nil", func(g *tf.Graph) tf.Output {
			return rnn.BidirectionalRNN(rnn.NewGRU(3), nil, sine(g, 2, 3, 4)).Backward
		}},
		"none without a loop": {"a cell must not be nil", func(g *tf.Graph) tf.Output {
			_, s := rnn.StaticRNN(nil, sine(g, 2, 3, 4).Unstack(1))
			y, _ := rnn.Multi(nil).Step(sine(g, 2, 3), s)
			return y
		}},
		"no cells": {"at least one cell", func(g *tf.Graph) tf.Output { return over(g, rnn.Multi()) }},
		"residual": {"residual cell needs inputs of the size of its outputs", func(g *tf.Graph) tf.Output { return over(g, rnn.Residual(rnn.NewGRU(3))) }},
		"highway":  {"highway cell needs inputs of the size of its outputs", func(g *tf.Graph) tf.Output { return over(g, rnn.Highway(rnn.NewGRU(3))) }},
		"residual function": {"must return [batch 3]", func(g *tf.Graph) tf.Output {
			return over(g, rnn.Residual(rnn.NewGRU(3), func(x, _ tf.Output) tf.Output { return x }))
		}},
		"block":       {"no projection", func(g *tf.Graph) tf.Output { return over(g, rnn.NewLSTMBlock(3, rnn.LSTMOpts{Projection: 2})) }},
		"taken names": {"already exists", func(g *tf.Graph) tf.Output { over(g, rnn.NewGRU(3)); return over(g, rnn.NewGRU(3)) }},
		"inputs without": {"depth of inputs", func(g *tf.Graph) tf.Output {
			y, _ := rnn.DynamicRNN(rnn.NewGRU(3), ops.Placeholder(g, tf.Float32, tf.Shape{2, 3, -1}))
			return y
		}},
		"negative units in a stack": {"a cell needs a positive number of units, got -3", func(g *tf.Graph) tf.Output {
			return over(g, rnn.Multi(rnn.NewGRU(2), rnn.NewGRU(-3)))
		}},
		"negative units in a wrapper": {"a cell needs a positive number of units, got -3", func(g *tf.Graph) tf.Output {
			return over(g, rnn.Residual(rnn.NewLSTM(-3)))
		}},
		"a state of negative units": {"a cell needs a positive number of units, got -3", func(g *tf.Graph) tf.Output {
			return rnn.ZeroState(rnn.NewGRU(-3), ops.Scalar(g, int32(2)), tf.Float32)[0]
		}},
		"a matrix": {"depth of inputs", func(g *tf.Graph) tf.Output { y, _ := rnn.DynamicRNN(rnn.NewGRU(3), sine(g, 3, 4)); return y }},
		"whole numbers": {"floating point inputs", func(g *tf.Graph) tf.Output {
			y, _ := rnn.DynamicRNN(rnn.NewGRU(3), sine(g, 2, 3, 4).Cast(tf.Int32))
			return y
		}},
		"lengths of other sequences": {"a length for each of 2 sequences", func(g *tf.Graph) tf.Output {
			y, _ := rnn.DynamicRNN(rnn.NewGRU(3), sine(g, 2, 3, 4), rnn.Opts{Lengths: ops.Const(g, []int32{1, 2, 3})})
			return y
		}},
		"lengths of a matrix": {"sequence_length must be a vector", func(g *tf.Graph) tf.Output {
			y, _ := rnn.DynamicRNN(rnn.NewGRU(3), sine(g, 2, 3, 4), rnn.Opts{Lengths: ops.Const(g, []int32{1, 2}, 1, 2)})
			return y
		}},
		"lengths that are numbers": {"of type int32 or int64", func(g *tf.Graph) tf.Output {
			y, _ := rnn.DynamicRNN(rnn.NewGRU(3), sine(g, 2, 3, 4), rnn.Opts{Lengths: ops.Const(g, []float32{1, 2})})
			return y
		}},
		"no steps": {"inputs must not be empty", func(g *tf.Graph) tf.Output { _, s := rnn.StaticRNN(rnn.NewGRU(3), nil); return s[0] }},
		"a negative share of states": {"rate must be at least 0", func(g *tf.Graph) tf.Output {
			return over(g, rnn.Dropout(rnn.NewGRU(3), rnn.DropoutOpts{State: -0.5}))
		}},
		"depths": {"same depth", func(g *tf.Graph) tf.Output {
			y, _ := rnn.StackBidirectional([]rnn.Cell{rnn.NewGRU(3)}, nil, sine(g, 2, 3, 4))
			return y
		}},
		"depths, the states": {"same depth", func(g *tf.Graph) tf.Output {
			_, s := rnn.StackBidirectional(nil, []rnn.Cell{rnn.NewGRU(3), rnn.NewGRU(3)}, sine(g, 2, 3, 4))
			return s[1].BackwardState[0]
		}},
		"the states of a stack over nothing": {"a scalar", func(g *tf.Graph) tf.Output {
			x := tf.Failed(g, "x", tf.Errorf(tf.InvalidArgument, "a scalar")).Output(0)
			_, s := rnn.StackBidirectional([]rnn.Cell{rnn.NewGRU(3)}, []rnn.Cell{rnn.NewLSTM(3)}, x)
			return s[0].BackwardState[1]
		}},
	} {
		err := c.f(tf.NewGraph()).Err()
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "cells_test.go:") {
			t.Errorf("%s: %v; want %q and this file's line", name, err, c.want)
		}
	}
}

func over(g *tf.Graph, c rnn.Cell) tf.Output {
	y, _ := rnn.DynamicRNN(c, sine(g, 2, 3, 4))
	return y
}

// Lengths beyond the time, which only the step can know, fail the step.
func TestLengthsBeyondTime(t *testing.T) {
	g := tf.NewGraph()
	n := ops.Placeholder(g, tf.Int32, tf.Shape{-1})
	y, _ := rnn.DynamicRNN(rnn.NewGRU(3), sine(g, 2, 3, 4), rnn.Opts{Lengths: n})
	s := open(t, g)
	initialize(t, s, g)
	for _, lengths := range [][]int32{{4, 1}, {-1, 1}, {math.MaxInt32, 0}} {
		v, err := tf.FromSlice(lengths)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context(), session.Feeds{n: v}, y); err == nil || !strings.Contains(err.Error(), "sequence_length must be at least 0 and at most the time") {
			t.Errorf("%v: %v", lengths, err)
		}
	}
}

// No sequences, and no time, are sequences too. Without time, as in TensorFlow, the
// number of sequences must be known.
func TestEmptySequences(t *testing.T) {
	for _, shape := range []tf.Shape{{0, 3, 4}, {2, 0, 4}} {
		g := tf.NewGraph()
		x := ops.Placeholder(g, tf.Float32, tf.Shape{shape[0], -1, 4})
		y, state := rnn.DynamicRNN(rnn.NewLSTM(3), x)
		s := open(t, g)
		initialize(t, s, g)
		v, err := tf.NewTensor(tf.Float32, shape)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(t.Context(), session.Feeds{x: v}, y, state[0])
		if err != nil || !out[0].Shape().Equal(tf.Shape{shape[0], shape[1], 3}) {
			t.Errorf("%v: %v, %v", shape, out, err)
		}
	}
}

// Every network of the walk computes in an eager graph too.
func TestWalkEagerly(t *testing.T) {
	cases := readWalk(t)
	for name, n := range walk() {
		g := eager.New()
		x := sine(g, 3, 5, 4)
		if cases[name].Result[0] == 5 {
			x = sine(g, 5, 3, 4)
		}
		y, state := n(x)
		v, err := y.Value()
		if err != nil || !v.Shape().Equal(cases[name].Result) {
			t.Errorf("%s: %v, %v", name, v, err)
			continue
		}
		if _, err := state[0].Value(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
