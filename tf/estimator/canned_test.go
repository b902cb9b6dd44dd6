package estimator_test

import (
	"context"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/train"
)

// table returns an input of one batch with a component for each key.
func table(components map[string]any, labels ...string) estimator.InputFn {
	return func(context.Context) (*estimator.Input, error) {
		keys := slices.Sorted(maps.Keys(components))
		var ts []*tf.Tensor
		for _, key := range keys {
			t, err := tf.TensorOf(components[key])
			if err != nil {
				return nil, err
			}
			ts = append(ts, t)
		}
		return &estimator.Input{Data: data.FromTensors(ts...), Keys: keys, Labels: labels}, nil
	}
}

var xOnly = []feature.Column{feature.Numeric("x")}

// TestMistakesOfReadyMadeModels: each names what is wrong, and a line of this
// file.
func TestMistakesOfReadyMadeModels(t *testing.T) {
	x := []float32{1, 2, 3}
	for name, c := range map[string]struct {
		task  estimator.Task
		input estimator.InputFn
		want  string
	}{
		"wrong key":       {estimator.Task{}, table(map[string]any{"z": x, "y": []int64{0, 1, 0}}, "y"), "Feature x is not in features dictionary."},
		"no label":        {estimator.Task{}, table(map[string]any{"x": x}), "You must provide a labels Tensor."},
		"text label":      {estimator.Task{}, table(map[string]any{"x": x, "y": []string{"a", "b", "a"}}, "y"), "labels are strings if"},
		"number label":    {estimator.Task{Head: estimator.HeadOptions{Vocabulary: []string{"a", "b"}}}, table(map[string]any{"x": x, "y": []int64{0, 1, 0}}, "y"), "labels are strings if"},
		"unseen label":    {estimator.Task{Head: estimator.HeadOptions{Vocabulary: []string{"a", "b"}}}, table(map[string]any{"x": x, "y": []string{"a", "b", "c"}}, "y"), "Labels must be >= 0"},
		"label too great": {estimator.Task{Classes: 3}, table(map[string]any{"x": x, "y": []int64{0, 1, 3}}, "y"), "Labels must be <= 3 - 1"},
		"float class":     {estimator.Task{Classes: 3}, table(map[string]any{"x": x, "y": []float32{0, 1, 2}}, "y"), "Labels dtype should be integer"},
		"wide label":      {estimator.Task{}, table(map[string]any{"x": x, "y": [][]int64{{0, 1}, {1, 0}, {0, 0}}}, "y"), "Mismatched label shape"},
		"no weights":      {estimator.Task{Head: estimator.HeadOptions{WeightColumn: "w"}}, table(map[string]any{"x": x, "y": []int64{0, 1, 0}}, "y"), "Feature w is not in features dictionary."},
	} {
		c.task.Config.ModelDir = t.TempDir()
		e, err := estimator.LinearClassifier(estimator.Linear{Columns: xOnly}, c.task)
		if err != nil {
			t.Fatal(err)
		}
		err = e.Train(t.Context(), c.input, estimator.TrainOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) || tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "canned_test.go:") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestBadDescriptions are refused when a model is made, with the line.
func TestBadDescriptions(t *testing.T) {
	linear := estimator.Linear{Columns: xOnly}
	dense := []feature.Dense{feature.Numeric("x")}
	task := estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir()}}
	with := func(f func(*estimator.Task)) estimator.Task {
		one := task
		f(&one)
		return one
	}
	for want, make := range map[string]func() (*estimator.Estimator, error){
		"feature_columns must not be empty": func() (*estimator.Estimator, error) { return estimator.LinearRegressor(estimator.Linear{}, task) },
		"deep network must have columns":    func() (*estimator.Estimator, error) { return estimator.DNNRegressor(estimator.DNN{}, task) },
		"needs a head, got nil":             func() (*estimator.Estimator, error) { return estimator.NewLinear(nil, linear, task) },
		"model needs a head, got nil": func() (*estimator.Estimator, error) {
			return estimator.NewDNN((*estimator.MultiHead)(nil), estimator.DNN{Columns: dense}, task)
		},
		"must have units": func() (*estimator.Estimator, error) {
			return estimator.DNNRegressor(estimator.DNN{Columns: dense, Hidden: []int{0}}, task)
		},
		"must be in [0, 1)": func() (*estimator.Estimator, error) {
			return estimator.DNNRegressor(estimator.DNN{Columns: dense, Dropout: 1}, task)
		},
		"Either linear_feature_columns": func() (*estimator.Estimator, error) {
			return estimator.DNNLinearCombinedRegressor(estimator.Combined{}, task)
		},
		"dnn_hidden_units must be defined": func() (*estimator.Estimator, error) {
			return estimator.DNNLinearCombinedClassifier(estimator.Combined{DNN: estimator.DNN{Columns: dense}}, task)
		},
		"Classes must be at least 2": func() (*estimator.Estimator, error) {
			return estimator.LinearClassifier(linear, with(func(t *estimator.Task) { t.Classes = 1 }))
		},
		"Length of label_vocabulary must be n_classes (2). Given: 3": func() (*estimator.Estimator, error) {
			return estimator.LinearClassifier(linear, with(func(t *estimator.Task) { t.Head.Vocabulary = []string{"a", "b", "c"} }))
		},
		"thresholds not in (0, 1)": func() (*estimator.Estimator, error) {
			return estimator.LinearClassifier(linear, with(func(t *estimator.Task) { t.Head.Thresholds = []float32{1} }))
		},
		"Invalid label_dimension -1": func() (*estimator.Estimator, error) {
			return estimator.LinearRegressor(linear, with(func(t *estimator.Task) { t.Dimension = -1 }))
		},
		"cannot be both set": func() (*estimator.Estimator, error) {
			return estimator.LinearRegressor(linear, with(func(t *estimator.Task) { t.Config.SaveCheckpointsSteps, t.Config.SaveCheckpointsEvery = 1, 1 }))
		},
	} {
		if _, err := make(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "canned_test.go:") {
			t.Errorf("%s: got %v", want, err)
		}
	}
}

