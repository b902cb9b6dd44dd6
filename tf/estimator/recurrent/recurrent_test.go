package recurrent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/estimator/recurrent"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

func TestMain(m *testing.M) {
	slog.SetLogLoggerLevel(slog.LevelWarn)
	leaktest.Main(m)
}

// golden is what TensorFlow's estimators computed: see testdata/rnn.py.
type golden struct {
	Losses      []float64
	Metrics     map[string]float64
	Predictions []map[string][]any
	Variables   map[string][]int
}

var (
	lengths = []int{4, 1, 3}
	words   = []string{"a", "b", "c"}
)

// ragged returns the first values as a sparse tensor of sequences.
func ragged[T any](g *tf.Graph, values []T) sparse.Tensor {
	var at []int64
	for i, n := range lengths {
		for j := range n {
			at = append(at, int64(i), int64(j))
		}
	}
	n := len(at) / 2
	x, err := tf.TensorOf(values[:n])
	if err != nil {
		panic(err)
	}
	return sparse.Tensor{Indices: ops.Const(g, at, n, 2), Values: ops.ConstTensor(g, x), DenseShape: ops.Const(g, []int64{3, 4})}
}

// examples adds the features and all labels of rnn.py.
func examples(g *tf.Graph) (f, labels feature.Features) {
	var word, steps, third []int64
	var num, weights, numbers []float32
	var names []string
	for i := range 12 {
		word, steps, third = append(word, int64(i*i%5)), append(steps, int64(i%2)), append(third, int64(i%3))
		num, weights = append(num, float32(math.Sin(float64(i)*1.3))), append(weights, float32(1+i%3))
		numbers = append(numbers, float32(float64(i)*0.1), float32(math.Cos(float64(i))))
		names = append(names, words[i*i%3])
	}
	f = feature.Features{
		"word": ragged(g, word), "num": ragged(g, num), "context": ops.Const(g, []float32{1, -0.5, 0.25}, 3, 1),
		"weight": ops.Const(g, []float32{1, 2, 0.5}), "weights": ops.Const(g, weights, 3, 4),
	}
	labels = feature.Features{
		"one": ops.Const(g, []int64{0, 1, 1}), "classes": ops.Const(g, []int64{2, 0, 1}), "number": ops.Const(g, []float32{0.5, -1, 2}),
		"steps": ops.Const(g, steps, 3, 4), "words": ops.Const(g, names, 3, 4), "numbers": ops.Const(g, numbers, 3, 4, 2), "sparse": ragged(g, third),
	}
	return f, labels
}

func input(label string) estimator.InputFn {
	return func(context.Context) (*estimator.Input, error) {
		x, err := tf.FromSlice([]float32{0})
		if err != nil {
			return nil, err
		}
		return &estimator.Input{Data: data.FromTensors(x).Repeat(data.Infinite), Keys: []string{"x"}, Labels: []string{label}, Map: func(in feature.Features) feature.Features {
			f, labels := examples(in["x"].(tf.Output).Graph())
			f[label] = labels[label]
			return f
		}}, nil
	}
}

// initial is the function of rnn.py.
func initial(name string, n int) []float32 {
	seed := 0
	for _, c := range name {
		seed += int(c)
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(math.Sin(float64(i)*1.7+float64(seed%17)) * 0.3)
	}
	return out
}

// watch gives variables the initial values of rnn.py, and notes the losses.
type watch struct {
	train.BaseHook
	sets   []tf.Fetchable
	loss   tf.Output
	losses []float64
}

func (w *watch) Begin(g *tf.Graph) error {
	for _, v := range tf.Variables(g, tf.TrainableVariables) {
		w.sets = append(w.sets, v.Assign(ops.Const(g, initial(v.Name(), v.Shape().NumElements()), v.Shape()...)))
	}
	summary, err := g.Output("loss:0")
	if err == nil {
		w.loss = summary.Operation().Input(1)
	}
	return err
}

func (w *watch) AfterCreateSession(ctx context.Context, s *session.Session, _ *train.Coordinator) error {
	_, err := s.Run(ctx, nil, w.sets...)
	return err
}

func (w *watch) BeforeRun(context.Context, *train.RunContext) (train.RunArgs, error) {
	return train.RunArgs{Fetches: []tf.Fetchable{w.loss}}, nil
}

func (w *watch) AfterRun(_ context.Context, _ *train.RunContext, v train.RunValues) error {
	w.losses = append(w.losses, float64(tf.Data[float32](v.Results[0])[0]))
	return nil
}

func network(units ...int) recurrent.Network {
	word := feature.Embedding(feature.Sequence(feature.Identity("word", 5)), 2)
	return recurrent.Network{Sequence: []feature.SequenceDense{word, feature.SequenceNumeric("num")}, Context: []feature.Dense{feature.Numeric("context")}, Units: units}
}

