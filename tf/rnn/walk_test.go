package rnn_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// A network runs over x and returns its output and its last states.
type network func(x tf.Output) (tf.Output, rnn.State)

func dynamic(c rnn.Cell, o ...rnn.Opts) network {
	return func(x tf.Output) (tf.Output, rnn.State) {
		for i := range o {
			if o[i].Lengths.IsZero() && !o[i].TimeMajor && o[i].Scope == "" {
				o[i].Lengths = ops.Const(x.Graph(), []int32{5, 2, 0})
			}
		}
		return rnn.DynamicRNN(c, x, o...)
	}
}

// ended asks for the lengths 5, 2 and 0.
var ended = rnn.Opts{}

// walk has a network of every cell. testdata/walk.py has the same ones. Cells are
// made anew for each test.
func walk() map[string]network {
	return map[string]network{
		"basic_rnn":          dynamic(rnn.NewBasicRNN(3)),
		"basic_rnn_relu":     dynamic(rnn.NewBasicRNN(3, rnn.CellOpts{Activation: layers.Relu}), rnn.Opts{TimeMajor: true}),
		"gru":                dynamic(rnn.NewGRU(3), ended),
		"basic_lstm":         dynamic(rnn.NewBasicLSTM(3)),
		"basic_lstm_lengths": dynamic(rnn.NewBasicLSTM(3, rnn.LSTMOpts{ForgetBias: new(0.5)}), rnn.Opts{SwapMemory: true}),
		"lstm":               dynamic(rnn.NewLSTM(3), ended),
		"lstm_peepholes":     dynamic(rnn.NewLSTM(3, rnn.LSTMOpts{Peepholes: true, CellClip: 0.3})),
		"lstm_projection":    dynamic(rnn.NewLSTM(3, rnn.LSTMOpts{Peepholes: true, Projection: 2, ProjClip: 0.1, ForgetBias: new(0.0)}), ended),
		"multi":              dynamic(rnn.Multi(rnn.NewBasicLSTM(3), rnn.Residual(rnn.NewGRU(3)), rnn.NewLSTM(2)), ended),
		"device":             dynamic(rnn.OnDevice(rnn.NewLSTM(3), "/cpu:0")),
		"residual":           dynamic(rnn.Residual(rnn.NewGRU(4))),
		"named":              dynamic(rnn.NewGRU(3, rnn.CellOpts{Name: "mine"}), rnn.Opts{Scope: "decoder"}),
		"given": func(x tf.Output) (tf.Output, rnn.State) {
			c := sine(x.Graph(), 3, 3)
			return dynamic(rnn.NewBasicLSTM(3), rnn.Opts{Initial: rnn.State{c, c.Mul(0.5)}})(x)
		},
		"bidirectional": func(x tf.Output) (tf.Output, rnn.State) {
			n := ops.Const(x.Graph(), []int32{5, 2, 0})
			b := rnn.BidirectionalRNN(rnn.NewGRU(3), rnn.NewBasicLSTM(2), x, rnn.BidirectionalOpts{Opts: rnn.Opts{Lengths: n}})
			return b.Output(), append(b.ForwardState, b.BackwardState...)
		},
		"static": func(x tf.Output) (tf.Output, rnn.State) {
			ys, s := rnn.StaticRNN(rnn.NewLSTM(3), x.Unstack(1), rnn.Opts{Lengths: ops.Const(x.Graph(), []int32{5, 2, 0})})
			return ops.Stack(ys, 1), s
		},
		"raw": raw,
	}
}

// raw runs over the lengths 5, 2 and 1 and keeps the sum of its outputs.
func raw(x tf.Output) (tf.Output, rnn.State) {
	g, cell := x.Graph(), rnn.NewLSTM(3)
	n, steps := ops.Const(g, []int32{5, 2, 1}), ops.Transpose(x, []int{1, 0, 2})
	emitted, state, loop := rnn.RawRNN(g, cell, func(time, output tf.Output, s rnn.State, loop []tf.Output) rnn.RawStep {
		if output.IsZero() {
			s = rnn.ZeroState(cell, ops.Scalar(g, int32(3)), tf.Float32)
			loop = []tf.Output{ops.Fill([]int{3, 3}, ops.Scalar(g, float32(0)))}
		} else {
			loop = []tf.Output{loop[0].Add(output)}
		}
		return rnn.RawStep{Finished: time.GreaterEqual(n), Input: ops.Gather(steps, time.Minimum(4), 0), State: s, Loop: loop}
	})
	return ops.Transpose(emitted.Stack(), []int{1, 0, 2}), append(state, loop...)
}

// sine returns sin(i) in a shape.
func sine(g *tf.Graph, s ...int) tf.Output {
	x := make([]float32, tf.Shape(s).NumElements())
	for i := range x {
		x[i] = float32(math.Sin(float64(i)))
	}
	return ops.Const(g, x, s...)
}

// A walked is what TensorFlow made of one network.
type walked struct {
	Variables        []string
	Result           tf.Shape
	Out              []float64
	State, Gradients [][]float64
}