// TestSignatures exports a classifier for records and for tensors: TensorFlow's
// signatures, of which those for records need records.
func TestSignatures(t *testing.T) {
	e, err := estimator.LinearClassifier(estimator.Linear{Columns: xOnly}, estimator.Task{
		Config: estimator.RunConfig{ModelDir: t.TempDir()}, Head: estimator.HeadOptions{Vocabulary: []string{"low", "high"}, Thresholds: []float32{0.3}},
	})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := feature.MakeParseSpec(xOnly...)
	if err != nil {
		t.Fatal(err)
	}
	records := estimator.ParsingReceiver(spec)
	if _, err := e.ExportSavedModel(t.Context(), t.TempDir(), records, estimator.ExportOptions{}); tf.CodeOf(err) != tf.NotFound {
		t.Errorf("before training: got %v", err)
	}
	input := table(map[string]any{"x": []float32{-2, -1, 1, 2}, "y": []string{"low", "low", "high", "high"}}, "y")
	for range 20 {
		if err := e.Train(t.Context(), input, estimator.TrainOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	m, err := e.Evaluate(t.Context(), input, estimator.EvalOptions{})
	if err != nil || m["accuracy"] != 1 || m["accuracy/positive_threshold_0.3"] != 1 || m["precision/positive_threshold_0.3"] < 0.999 || m["recall/positive_threshold_0.3"] < 0.999 {
		t.Errorf("got %v, %v", m, err)
	}
	dir := t.TempDir() // two exports in one second have directories of their own
	signatures(t, e, dir, records, []string{"classification", "predict", "regression", "serving_default"})
	signatures(t, e, dir, serveX1, []string{"predict"})
}

var serveX1 = estimator.RawReceiver(map[string]tf.ArgSpec{"x": {DType: tf.Float32, Shape: tf.Shape{-1}}})

func signatures(t *testing.T, e *estimator.Estimator, base string, r estimator.ReceiverFn, want []string) {
	t.Helper()
	dir, err := e.ExportSavedModel(t.Context(), base, r, estimator.ExportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var got []string
	for _, key := range []string{"classification", "predict", "regression", "serving_default"} {
		if m.Signature(key).Err() == nil {
			got = append(got, key)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got signatures %q, want %q", got, want)
	}
	if len(want) == 1 {
		return
	}
	record := string(example.Example{"x": example.Floats(2)}.Marshal())
	out, err := m.Signature("serving_default").Run(t.Context(), map[string]any{"inputs": []string{record}})
	if err != nil {
		t.Fatal(err)
	}
	classes, scores := tf.Data[string](out["classes"]), tf.Data[float32](out["scores"])
	if !slices.Equal(classes, []string{"low", "high"}) || scores[1] < 0.6 || math.Abs(float64(scores[0]+scores[1]-1)) > 1e-5 {
		t.Errorf("got %q %v", classes, scores)
	}
}

// TestAlternatives: signatures of other inputs are beside those of the receiver.
func TestAlternatives(t *testing.T) {
	h, err := estimator.RegressionHead(1, estimator.HeadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := estimator.NewLinear(h, estimator.Linear{Columns: xOnly}, estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Train(t.Context(), table(map[string]any{"x": []float32{1, 2}, "y": []float32{2, 4}}, "y"), estimator.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	receive := func(g *tf.Graph) (*estimator.Receiver, error) {
		text := ops.Placeholder(g, tf.String, tf.Shape{-1})
		x := parsing.StringToNumber(text)
		return &estimator.Receiver{
			Features: feature.Features{"x": x}, Inputs: map[string]tf.Output{"text": text},
			Alternatives: map[string]map[string]tf.Output{"raw": {"x": x}},
		}, nil
	}
	dir, err := e.ExportSavedModel(t.Context(), t.TempDir(), receive, estimator.ExportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	names := m.Signatures()
	if want := []string{"predict", "raw:predict", "regression", savedmodel.DefaultSignature}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

// TestMultiLabel learns two labels that do not exclude one another, with a head that is
// given to each kind of model.
func TestMultiLabel(t *testing.T) {
	deep := estimator.DNN{Columns: []feature.Dense{feature.Numeric("x")}, Hidden: []int{4}}
	for name, make := range map[string]func(*estimator.Head, estimator.Task) (*estimator.Estimator, error){
		"linear": func(h *estimator.Head, t estimator.Task) (*estimator.Estimator, error) {
			return estimator.NewLinear(h, estimator.Linear{Columns: xOnly}, t)
		},
		"deep": func(h *estimator.Head, t estimator.Task) (*estimator.Estimator, error) {
			return estimator.NewDNN(h, deep, t)
		},
		"both": func(h *estimator.Head, t estimator.Task) (*estimator.Estimator, error) {
			both := estimator.Combined{Linear: estimator.Linear{Columns: xOnly, Optimizer: train.GradientDescent{LearningRate: 0.5}}, DNN: deep}
			return estimator.NewCombined(h, both, t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, err := estimator.MultiLabelHead(2, estimator.HeadOptions{Name: "two", Thresholds: []float32{0.5}})
			if err != nil {
				t.Fatal(err)
			}
			e, err := make(h, estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir(), Seed: 1}})
			if err != nil {
				t.Fatal(err)
			}
			learnTwoLabels(t, e)
		})
	}
}

func learnTwoLabels(t *testing.T, e *estimator.Estimator) {
	input := table(map[string]any{"x": []float32{-2, -1, 1, 2}, "y": [][]int64{{1, 0}, {1, 0}, {0, 1}, {0, 1}}}, "y")
	for range 10 {
		if err := e.Train(t.Context(), input, estimator.TrainOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	m, err := e.Evaluate(t.Context(), input, estimator.EvalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"accuracy/positive_threshold_0.5/two", "auc/two", "auc_precision_recall/two", "average_loss/two", "global_step", "loss",
		"precision/positive_threshold_0.5/two", "recall/positive_threshold_0.5/two",
	}
	if got := slices.Sorted(maps.Keys(m)); !slices.Equal(got, want) || m["auc/two"] < 0.99 || m["accuracy/positive_threshold_0.5/two"] != 1 {
		t.Errorf("got %v", m)
	}
}

// TestVocabularyFileTravels exports a model with its vocabulary, and removes that.
func TestVocabularyFileTravels(t *testing.T) {
	file := filepath.Join(t.TempDir(), "words.txt")
	if err := os.WriteFile(file, []byte("good\nbad\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	columns := []feature.Column{feature.VocabularyFile("word", file, 2)}
	e, err := estimator.LinearRegressor(estimator.Linear{Columns: columns}, estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	input := table(map[string]any{"word": []string{"good", "bad"}, "y": []float32{1, -1}}, "y")
	for range 20 {
		if err := e.Train(t.Context(), input, estimator.TrainOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	spec, err := feature.MakeParseSpec(columns...)
	if err != nil {
		t.Fatal(err)
	}
	extra := estimator.ExportOptions{AssetsExtra: map[string]string{"notes/words": file}}
	dir, err := e.ExportSavedModel(t.Context(), t.TempDir(), estimator.ParsingReceiver(spec), extra)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	record := func(word string) string { return string(example.Example{"word": example.Strings(word)}.Marshal()) }
	out, err := m.Signature("serving_default").Run(t.Context(), map[string]any{"inputs": []string{record("good"), record("bad")}})
	if err != nil {
		t.Fatal(err)
	}
	if y := tf.Data[float32](out["outputs"]); y[0] < 0.5 || y[1] > -0.5 {
		t.Errorf("got %v", y)
	}
	if _, err := os.Stat(filepath.Join(dir, "assets.extra", "notes", "words")); err != nil {
		t.Error(err)
	}
	outside := estimator.ExportOptions{AssetsExtra: map[string]string{"../words": file}}
	if _, err := e.ExportSavedModel(t.Context(), t.TempDir(), estimator.ParsingReceiver(spec), outside); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v", err)
	}
}