// models are those of rnn.py, with the keys of their labels.
var models = map[string]struct {
	label string
	make  func(t estimator.Task) (*estimator.Estimator, error)
}{
	"simple": {"one", func(t estimator.Task) (*estimator.Estimator, error) { return recurrent.Classifier(network(4), t) }},
	"lstm": {"one", func(t estimator.Task) (*estimator.Estimator, error) {
		t.Head.WeightColumn = "weight"
		return recurrent.Classifier(typed(recurrent.LSTM, 4), t)
	}},
	"gru": {"classes", func(t estimator.Task) (*estimator.Estimator, error) {
		t.Classes = 3
		return recurrent.Classifier(typed(recurrent.GRU, 4), t)
	}},
	"stacked": {"one", func(t estimator.Task) (*estimator.Estimator, error) {
		return recurrent.Classifier(typed(recurrent.LSTM, 4, 3), t)
	}},
	"simple_steps": {"steps", func(t estimator.Task) (*estimator.Estimator, error) {
		return recurrent.Classifier(stepwise(typed(recurrent.SimpleRNN, 4)), t)
	}},
	"lstm_steps": {"steps", func(t estimator.Task) (*estimator.Estimator, error) {
		t.Head.WeightColumn = "weights"
		return recurrent.Classifier(stepwise(typed(recurrent.LSTM, 4, 3)), t)
	}},
	"gru_steps": {"words", func(t estimator.Task) (*estimator.Estimator, error) {
		t.Classes, t.Head.Vocabulary = 3, words
		return recurrent.Classifier(stepwise(typed(recurrent.GRU, 4)), t)
	}},
	"sparse_steps": {"sparse", func(t estimator.Task) (*estimator.Estimator, error) {
		t.Classes = 3
		return recurrent.Classifier(stepwise(typed(recurrent.GRU, 4)), t)
	}},
	"sum": {"one", func(t estimator.Task) (*estimator.Estimator, error) {
		sum := losses.Sum
		t.Head.Reduction = &sum
		return recurrent.Classifier(network(4), t)
	}},
	"regression": {"number", func(t estimator.Task) (*estimator.Estimator, error) {
		h, err := estimator.RegressionHead(1, estimator.HeadOptions{MeanLoss: true})
		if err != nil {
			return nil, err
		}
		n := typed(recurrent.GRU, 4)
		n.Optimizer = train.GradientDescent{LearningRate: 0.1}
		return recurrent.New(h, n, t)
	}},
	"regression_steps": {"numbers", func(t estimator.Task) (*estimator.Estimator, error) {
		h, err := estimator.RegressionHead(2, estimator.HeadOptions{MeanLoss: true, WeightColumn: "weights"})
		if err != nil {
			return nil, err
		}
		s, err := estimator.NewSequentialHead(h, estimator.SequentialOptions{Mask: "mine"})
		if err != nil {
			return nil, err
		}
		return recurrent.New(s, stepwise(typed(recurrent.LSTM, 4)), t)
	}},
}

func typed(kind recurrent.CellType, units ...int) recurrent.Network {
	n := network(units...)
	n.Type = kind
	return n
}

func stepwise(n recurrent.Network) recurrent.Network {
	n.Sequences = true
	return n
}

// TestAsTensorFlow compares losses, metrics, predictions and variables with those of
// TensorFlow 2.15's recurrent estimators.
func TestAsTensorFlow(t *testing.T) {
	text, err := os.ReadFile("testdata/rnn.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]golden
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != len(models) {
		t.Fatalf("%d models, want %d", len(models), len(all))
	}
	for name, want := range all {
		t.Run(name, func(t *testing.T) { asTensorFlow(t, name, want) })
	}
}

func asTensorFlow(t *testing.T, name string, want golden) {
	m := models[name]
	e, err := m.make(estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir(), LogStepCountSteps: -1}})
	if err != nil {
		t.Fatal(err)
	}
	w := &watch{}
	if err := e.Train(t.Context(), input(m.label), estimator.TrainOptions{Steps: 20, Hooks: []train.Hook{w}}); err != nil {
		t.Fatal(err)
	}
	if len(w.losses) != len(want.Losses) {
		t.Fatalf("%d losses, want %d", len(w.losses), len(want.Losses))
	}
	for i, loss := range want.Losses {
		near(t, fmt.Sprint("the loss of step ", i), w.losses[i], loss)
	}
	got, err := e.Evaluate(t.Context(), input(m.label), estimator.EvalOptions{Steps: 1})
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(got, func(key string, _ float64) bool { return strings.HasPrefix(key, "auc") })
	if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want.Metrics))) {
		t.Errorf("got metrics %v, want %v", got, want.Metrics)
	}
	for key, v := range want.Metrics {
		near(t, key, got[key], v)
	}
	sameVariables(t, e, want.Variables)
	i := 0
	for p, err := range e.Predict(t.Context(), input(m.label), estimator.PredictOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if samePrediction(t, p, want.Predictions[i]); i == 2 {
			break
		}
		i++
	}
}

