package estimator_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/losses"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/train"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// line is the model y = kernel·x + bias, by a model function.
func line(c *estimator.Call) (*estimator.Spec, error) {
	x := c.Features["x"].(tf.Output)
	y := layers.Dense(x, 1)
	s := &estimator.Spec{Mode: c.Mode, Predictions: map[string]tf.Output{"y": y}}
	if c.Mode == estimator.Predict {
		return s, nil
	}
	s.Loss = losses.MeanSquaredError(c.Label(), y)
	if c.Mode == estimator.Eval {
		s.EvalMetrics = map[string]estimator.Metric{"mae": estimator.MetricOf(metrics.MeanAbsoluteError(c.Label(), y))}
		return s, nil
	}
	s.TrainOp = train.Minimize(train.GradientDescent{LearningRate: 0.1}, s.Loss, train.Options{GlobalStep: train.GlobalStep(c.Graph)})
	return s, nil
}

// points returns an input of the line 2x - 1, n batches of 8.
func points(n int64) estimator.InputFn {
	return func(context.Context) (*estimator.Input, error) {
		var xs, ys []float32
		for i := range 32 {
			x := float32(i)/16 - 1
			xs, ys = append(xs, x), append(ys, 2*x-1)
		}
		x, err := tf.FromSlice(xs, 32, 1)
		if err != nil {
			return nil, err
		}
		y, err := tf.FromSlice(ys, 32, 1)
		if err != nil {
			return nil, err
		}
		d := data.FromTensorSlices(x, y).Batch(8, true).Repeat(data.Infinite).Take(n)
		return &estimator.Input{Data: d, Keys: []string{"x", "y"}, Labels: []string{"y"}}, nil
	}
}

