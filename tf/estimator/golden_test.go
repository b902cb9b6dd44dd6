package estimator_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// golden is what TensorFlow's estimators computed: see testdata/golden.py.
type golden struct {
	Losses      []float64 // of all 200 steps
	Metrics     map[string]float64
	Predictions map[string][]float64
	Variables   map[string][]int
	Summaries   map[string][]float64 // by tag, of the steps 1 and 101; sums of histograms
}

const goldenBatch = 32

// goldenInput is the batch of golden.py, again and again.
func goldenInput(label string) estimator.InputFn {
	return func(context.Context) (*estimator.Input, error) {
		var age, hours, weight, number []float32
		var jobs []string
		var binary, classes []int64
		for i := range goldenBatch {
			age = append(age, float32(18+(i*7)%50))
			hours = append(hours, float32(float64((i*5)%11)/10))
			jobs = append(jobs, []string{"clerk", "smith", "cook"}[(i*i+1)%3])
			weight = append(weight, float32(1+i%3))
			one := int64(0)
			if (age[i] > 40) != (i%5 == 0) {
				one = 1
			}
			binary = append(binary, one)
			classes = append(classes, int64((i*i+i/4)%3))
			number = append(number, float32(0.1*float64(age[i])+float64(hours[i])))
		}
		labels := map[string]any{"binary": binary, "classes": classes, "number": number}
		var all []*tf.Tensor
		for _, x := range []any{age, hours, jobs, weight, labels[label]} {
			t, err := tf.TensorOf(x)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
		return &estimator.Input{
			Data: data.FromTensors(all...).Repeat(data.Infinite), Keys: []string{"age", "hours", "job", "weight", "label"}, Labels: []string{"label"},
		}, nil
	}
}

func goldenColumns() (wide []feature.Column, deep []feature.Dense) {
	hours := feature.Numeric("hours")
	job := feature.Vocabulary("job", "clerk", "cook", "smith")
	wide = []feature.Column{feature.Bucketized(feature.Numeric("age"), 25, 35, 45, 55), hours, job}
	return wide, []feature.Dense{hours, feature.Indicator(job), feature.Embedding(job, 2)}
}

// watch gives variables of networks the initial values of golden.py, and notes
// the losses.
type watch struct {
	train.BaseHook
	g      *tf.Graph
	loss   tf.Output
	losses []float64
	sets   []func(ctx context.Context, s *session.Session) error
}

func (w *watch) Begin(g *tf.Graph) error {
	w.g = g
	for _, v := range tf.Variables(g, tf.TrainableVariables) {
		if name := v.Name(); len(name) > 4 && name[:4] == "dnn/" {
			if err := w.set(g, v, initial(name, v.Shape().NumElements())); err != nil {
				return err
			}
		}
	}
	summary, err := g.Output("loss:0")
	if err == nil {
		w.loss = summary.Operation().Input(1)
	}
	return err
}

// set notes that a variable begins with a value.
func (w *watch) set(g *tf.Graph, v *tf.Variable, elements []float32) error {
	value, err := tf.FromSlice(elements, v.Shape()...)
	if err != nil {
		return err
	}
	x := placeholder(g, v)
	set := v.Assign(x)
	w.sets = append(w.sets, func(ctx context.Context, s *session.Session) error {
		_, err := s.Run(ctx, session.Feeds{x: value}, set)
		return err
	})
	return nil
}

// initial is the function of golden.py.
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

func (w *watch) AfterCreateSession(ctx context.Context, s *session.Session, _ *train.Coordinator) error {
	for _, set := range w.sets {
		if err := set(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func (w *watch) BeforeRun(context.Context, *train.RunContext) (train.RunArgs, error) {
	return train.RunArgs{Fetches: []tf.Fetchable{w.loss}}, nil
}

func (w *watch) AfterRun(_ context.Context, _ *train.RunContext, v train.RunValues) error {
	w.losses = append(w.losses, float64(tf.Data[float32](v.Results[0])[0]))
	return nil
}

// canned makes the estimators of golden.py.
func canned(kind string, t estimator.Task) (*estimator.Estimator, error) {
	wide, deep := goldenColumns()
	linear := estimator.Linear{Columns: wide}
	switch kind {
	case "linear_classifier":
		return estimator.LinearClassifier(linear, t)
	case "linear_classifier_weighted":
		t.Head.WeightColumn = "weight"
		return estimator.LinearClassifier(linear, t)
	case "linear_multi":
		t.Classes = 3
		return estimator.LinearClassifier(linear, t)
	case "linear_regressor":
		return estimator.LinearRegressor(linear, t)
	case "dnn_classifier":
		return estimator.DNNClassifier(estimator.DNN{Columns: deep, Hidden: []int{8, 4}}, t)
	case "dnn_regressor":
		return estimator.DNNRegressor(estimator.DNN{Columns: deep, Hidden: []int{8}, BatchNorm: true, Optimizer: train.Adam{LearningRate: 0.001}}, t)
	case "combined":
		return estimator.DNNLinearCombinedClassifier(estimator.Combined{Linear: linear, DNN: estimator.DNN{Columns: deep, Hidden: []int{8, 4}}}, t)
	case "baseline":
		t.Classes = 3
		return estimator.BaselineClassifier(estimator.Baseline{}, t)
	}
	return estimator.BaselineRegressor(estimator.Baseline{}, t)
}

var goldenLabels = map[string]string{
	"linear_multi": "classes", "baseline": "classes", "linear_regressor": "number", "dnn_regressor": "number", "baseline_regressor": "number",
}

// TestCannedAsTensorFlow compares losses over 200 steps, metrics, predictions and
// variables with those of TensorFlow's estimators.
func TestCannedAsTensorFlow(t *testing.T) {
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]golden
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if len(all) != 9 {
		t.Fatalf("%d models", len(all))
	}
	for kind, want := range all {
		t.Run(kind, func(t *testing.T) {
			label := goldenLabels[kind]
			if label == "" {
				label = "binary"
			}
			e, err := canned(kind, estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir(), LogStepCountSteps: -1}})
			if err != nil {
				t.Fatal(err)
			}
			asTensorFlow(t, e, goldenInput(label), want)
		})
	}
}

func asTensorFlow(t *testing.T, e *estimator.Estimator, input estimator.InputFn, want golden) {
	w := &watch{}
	if err := e.Train(t.Context(), input, estimator.TrainOptions{Steps: 200, Hooks: []train.Hook{w}}); err != nil {
		t.Fatal(err)
	}
	if len(w.losses) != 200 || len(want.Losses) != 200 {
		t.Fatalf("%d losses, want %d", len(w.losses), len(want.Losses))
	}
	for i, loss := range want.Losses {
		near(t, fmt.Sprint("the loss of step ", i), w.losses[i], loss)
	}
	m, err := e.Evaluate(t.Context(), input, estimator.EvalOptions{Steps: 1})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(m)), slices.Sorted(maps.Keys(want.Metrics))) {
		t.Errorf("got metrics %v, want %v", m, want.Metrics)
	}
	for key, v := range want.Metrics {
		near(t, key, m[key], v)
	}
	sameVariables(t, e, want.Variables)
	sameSummaries(t, e.ModelDir(), want.Summaries)
	for p, err := range e.Predict(t.Context(), input, estimator.PredictOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		samePredictions(t, p, want.Predictions)
		break
	}
}

