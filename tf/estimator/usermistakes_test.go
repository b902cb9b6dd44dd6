package estimator_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/feature"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/metrics"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// changed is the model of a line, changed by f.
func changed(f func(c *estimator.Call, s *estimator.Spec)) estimator.ModelFn {
	return func(c *estimator.Call) (*estimator.Spec, error) {
		s, err := line(c)
		if err == nil {
			f(c, s)
		}
		return s, err
	}
}

// oneStep trains a model function for a step.
func oneStep(fn estimator.ModelFn, o estimator.Options, in estimator.InputFn) func(t *testing.T) error {
	return func(t *testing.T) error {
		if o.Config.ModelDir == "" {
			o.Config.ModelDir = t.TempDir()
		}
		e, err := estimator.New(fn, o)
		if err != nil {
			return err
		}
		return e.Train(t.Context(), in, estimator.TrainOptions{Steps: 1})
	}
}

// exporting trains a line whose only export output f returns.
func exporting(f func(s *estimator.Spec) estimator.ExportOutput) func(t *testing.T) error {
	return oneStep(changed(func(_ *estimator.Call, s *estimator.Spec) {
		s.ExportOutputs = map[string]estimator.ExportOutput{"serving_default": f(s)}
	}), estimator.Options{}, points(1))
}