func readWalk(t *testing.T) map[string]*walked {
	t.Helper()
	cases := map[string]*walked{}
	data, err := os.ReadFile("testdata/walk.json")
	if err == nil {
		err = json.Unmarshal(data, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// A model is a network of the walk, built.
type model struct {
	want      *walked
	out       tf.Output
	state     rnn.State
	gradients []tf.Output
	variables []*tf.Variable
}

// build adds a network, in a scope of the given name.
func build(t *testing.T, g *tf.Graph, name string, n network, want *walked) *model {
	t.Helper()
	m := &model{want: want}
	x := sine(g, 3, 5, 4)
	if want.Result[0] == 5 {
		x = sine(g, 5, 3, 4)
	}
	before := len(tf.Variables(g, tf.GlobalVariables))
	vars.Scope(g, name, vars.ScopeOptions{}, func() { m.out, m.state = n(x) })
	if err := m.out.Err(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	m.variables = tf.Variables(g, tf.GlobalVariables)[before:]
	if len(want.Gradients) == 0 { // ids have none
		return m
	}
	loss := ops.Sum(ops.Square(m.out), []int{0, 1, 2})
	for _, s := range m.state {
		loss = loss.Add(s.Sum())
	}
	xs := []tf.Output{x}
	for _, v := range m.variables {
		xs = append(xs, v.Handle())
	}
	gs, err := tf.Gradients(loss, xs...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	m.gradients = gs
	return m
}

// TestWalk restores TensorFlow's checkpoint of every cell by the names of the
// variables and compares outputs, states and gradients; then it saves the
// networks and compares the checkpoints.
func TestWalk(t *testing.T) {
	g, cases, models := tf.NewGraph(), readWalk(t), map[string]*model{}
	all := walk()
	for name, want := range cases {
		if all[name] == nil {
			t.Fatalf("%s: there is no network", name)
		}
		models[name] = build(t, g, name, all[name], want)
	}
	if len(cases) != len(all) {
		t.Errorf("there are %d networks for %d results of TensorFlow", len(all), len(cases))
	}
	saver, err := train.NewSaver(g, train.SaverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, g)
	if err := saver.Restore(t.Context(), s, "testdata/walk.ckpt"); err != nil {
		t.Fatal(err)
	}
	saved, err := saver.Save(t.Context(), s, filepath.Join(t.TempDir(), "walk"))
	if err != nil {
		t.Fatal(err)
	}
	sameCheckpoints(t, "testdata/walk.ckpt", saved)
	for name, m := range models {
		t.Run(name, func(t *testing.T) { m.check(t, s) })
	}
}

func open(t *testing.T, g *tf.Graph) *session.Session {
	t.Helper()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func (m *model) check(t *testing.T, s *session.Session) {
	names := []string{}
	for _, v := range m.variables {
		names = append(names, v.Name())
	}
	if !slices.Equal(names, m.want.Variables) {
		t.Errorf("variables are %v, want %v", names, m.want.Variables)
	}
	fetches := []tf.Fetchable{m.out}
	for _, x := range append(slices.Clone([]tf.Output(m.state)), m.gradients...) {
		fetches = append(fetches, x)
	}
	out, err := s.Run(t.Context(), nil, fetches...)
	if err != nil {
		t.Fatal(err)
	}
	if !out[0].Shape().Equal(m.want.Result) || !m.out.Shape().Compatible(m.want.Result) {
		t.Errorf("the shape is %v, before the step %v, want %v", out[0].Shape(), m.out.Shape(), m.want.Result)
	}
	near(t, "output", out[0], m.want.Out)
	for i, want := range append(slices.Clone(m.want.State), m.want.Gradients...) {
		near(t, fetches[i+1].(tf.Output).Name(), out[i+1], want)
	}
}

func near(t *testing.T, what string, got *tf.Tensor, want []float64) {
	t.Helper()
	data := tf.Data[float32](got)
	if len(data) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(data), len(want))
	}
	for i, x := range data {
		if d := math.Abs(float64(x) - want[i]); !(d <= 2e-5*max(1, math.Abs(want[i]))) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, x, want[i])
		}
	}
}

// sameCheckpoints compares all tensors of two checkpoints.
func sameCheckpoints(t *testing.T, a, b string) {
	t.Helper()
	want, err := train.ListVariables(a)
	if err != nil {
		t.Fatal(err)
	}
	got, err := train.ListVariables(b)
	if err != nil || !slices.EqualFunc(got, want, func(x, y train.VariableInfo) bool {
		return x.Name == y.Name && x.DType == y.DType && x.Shape.Equal(y.Shape)
	}) {
		t.Fatalf("the checkpoint has %v, %v; want %v", got, err, want)
	}
	for _, v := range want {
		x, errX := train.LoadVariable(a, v.Name)
		y, errY := train.LoadVariable(b, v.Name)
		if errX != nil || errY != nil || !tftest.Equal(t, y, x) {
			t.Errorf("%s: %v, %v", v.Name, errX, errY)
		}
	}
}