// near allows what rounding adds up to in 200 steps.
func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-4*max(1, math.Abs(want))) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func sameVariables(t *testing.T, e *estimator.Estimator, want map[string][]int) {
	names, err := e.VariableNames()
	if err != nil {
		t.Fatal(err)
	}
	wanted := slices.Collect(maps.Keys(want))
	slices.Sort(wanted)
	if !slices.Equal(names, wanted) {
		t.Errorf("got variables %q,\nwant %q", names, wanted)
	}
	for name, shape := range want {
		if v, err := e.VariableValue(name); err == nil && !v.Shape().Equal(append(tf.Shape{}, shape...)) {
			t.Errorf("%s has shape %v, want %v", name, v.Shape(), shape)
		}
	}
}

// sameSummaries compares the scalars and the sums of histograms in event files,
// except for the rate of steps.
func sameSummaries(t *testing.T, dir string, want map[string][]float64) {
	t.Helper()
	got := map[string][]float64{}
	for _, e := range eventsIn(t, dir) {
		for _, v := range e.GetSummary().GetValue() {
			x := float64(v.GetSimpleValue())
			if h := v.GetHisto(); h != nil {
				x = h.GetSum()
			}
			if v.GetTag() != "global_step/sec" {
				got[v.GetTag()] = append(got[v.GetTag()], x)
			}
		}
	}
	if a, b := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(a, b) {
		t.Errorf("got summaries %q, want %q", a, b)
	}
	for tag, values := range want {
		if len(got[tag]) != len(values) {
			t.Errorf("%s: got %v, want %v", tag, got[tag], values)
			continue
		}
		for i, v := range values {
			near(t, tag, got[tag][i], v)
		}
	}
}

func samePredictions(t *testing.T, got map[string]*tf.Tensor, want map[string][]float64) {
	for key, values := range want {
		x := got[key]
		if x == nil || x.Len() != len(values) {
			t.Errorf("%s: got %v, want %v", key, x, values)
			continue
		}
		for i, v := range values {
			switch y := x.At(i).(type) {
			case float32:
				near(t, key, float64(y), v)
			case int64:
				near(t, key, float64(y), v)
			case int32:
				near(t, key, float64(y), v)
			}
		}
	}
}

func placeholder(g *tf.Graph, v *tf.Variable) tf.Output {
	return tf.Apply(g, "Placeholder", nil, tf.Attr("dtype", v.DType()), tf.Attr("shape", v.Shape())).Output(0)
}

// TestCheckpointOfTensorFlow evaluates and continues from a checkpoint that
// TensorFlow's estimator has written.
func TestCheckpointOfTensorFlow(t *testing.T) {
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]golden
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	want := all["combined"]
	const path = "testdata/python/model.ckpt-200"
	e, err := canned("combined", estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir()}, WarmStart: &estimator.WarmStart{From: path}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.Evaluate(t.Context(), goldenInput("binary"), estimator.EvalOptions{Steps: 1, Checkpoint: path})
	if err != nil {
		t.Fatal(err)
	}
	for key, v := range want.Metrics {
		near(t, key, m[key], v)
	}
	w := &lossWatch{}
	if err := e.Train(t.Context(), goldenInput("binary"), estimator.TrainOptions{Steps: 1, Hooks: []train.Hook{w}}); err != nil {
		t.Fatal(err)
	}
	near(t, "the loss of the first step", w.losses[0], want.Metrics["loss"])
}

// lossWatch is a watch that leaves initial values alone.
type lossWatch struct{ watch }

func (w *lossWatch) Begin(g *tf.Graph) error {
	defer func() { w.sets = nil }()
	return w.watch.Begin(g)
}
