package estimator_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/summary"
	"github.com/gorge-tf/gorge/tf/train"
)

var serveX = estimator.RawReceiver(map[string]tf.ArgSpec{"x": {DType: tf.Float32, Shape: tf.Shape{-1, 1}}})

// exports counts the SavedModels of an exporter.
func exported(t *testing.T, e *estimator.Estimator, name string) int {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(e.ModelDir(), "export", name, "*", "saved_model.pb"))
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// TestTrainAndEvaluate evaluates each checkpoint and the last one, exports, and
// has nothing left to train when it is called again.
func TestTrainAndEvaluate(t *testing.T) {
	e, err := estimator.New(line, estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir(), SaveCheckpointsSteps: 10}})
	if err != nil {
		t.Fatal(err)
	}
	specs := func() (estimator.TrainSpec, estimator.EvalSpec) {
		return estimator.TrainSpec{Input: points(1000), MaxSteps: 45}, estimator.EvalSpec{Input: points(4), Throttle: -1, Exporters: []estimator.Exporter{
			&estimator.FinalExporter{Label: "final", Receive: serveX},
			&estimator.LatestExporter{Label: "latest", Receive: serveX, Keep: 2},
			&estimator.BestExporter{Receive: serveX},
			&estimator.BestExporter{Label: "never", Receive: serveX, Better: func(best, now estimator.Metrics) bool { return false }},
		}}
	}
	tr, ev := specs()
	m, err := estimator.TrainAndEvaluate(t.Context(), e, tr, ev)
	if err != nil {
		t.Fatal(err)
	}
	if m["global_step"] != 45 {
		t.Errorf("got %v", m)
	}
	all, err := estimator.ReadEvalMetrics(e.EvalDir(""))
	if err != nil || len(all) < 4 || all[len(all)-1]["global_step"] != 45 {
		t.Errorf("evaluations: %v, %v", all, err)
	}
	for i, m := range all[1:] {
		if m["loss"] >= all[i]["loss"] {
			t.Errorf("the loss has not fallen: %v", all)
		}
	}
	if f, l, b, n := exported(t, e, "final"), exported(t, e, "latest"), exported(t, e, "best_exporter"), exported(t, e, "never"); f != 1 || l != 2 || b != len(all) || n != 1 {
		t.Errorf("%d final, %d latest, %d best of %d, %d of never", f, l, b, len(all), n)
	}
	tr, ev = specs()
	if m, err = estimator.TrainAndEvaluate(t.Context(), e, tr, ev); err != nil || m["global_step"] != 45 {
		t.Errorf("again: %v, %v", m, err)
	}
	if b := exported(t, e, "best_exporter"); b != min(len(all)+1, 5) && b != len(all) {
		t.Errorf("again: %d best", b)
	}
}