// linearOf trains a ready-made linear model for a step.
func linearOf(in estimator.InputFn, columns ...feature.Column) func(t *testing.T) error {
	return func(t *testing.T) error {
		e, err := estimator.LinearRegressor(estimator.Linear{Columns: columns}, estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
		if err != nil {
			return err
		}
		return e.Train(t.Context(), in, estimator.TrainOptions{Steps: 1})
	}
}

// logitsOf trains a model whose logits f makes of x, [batch 1].
func logitsOf(f func(c *estimator.Call, x tf.Output) tf.Output) func(t *testing.T) error {
	return oneStep(func(c *estimator.Call) (*estimator.Spec, error) {
		h, err := estimator.RegressionHead(1, estimator.HeadOptions{})
		if err != nil {
			return nil, err
		}
		return h.Spec(c, f(c, c.Features["x"].(tf.Output).Reshape(-1, 1)), estimator.Minimizer(train.GradientDescent{LearningRate: 0.1}))
	}, estimator.Options{}, points(1))
}

// recurrent trains a network over sequences [8 1 1] with a cell's state and lengths.
func recurrent(f func(x tf.Output) (tf.Output, rnn.State)) func(t *testing.T) error {
	return logitsOf(func(_ *estimator.Call, x tf.Output) tf.Output {
		y, _ := f(ops.ExpandDims(x, 2))
		return layers.Dense(layers.Flatten(y), 1)
	})
}

// trainedLine is the directory of a trained line.
func trainedLine(t *testing.T) *estimator.Estimator {
	t.Helper()
	e := here(t)
	if err := e.Train(t.Context(), points(1), estimator.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	return e
}

// here is an untrained line that is made in this file.
func here(t *testing.T) *estimator.Estimator {
	t.Helper()
	e, err := estimator.New(line, estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// warm trains a line from a checkpoint by some settings.
func warm(f func(from string) *estimator.WarmStart, fn estimator.ModelFn) func(t *testing.T) error {
	return func(t *testing.T) error {
		return oneStep(fn, estimator.Options{WarmStart: f(trainedLine(t).ModelDir())}, points(1))(t)
	}
}

func userMistakes(t *testing.T) map[string]struct {
	want string
	f    func(t *testing.T) error
} {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	other := func() tf.Output { return ops.Scalar(tf.NewGraph(), float32(1)) }
	x, y := []float32{1, 2, 3}, []float32{2, 4, 6}
	plain := table(map[string]any{"x": x, "y": y}, "y")
	return map[string]struct {
		want string
		f    func(t *testing.T) error
	}{
		"scores that are counts": {"Classification scores must be a float32 Tensor", exporting(func(s *estimator.Spec) estimator.ExportOutput {
			return estimator.ClassificationOutput{Scores: s.Loss.Cast(tf.Int64)}
		})},
		"classes that are numbers": {"Classification classes must be a string Tensor", exporting(func(s *estimator.Spec) estimator.ExportOutput {
			return estimator.ClassificationOutput{Scores: s.Loss, Classes: s.Loss.Cast(tf.Int64)}
		})},
		"no scores and no classes": {"At least one of `scores` and `classes`", exporting(func(*estimator.Spec) estimator.ExportOutput { return estimator.ClassificationOutput{} })},
		"a regression of counts": {"Regression output value must be a float32 Tensor", exporting(func(s *estimator.Spec) estimator.ExportOutput {
			return estimator.RegressionOutput{Value: s.Loss.Cast(tf.Int32)}
		})},
		"a regression of nothing": {"Regression output value must be", exporting(func(*estimator.Spec) estimator.ExportOutput { return estimator.RegressionOutput{} })},
		"a prediction of nothing": {"Prediction output value must be a Tensor", exporting(func(*estimator.Spec) estimator.ExportOutput {
			return estimator.PredictOutput{Outputs: map[string]tf.Output{"y": {}}}
		})},
		"no export output": {"got nil for \"serving_default\"", exporting(func(*estimator.Spec) estimator.ExportOutput { return nil })},
		"integer loss":     {"Loss must be a floating-point number", oneStep(changed(func(c *estimator.Call, s *estimator.Spec) { s.Loss = s.Loss.Cast(tf.Int32) }), estimator.Options{}, points(1))},
		"constant loss": {"No gradients provided for any variable", oneStep(func(c *estimator.Call) (*estimator.Spec, error) {
			loss := c.Label().Sum()
			return &estimator.Spec{Mode: c.Mode, Loss: loss, TrainOp: estimator.Minimizer(train.GradientDescent{LearningRate: 1})(loss)}, nil
		}, estimator.Options{}, points(1))},
		"metric of another graph": {"must be of the call's graph", func(t *testing.T) error {
			e, err := estimator.New(changed(func(c *estimator.Call, s *estimator.Spec) {
				s.EvalMetrics = map[string]estimator.Metric{"m": estimator.MetricOf(metrics.Mean(other()))}
			}), estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
			if err != nil {
				return err
			}
			_, err = e.Evaluate(t.Context(), points(1), estimator.EvalOptions{})
			return err
		}},
		"loss of another graph":        {"must be of the call's graph", oneStep(changed(func(c *estimator.Call, s *estimator.Spec) { s.Loss = other() }), estimator.Options{}, points(1))},
		"train op of another graph":    {"must be of the call's graph", oneStep(changed(func(c *estimator.Call, s *estimator.Spec) { s.TrainOp = other().Operation() }), estimator.Options{}, points(1))},
		"a feature that there is not":  {`there is no "z", there are ["x"]`, logitsOf(func(c *estimator.Call, _ tf.Output) tf.Output { return c.Feature("z") })},
		"a feature that is not sparse": {`feature "x" is asked for as a sparse.Tensor, it is a tf.Output`, logitsOf(func(c *estimator.Call, _ tf.Output) tf.Output { return c.SparseFeature("x").Values })},
		"features that are slices": {`a feature must be a tf.Output or a sparse.Tensor, "x" is a []float32`, func(t *testing.T) error {
			e, err := estimator.BaselineRegressor(estimator.Baseline{}, estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
			if err != nil {
				return err
			}
			return e.Train(t.Context(), func(ctx context.Context) (*estimator.Input, error) {
				in, err := points(1)(ctx)
				if err == nil {
					in.Map = func(f feature.Features) feature.Features {
						return feature.Features{"x": x, in.Labels[0]: f[in.Labels[0]]}
					}
				}
				return in, err
			}, estimator.TrainOptions{Steps: 1})
		}},
		"warm start, none of the variables": {`the names of none begin as "none" says`, warm(func(d string) *estimator.WarmStart { return &estimator.WarmStart{From: d, Vars: "none"} }, line)},
		"warm start from nowhere":           {"/nowhere", warm(func(string) *estimator.WarmStart { return &estimator.WarmStart{From: "/nowhere"} }, line)},
		"warm start, bad pattern":           {"must be a regular expression", warm(func(d string) *estimator.WarmStart { return &estimator.WarmStart{From: d, Vars: "("} }, line)},
		"warm start, unknown name": {"w was not used", warm(func(d string) *estimator.WarmStart {
			return &estimator.WarmStart{From: d, Names: map[string]string{"w": "weight"}}
		}, line)},
		"warm start, another shape": {"Tensor w is not found", warm(func(d string) *estimator.WarmStart { return &estimator.WarmStart{From: d} }, func(c *estimator.Call) (*estimator.Spec, error) {
			w := vars.Get(c.Graph, "w", tf.Shape{3})
			loss := w.Value().Sum()
			return &estimator.Spec{Mode: c.Mode, Loss: loss, TrainOp: estimator.Minimizer(train.GradientDescent{LearningRate: 1})(loss)}, nil
		})},
		"evaluation of no checkpoint": {"there must be a checkpoint", func(t *testing.T) error {
			_, err := here(t).Evaluate(t.Context(), points(1), estimator.EvalOptions{Checkpoint: "/nowhere/model.ckpt-1"})
			return err
		}},
		"model directory is a file": {"ModelDir must be a directory", oneStep(line, estimator.Options{Config: estimator.RunConfig{ModelDir: file}}, points(1))},
		"export into a file": {"directory for exports cannot be read", func(t *testing.T) error {
			_, err := trainedLine(t).ExportSavedModel(t.Context(), file, serveX, estimator.ExportOptions{})
			return err
		}},
		"export without the feature": {"Feature x is not in features dictionary", func(t *testing.T) error {
			e, err := estimator.LinearRegressor(estimator.Linear{Columns: xOnly}, estimator.Task{Config: estimator.RunConfig{ModelDir: t.TempDir()}})
			if err != nil {
				return err
			}
			if err := e.Train(t.Context(), plain, estimator.TrainOptions{}); err != nil {
				return err
			}
			_, err = e.ExportSavedModel(t.Context(), t.TempDir(), estimator.RawReceiver(map[string]tf.ArgSpec{"z": {DType: tf.Float32, Shape: tf.Shape{-1}}}), estimator.ExportOptions{})
			return err
		}},
		"exporter without receiver": {"an exporter needs a receiver function", func(t *testing.T) error {
			_, err := estimator.TrainAndEvaluate(t.Context(), here(t), estimator.TrainSpec{Input: points(1)}, estimator.EvalSpec{Input: points(1), Exporters: []estimator.Exporter{&estimator.FinalExporter{Label: "f"}}})
			return err
		}},
		"fewer labels than features": {"labels shape must be [D0, D1, ... DN, 1]", linearOf(table(map[string]any{"x": x, "y": y[:2]}, "y"), xOnly...)},
		"numbers of strings":         {"a numeric column needs numbers", linearOf(table(map[string]any{"x": []string{"1", "2", "3"}, "y": y}, "y"), xOnly...)},
		"numbers of a matrix":        {"column x has 1 numbers", linearOf(table(map[string]any{"x": [][]float32{{1, 2}, {1, 2}, {1, 2}}, "y": y}, "y"), xOnly...)},
		"words of numbers":           {"must be compatible. key: x", linearOf(table(map[string]any{"x": x, "y": y}, "y"), feature.Vocabulary("x", "a", "b"))},
		"hashes of numbers":          {"must be compatible. key: x", linearOf(table(map[string]any{"x": x, "y": y}, "y"), feature.Hashed("x", 10))},
		"ids out of range":           {"ids of column x", linearOf(table(map[string]any{"x": []int64{0, 1, 9}, "y": y}, "y"), feature.Identity("x", 3))},
		"nil column":                 {"a column must not be nil", linearOf(plain, nil)},
		"columns twice":              {"Duplicate feature column name", linearOf(plain, feature.Numeric("x"), feature.Numeric("x"))},
		"text as label of numbers":   {"labels are strings if", linearOf(table(map[string]any{"x": x, "y": []string{"a", "b", "c"}}, "y"), xOnly...)},
		"map that returns nothing": {"the label \"y\" must be among", linearOf(func() estimator.InputFn {
			return mapped(plain, func(feature.Features) feature.Features { return nil })
		}(), xOnly...)},
		"map that loses the label": {"the label \"y\" must be among", linearOf(mapped(plain, func(f feature.Features) feature.Features { return feature.Features{"x": f["x"]} }), xOnly...)},
		"logits of two":            {"logits must be float32 [batch 1]", logitsOf(func(_ *estimator.Call, x tf.Output) tf.Output { return layers.Dense(x, 2) })},
		"logits of float64":        {"logits must be float32 [batch 1]", logitsOf(func(_ *estimator.Call, x tf.Output) tf.Output { return layers.Dense(x.Cast(tf.Float64), 1) })},
		"no logits":                {"a head needs logits", logitsOf(func(*estimator.Call, tf.Output) (none tf.Output) { return none })},
		"state of another cell": {"must be [batch 4]", recurrent(func(x tf.Output) (tf.Output, rnn.State) {
			return rnn.DynamicRNN(rnn.NewGRU(4), x, rnn.Opts{Initial: rnn.ZeroState(rnn.NewGRU(3), ops.Shape(x).At("0"), tf.Float32)})
		})},
		"state of an LSTM": {"tuple of length 1, but received: 2", recurrent(func(x tf.Output) (tf.Output, rnn.State) {
			return rnn.DynamicRNN(rnn.NewGRU(4), x, rnn.Opts{Initial: rnn.ZeroState(rnn.NewLSTM(4), ops.Shape(x).At("0"), tf.Float32)})
		})},
		"state of another batch": {"must be that of 8 sequences", recurrent(func(x tf.Output) (tf.Output, rnn.State) {
			return rnn.DynamicRNN(rnn.NewGRU(4), x, rnn.Opts{Initial: rnn.ZeroState(rnn.NewGRU(4), ops.Scalar(x.Graph(), int32(3)), tf.Float32)})
		})},
		"lengths of another batch": {"a length for each of 8 sequences", recurrent(func(x tf.Output) (tf.Output, rnn.State) {
			return rnn.DynamicRNN(rnn.NewGRU(4), x, rnn.Opts{Lengths: ops.Const(x.Graph(), []int32{1, 1, 1})})
		})},
		"lengths of floats": {"of type int32 or int64", recurrent(func(x tf.Output) (tf.Output, rnn.State) {
			return rnn.DynamicRNN(rnn.NewGRU(4), x, rnn.Opts{Lengths: ops.Fill(ops.Shape(x).At(":1"), ops.Scalar(x.Graph(), float32(1)))})
		})},
		"lengths beyond time": {"at most the time", recurrent(func(x tf.Output) (tf.Output, rnn.State) {
			return rnn.DynamicRNN(rnn.NewGRU(4), x, rnn.Opts{Lengths: ops.Fill(ops.Shape(x).At(":1"), ops.Scalar(x.Graph(), int32(2)))})
		})},
		"memory of another batch": {"Non-matching batch sizes", recurrent(func(x tf.Output) (tf.Output, rnn.State) {
			memory := ops.Fill([]int{3, 4, 5}, ops.Scalar(x.Graph(), float32(1)))
			return rnn.DynamicRNN(rnn.Attend(rnn.NewGRU(5), rnn.Luong(5, memory)), x)
		})},
		"one cell twice in a stack": {"was built for inputs of size 1", recurrent(func(x tf.Output) (tf.Output, rnn.State) {
			c := rnn.NewLSTM(4)
			return rnn.DynamicRNN(rnn.Multi(c, c), x)
		})},
		"window greater than the image": {"must not be larger than the input", logitsOf(func(_ *estimator.Call, x tf.Output) tf.Output {
			return layers.Dense(layers.Flatten(layers.Conv2D(x.Reshape(-1, 1, 1, 1), 2, 3)), 1)
		})},
	}
}

// mapped is an input with a Map.
func mapped(in estimator.InputFn, f func(feature.Features) feature.Features) estimator.InputFn {
	return func(ctx context.Context) (*estimator.Input, error) {
		i, err := in(ctx)
		if err == nil {
			i.Map = f
		}
		return i, err
	}
}

// TestUserMistakes: each names what is wrong, and a line of this file.
func TestUserMistakes(t *testing.T) {
	for name, c := range userMistakes(t) {
		err := c.f(t)
		if code := tf.CodeOf(err); code != tf.InvalidArgument && code != tf.NotFound || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "usermistakes_test.go:") {
			t.Errorf("%s: got %v, want %q and a line of this file", name, err, c.want)
		}
	}
}