func newLine(t *testing.T, dir string) *estimator.Estimator {
	t.Helper()
	e, err := estimator.New(line, estimator.Options{Config: estimator.RunConfig{ModelDir: dir, LogStepCountSteps: -1}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestLifeOfAModel trains, evaluates, predicts and exports, with a second
// estimator that goes on where the first one stopped.
func TestLifeOfAModel(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	e := newLine(t, dir)
	if err := e.Train(ctx, points(1000), estimator.TrainOptions{Steps: 100}); err != nil {
		t.Fatal(err)
	}
	e = newLine(t, dir)
	if err := e.Train(ctx, points(1000), estimator.TrainOptions{MaxSteps: 250}); err != nil {
		t.Fatal(err)
	}
	if step, err := e.GlobalStep(); step != 250 || err != nil {
		t.Fatalf("the step is %d, %v", step, err)
	}
	m, err := e.Evaluate(ctx, points(4), estimator.EvalOptions{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if m["global_step"] != 250 || m["loss"] > 1e-4 || m["mae"] > 1e-2 || m["loss"] <= 0 {
		t.Errorf("got %v", m)
	}
	for _, pattern := range []string{"eval_test/events*", "events*", "graph.pbtxt", "model.ckpt-250.index"} {
		if names, _ := filepath.Glob(filepath.Join(dir, pattern)); len(names) == 0 {
			t.Errorf("no file %s", pattern)
		}
	}
	bias, err := e.VariableValue("dense/bias")
	if err != nil || math.Abs(float64(tf.Data[float32](bias)[0]+1)) > 0.02 {
		t.Errorf("the bias is %v, %v", bias, err)
	}
	predicts(t, e)
	exports(t, e)
}

func predicts(t *testing.T, e *estimator.Estimator) {
	n := 0
	for p, err := range e.Predict(t.Context(), points(4), estimator.PredictOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		want := 2*(float64(n)/16-1) - 1
		if y := p["y"]; y.Rank() != 1 || math.Abs(float64(tf.Data[float32](y)[0])-want) > 0.05 {
			t.Errorf("example %d: got %v, want %v", n, y, want)
		}
		n++
	}
	if n != 32 {
		t.Errorf("%d predictions", n)
	}
	for range e.Predict(t.Context(), points(4), estimator.PredictOptions{}) {
		break // ends the session
	}
}

func exports(t *testing.T, e *estimator.Estimator) {
	receive := estimator.RawReceiver(map[string]tf.ArgSpec{"x": {DType: tf.Float32, Shape: tf.Shape{-1, 1}}})
	dir, err := e.ExportSavedModel(t.Context(), t.TempDir(), receive, estimator.ExportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	s := m.Signature(savedmodel.DefaultSignature)
	x, _ := tf.FromSlice([]float32{0, 1}, 2, 1)
	out, err := s.Run(t.Context(), map[string]any{"x": x})
	if err != nil {
		t.Fatal(err)
	}
	if y := tf.Data[float32](out["y"]); math.Abs(float64(y[0]+1)) > 0.02 || math.Abs(float64(y[1]-1)) > 0.02 {
		t.Errorf("got %v", y)
	}
}

// TestWarmStart begins with the values of another model.
func TestWarmStart(t *testing.T) {
	first := newLine(t, t.TempDir())
	if err := first.Train(t.Context(), points(300), estimator.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	second, err := estimator.New(line, estimator.Options{
		Config:    estimator.RunConfig{ModelDir: t.TempDir()},
		WarmStart: &estimator.WarmStart{From: first.ModelDir(), Vars: "dense/bias"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Train(t.Context(), points(1), estimator.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	bias, err := second.VariableValue("dense/bias")
	if err != nil || math.Abs(float64(tf.Data[float32](bias)[0]+1)) > 0.5 {
		t.Errorf("the bias is %v, %v", bias, err)
	}
}

// TestMistakes: each names what is wrong, and a line of this file.
func TestMistakes(t *testing.T) {
	model := func(f func(c *estimator.Call, s *estimator.Spec)) estimator.ModelFn {
		return func(c *estimator.Call) (*estimator.Spec, error) {
			s, err := line(c)
			if err == nil {
				f(c, s)
			}
			return s, err
		}
	}
	same := model(func(*estimator.Call, *estimator.Spec) {})
	unlabeled := func(ctx context.Context) (*estimator.Input, error) {
		in, err := points(1)(ctx)
		in.Labels = []string{"z"}
		return in, err
	}
	for name, c := range map[string]struct {
		fn    estimator.ModelFn
		input estimator.InputFn
		o     estimator.TrainOptions
		want  string
	}{
		"missing mode": {model(func(_ *estimator.Call, s *estimator.Spec) { s.Mode = "" }), points(1), estimator.TrainOptions{}, "Mode is missing"},
		"other mode":   {model(func(_ *estimator.Call, s *estimator.Spec) { s.Mode = estimator.Eval }), points(1), estimator.TrainOptions{}, `mode of the call, "train", got "eval"`},
		"no train op":  {model(func(_ *estimator.Call, s *estimator.Spec) { s.TrainOp = nil }), points(1), estimator.TrainOptions{}, "Missing train_op."},
		"no loss":      {model(func(_ *estimator.Call, s *estimator.Spec) { s.Loss = tf.Output{} }), points(1), estimator.TrainOptions{}, "Missing loss."},
		"vector loss":  {model(func(c *estimator.Call, s *estimator.Spec) { s.Loss = s.Predictions["y"].Reshape(8) }), points(1), estimator.TrainOptions{}, "Loss must be scalar"},
		"no spec":      {func(*estimator.Call) (*estimator.Spec, error) { return nil, nil }, points(1), estimator.TrainOptions{}, "must return a Spec"},
		"label":        {same, unlabeled, estimator.TrainOptions{}, `the label "z" must be among what the input has: ["x" "y"]`},
		"no input":     {same, nil, estimator.TrainOptions{}, "input function, got nil"},
		"both steps":   {same, points(1), estimator.TrainOptions{Steps: 1, MaxSteps: 2}, "Can not provide both steps and max_steps."},
		"negative":     {same, points(1), estimator.TrainOptions{Steps: -1}, "Must specify steps > 0, given: -1"},
	} {
		e, err := estimator.New(c.fn, estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		err = e.Train(t.Context(), c.input, c.o)
		if err == nil || tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "estimator_test.go:") {
			t.Errorf("%s: got %v", name, err)
		}
		if files, _ := os.ReadDir(e.ModelDir()); len(files) > 0 {
			t.Errorf("%s: files were written", name)
		}
	}
}

// TestTwoModelsInOneDirectory are refused before anything is written.
func TestTwoModelsInOneDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := newLine(t, dir).Train(t.Context(), points(1), estimator.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, fn := range map[string]estimator.ModelFn{
		"is not in": func(c *estimator.Call) (*estimator.Spec, error) {
			c.Features["x"] = layers.Dense(c.Features["x"].(tf.Output), 1, layers.DenseOpts{Name: "hidden"})
			return line(c)
		},
		"has shape": func(c *estimator.Call) (*estimator.Spec, error) {
			x := c.Features["x"].(tf.Output)
			c.Features["x"] = ops.Concat(1, []tf.Output{x, x})
			return line(c)
		},
	} {
		e, err := estimator.New(fn, estimator.Options{Config: estimator.RunConfig{ModelDir: dir}})
		if err != nil {
			t.Fatal(err)
		}
		before, _ := e.LatestCheckpoint()
		err = e.Train(t.Context(), points(1), estimator.TrainOptions{})
		if tf.CodeOf(err) != tf.FailedPrecondition || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "estimator_test.go:") {
			t.Errorf("%s: got %v", name, err)
		}
		if _, err := e.Evaluate(t.Context(), points(1), estimator.EvalOptions{}); tf.CodeOf(err) != tf.FailedPrecondition {
			t.Errorf("%s: evaluation got %v", name, err)
		}
		if after, _ := e.LatestCheckpoint(); after != before {
			t.Errorf("%s: a checkpoint was written", name)
		}
	}
}