// evaluations writes results of a metric, one for every ten steps.
func evaluations(t *testing.T, dir string, values ...float32) {
	t.Helper()
	w, err := summary.NewFileWriter(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		if err := w.Scalar(int64(10*(i+1)), "acc", v); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestEarlyStopping trains until the evaluations in a directory say stop.
func TestEarlyStopping(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float32
		hook   func(e *estimator.Estimator, o estimator.StopOptions) train.Hook
		min    int64
		stops  bool
	}{
		{"falls", []float32{5, 4, 3, 2}, func(e *estimator.Estimator, o estimator.StopOptions) train.Hook {
			return estimator.StopIfNoDecrease(e, "acc", 20, o)
		}, 0, false},
		{"0 steps, at the first", []float32{5}, func(e *estimator.Estimator, o estimator.StopOptions) train.Hook {
			return estimator.StopIfNoDecrease(e, "acc", 0, o)
		}, 0, true},
		{"0 steps, though it rises", []float32{1, 2, 3}, func(e *estimator.Estimator, o estimator.StopOptions) train.Hook {
			return estimator.StopIfNoIncrease(e, "acc", 0, o)
		}, 0, true},
		{"does not fall", []float32{5, 4, 4, 4}, func(e *estimator.Estimator, o estimator.StopOptions) train.Hook {
			return estimator.StopIfNoDecrease(e, "acc", 20, o)
		}, 0, true},
		{"does not rise", []float32{1, 2, 1, 1}, func(e *estimator.Estimator, o estimator.StopOptions) train.Hook {
			return estimator.StopIfNoIncrease(e, "acc", 20, o)
		}, 0, true},
		{"rises late", []float32{1, 1, 1, 2}, func(e *estimator.Estimator, o estimator.StopOptions) train.Hook {
			return estimator.StopIfNoIncrease(e, "acc", 30, o)
		}, 0, false},
		{"higher", []float32{1, 3}, func(e *estimator.Estimator, o estimator.StopOptions) train.Hook {
			return estimator.StopIfHigher(e, "acc", 2, o)
		}, 0, true},
		{"higher too early", []float32{3, 1}, func(e *estimator.Estimator, o estimator.StopOptions) train.Hook {
			return estimator.StopIfHigher(e, "acc", 2, o)
		}, 15, false},
		{"lower", []float32{3, 1}, func(e *estimator.Estimator, o estimator.StopOptions) train.Hook {
			return estimator.StopIfLower(e, "acc", 2, o)
		}, 0, true},
		{"as the program says", nil, func(e *estimator.Estimator, o estimator.StopOptions) train.Hook {
			return estimator.StopIf(func() (bool, error) { return true, nil }, o)
		}, 0, true},
	} {
		e := newLine(t, t.TempDir())
		evaluations(t, e.EvalDir(""), c.values...)
		hook := c.hook(e, estimator.StopOptions{MinSteps: c.min, EverySteps: 5})
		if err := e.Train(t.Context(), points(20), estimator.TrainOptions{Hooks: []train.Hook{hook}}); err != nil {
			t.Fatal(err)
		}
		step, err := e.GlobalStep()
		if err != nil || c.stops != (step < 20) {
			t.Errorf("%s: ended at step %d, %v", c.name, step, err)
		}
	}
}

// TestEventsOfOthers: what is no event file is an error, what is cut off is not.
func TestEventsOfOthers(t *testing.T) {
	dir := t.TempDir()
	evaluations(t, dir, 1, 2, 3)
	names, _ := filepath.Glob(filepath.Join(dir, "*tfevents*"))
	text, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(names[0], text[:len(text)-3], 0o666); err != nil {
		t.Fatal(err)
	}
	if all, err := estimator.ReadEvalMetrics(dir); err != nil || len(all) != 2 {
		t.Errorf("got %v, %v", all, err)
	}
	text[20] ^= 1
	if err := os.WriteFile(names[0], text, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := estimator.ReadEvalMetrics(dir); tf.CodeOf(err) != tf.DataLoss {
		t.Errorf("got %v", err)
	}
}

func TestParseTFConfig(t *testing.T) {
	const jobs = `"cluster": {"chief": ["a:1"], "ps": ["b:1"], "worker": ["c:1", "d:1"]}`
	c, err := estimator.ParseTFConfig(`{` + jobs + `, "task": {"type": "worker", "index": 1}}`)
	if err != nil || c.IsChief() || c.Index != 1 || c.Jobs["ps"][0] != "b:1" {
		t.Errorf("got %v, %v", c, err)
	}
	t.Setenv("TF_CONFIG", `{`+jobs+`, "task": {"type": "chief", "index": 0}}`)
	if c, err := estimator.FromEnvironment(); err != nil || !c.IsChief() {
		t.Errorf("of the environment: got %v, %v", c, err)
	}
	if c, err := estimator.ParseTFConfig(`{` + jobs + `, "task": {"type": "evaluator", "index": 0}}`); err != nil || c.Type != estimator.Evaluator {
		t.Errorf("evaluator: got %v, %v", c, err)
	}
	c, err = estimator.ParseTFConfig(`{"cluster": {"chief": ["a:1"], "evaluator": ["b:1"], "worker": ["c:1", "d:1"]}, "task": {"type": "worker", "index": "1"}}`)
	if err != nil || c.Index != 1 || len(c.Jobs) != 2 {
		t.Errorf("an index in quotes and an evaluator: got %v, %v", c, err)
	}
	for _, text := range []string{"", "{}", `{"task": {"type": "worker", "index": 0}}`} {
		if c, err := estimator.ParseTFConfig(text); c != nil || err != nil {
			t.Errorf("%s: got %v, %v", text, c, err)
		}
	}
	for text, want := range map[string]string{
		`{`:                        "must be JSON",
		`{"task": {"type": "ps"}}`: "task type must be WORKER",
		`{` + jobs + `, "task": {"type": "worker", "index": 2}}`:         "2 is not a valid task_id for task_type worker",
		`{` + jobs + `, "task": {"type": "worker", "index": -1}}`:        "Task index must be non-negative number",
		`{` + jobs + `, "task": {"type": "evaluator", "index": -1}}`:     "Task index must be non-negative number",
		`{` + jobs + `, "task": {"type": "worker", "index": "one"}}`:     "must be JSON",
		`{` + jobs + `, "task": {"type": "worker", "index": 0.9}}`:       "must be JSON",
		`{` + jobs + `, "task": {"type": "worker"}}`:                     "task index must be set",
		`{` + jobs + `, "task": {"type": "boss"}}`:                       "of type chief, worker, ps or evaluator",
		`{"cluster": {"worker": ["a:1"]}, "task": {"type": "worker"}}`:   `must have one "chief" node`,
		`{"cluster": {"chief": ["a:1", "b:1"]}, "task": {"type": "ps"}}`: `only one "chief" node, got 2`,
	} {
		if _, err := estimator.ParseTFConfig(text); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

func FuzzParseTFConfig(f *testing.F) {
	f.Add(`{"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0}}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := estimator.ParseTFConfig(text)
		if err != nil && c != nil && tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("got %v", err)
		}
	})
}

// TestChiefAlone: a cluster of a chief alone trains in process, without a server.
func TestChiefAlone(t *testing.T) {
	c, err := estimator.ParseTFConfig(`{"cluster": {"chief": ["localhost:1"]}, "task": {"type": "chief", "index": 0}}`)
	if err != nil {
		t.Fatal(err)
	}
	e, err := estimator.New(line, estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir(), Cluster: c}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = estimator.TrainAndEvaluate(t.Context(), e, estimator.TrainSpec{Input: points(20), MaxSteps: 7}, estimator.EvalSpec{Input: points(1)})
	if step, e := e.GlobalStep(); step != 7 || e != nil || err != nil {
		t.Errorf("step %d, %v, %v", step, e, err)
	}
}

// TestNil: what is nil in a list is told before anything is trained, as is a bad name
// of an exporter.
func TestNil(t *testing.T) {
	e := newLine(t, t.TempDir())
	for i, o := range []estimator.TrainOptions{{Hooks: []train.Hook{nil}}, {Listeners: []train.CheckpointSaverListener{nil}}} {
		if err := e.Train(t.Context(), points(1), o); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("training %d: got %v", i, err)
		}
	}
	if _, err := e.Evaluate(t.Context(), points(1), estimator.EvalOptions{Hooks: []train.Hook{nil}}); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("evaluation: got %v", err)
	}
	for _, x := range []estimator.Exporter{nil, (*estimator.BestExporter)(nil), &estimator.FinalExporter{Receive: serveX}, &estimator.FinalExporter{Label: "../x", Receive: serveX}} {
		_, err := estimator.TrainAndEvaluate(t.Context(), e, estimator.TrainSpec{Input: points(1)}, estimator.EvalSpec{Input: points(1), Exporters: []estimator.Exporter{x}})
		if tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("exporter %v: got %v", x, err)
		}
	}
	if step, err := e.GlobalStep(); step != 0 || err != nil {
		t.Errorf("trained to step %d, %v", step, err)
	}
}

// TestUnknownMetric: early stopping by a metric that evaluations do not have ends
// training, which would go on for ever.
func TestUnknownMetric(t *testing.T) {
	e, err := estimator.New(line, estimator.Options{Config: estimator.RunConfig{ModelDir: t.TempDir(), SaveCheckpointsSteps: 2}})
	if err != nil {
		t.Fatal(err)
	}
	hook := estimator.StopIfNoDecrease(e, "los", 1, estimator.StopOptions{EverySteps: 1})
	_, err = estimator.TrainAndEvaluate(t.Context(), e, estimator.TrainSpec{Input: points(20), MaxSteps: 20, Hooks: []train.Hook{hook}}, estimator.EvalSpec{Input: points(1), Throttle: -1})
	if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), `got "los"`) {
		t.Errorf("got %v", err)
	}
}

// TestCheckpointRemoved: an evaluator whose checkpoint training removes while it
// evaluates goes on with the next one.
func TestCheckpointRemoved(t *testing.T) {
	dir := t.TempDir()
	trained := newLine(t, dir)
	if err := trained.Train(t.Context(), points(3), estimator.TrainOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster := &estimator.Cluster{Jobs: map[string][]string{estimator.Chief: {"localhost:1"}}, Type: estimator.Evaluator}
	e, err := estimator.New(line, estimator.Options{Config: estimator.RunConfig{ModelDir: dir, Cluster: cluster}})
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	slow := func(ctx context.Context) (*estimator.Input, error) {
		if calls++; calls == 1 {
			if err := trained.Train(ctx, points(2), estimator.TrainOptions{}); err != nil {
				return nil, err
			}
			if err := train.RemoveCheckpoint(filepath.Join(dir, "model.ckpt-3")); err != nil {
				return nil, err
			}
		}
		return points(1)(ctx)
	}
	m, err := estimator.TrainAndEvaluate(t.Context(), e, estimator.TrainSpec{Input: slow, MaxSteps: 5}, estimator.EvalSpec{Input: slow, StartDelay: -1, Throttle: -1})
	if err != nil || m[estimator.GlobalStepKey] != 5 || calls != 2 {
		t.Errorf("%d evaluations: got %v, %v", calls, m, err)
	}
}

// TestTrainAndEvaluateNothing: an estimator that is missing is no panic.
func TestTrainAndEvaluateNothing(t *testing.T) {
	m, err := estimator.TrainAndEvaluate(t.Context(), nil, estimator.TrainSpec{Input: points(1)}, estimator.EvalSpec{Input: points(1)})
	if m != nil || tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "TrainAndEvaluate needs an estimator, got nil") {
		t.Errorf("got %v, %v", m, err)
	}
}