func sameVariables(t *testing.T, e *estimator.Estimator, want map[string][]int) {
	t.Helper()
	names, err := e.VariableNames()
	if err != nil {
		t.Fatal(err)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return strings.Contains(n, "Adagrad") })
	if !slices.Equal(names, slices.Sorted(maps.Keys(want))) {
		t.Errorf("got variables %q, want %v", names, want)
	}
	for name, shape := range want {
		if v, err := e.VariableValue(name); err == nil && !v.Shape().Equal(append(tf.Shape{}, shape...)) {
			t.Errorf("%s has shape %v, want %v", name, v.Shape(), shape)
		}
	}
}

func samePrediction(t *testing.T, got map[string]*tf.Tensor, want map[string][]any) {
	t.Helper()
	if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
		t.Errorf("got predictions %v, want %v", got, want)
		return
	}
	for key, values := range want {
		if got[key].Len() != len(values) {
			t.Errorf("%s: got %v, want %v", key, got[key], values)
			continue
		}
		for i, v := range values {
			switch x := got[key].At(i).(type) {
			case float32:
				near(t, key, float64(x), v.(float64))
			case bool:
				if x != (v.(float64) == 1) {
					t.Errorf("%s: got %v, want %v", key, got[key], values)
				}
			default:
				if fmt.Sprint(x) != fmt.Sprint(v) {
					t.Errorf("%s: got %v, want %v", key, got[key], values)
				}
			}
		}
	}
}

// near allows what rounding adds up to in 20 steps.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-4*max(1, math.Abs(want))) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// TestOwnCell: a cell of package rnn instead of units.
func TestOwnCell(t *testing.T) {
	n := network()
	n.Cell = func() rnn.Cell { return rnn.NewLSTM(3) }
	e, err := recurrent.Classifier(n, estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir(), LogStepCountSteps: -1}})
	if err != nil {
		t.Fatal(err)
	}
	w := &watch{}
	if err := e.Train(t.Context(), input("one"), estimator.TrainOptions{Steps: 60, Hooks: []train.Hook{w}}); err != nil {
		t.Fatal(err)
	}
	if last := w.losses[59]; !(last < w.losses[0]*0.95) {
		t.Errorf("the loss went from %v to %v", w.losses[0], last)
	}
	if _, err := e.VariableValue("rnn_model/rnn/lstm_cell/kernel"); err != nil {
		t.Error(err)
	}
}

// TestRefuses: mistakes are found before anything is trained.
func TestRefuses(t *testing.T) {
	one, err := estimator.BinaryHead(estimator.HeadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	steps, err := estimator.NewSequentialHead(one, estimator.SequentialOptions{})
	if err != nil {
		t.Fatal(err)
	}
	both := network(3)
	both.Cell = func() rnn.Cell { return rnn.NewLSTM(3) }
	for want, f := range map[string]func() error{
		"must not be specified when using rnn_cell_fn": func() error { return of(recurrent.New(one, both, estimator.Task{})) },
		"Supported strings are":                        func() error { return of(recurrent.New(one, typed("other", 2), estimator.Task{})) },
		"needs the units of its layers, or a cell":     func() error { return of(recurrent.New(one, network(), estimator.Task{})) },
		"layers must have units":                       func() error { return of(recurrent.New(one, network(3, 0), estimator.Task{})) },
		"sequence_feature_columns must not be empty":   func() error { return of(recurrent.New(one, recurrent.Network{Units: []int{1}}, estimator.Task{})) },
		"must be a `_SequentialHead` object":           func() error { return of(recurrent.New(one, stepwise(network(3)), estimator.Task{})) },
		"Sequences is false":                           func() error { return of(recurrent.New(steps, network(3), estimator.Task{})) },
		"needs a head, got nil":                        func() error { return of(recurrent.New(nil, network(3), estimator.Task{})) },
		"network needs a head, got nil":                func() error { return of(recurrent.New((*estimator.Head)(nil), network(3), estimator.Task{})) },
		"n_classes must be at least 3":                 func() error { return of(recurrent.Classifier(network(3), estimator.Task{Classes: 1})) },
	} {
		if err := f(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func of(_ *estimator.Estimator, err error) error { return err }
