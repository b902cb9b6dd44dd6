package estimator_test

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestInMemoryAsTensorFlow compares evaluations in memory, whose steps and results,
// with TensorFlow 1.15's.
func TestInMemoryAsTensorFlow(t *testing.T) {
	want := readPorted(t).Memory.Evaluations
	e := portedEstimator(t, estimator.RunConfig{ModelDir: t.TempDir(), LogStepCountSteps: -1})
	h, err := estimator.InMemoryEvaluator(e, portedInput(1), estimator.InMemoryOptions{Name: "memory", Every: 4})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Train(t.Context(), portedInput(data.Infinite), estimator.TrainOptions{Steps: 10, Hooks: []train.Hook{h}}); err != nil {
		t.Fatal(err)
	}
	got, err := estimator.ReadEvalMetrics(e.EvalDir("memory"))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) || len(want) != 4 {
		t.Fatalf("%d evaluations, want %d", len(got), len(want))
	}
	for i, m := range want {
		if !slices.Equal(slices.Sorted(maps.Keys(got[i])), slices.Sorted(maps.Keys(m))) {
			t.Errorf("got %v, want %v", got[i], m)
		}
		for key, v := range m {
			near(t, key, got[i][key], v)
		}
	}
	// The model in memory is that of the checkpoint; the hook serves another training.
	last, err := e.Evaluate(t.Context(), portedInput(1), estimator.EvalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the loss of the checkpoint", last["loss"], want[3]["loss"])
	if err := e.Train(t.Context(), portedInput(data.Infinite), estimator.TrainOptions{Steps: 2, Hooks: []train.Hook{h}}); err != nil {
		t.Fatal(err)
	}
	if got, _ = estimator.ReadEvalMetrics(e.EvalDir("memory")); len(got) != 5 || got[4]["global_step"] != 12 {
		t.Errorf("the second training left %v", got)
	}
}

// TestInMemoryRefuses: what the hook cannot do.
func TestInMemoryRefuses(t *testing.T) {
	dir := t.TempDir()
	e := portedEstimator(t, estimator.RunConfig{ModelDir: dir, LogStepCountSteps: -1})
	_, err := estimator.InMemoryEvaluator(e, portedInput(1), estimator.InMemoryOptions{Every: -2})
	if want := readPorted(t).Memory.Every; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	c := &estimator.Cluster{Jobs: map[string][]string{"chief": {"a:1"}, "worker": {"b:1"}}, Type: "chief"}
	clustered := portedEstimator(t, estimator.RunConfig{ModelDir: t.TempDir(), Cluster: c})
	for want, f := range map[string]func() (train.Hook, error){
		"only single machine": func() (train.Hook, error) {
			return estimator.InMemoryEvaluator(clustered, portedInput(1), estimator.InMemoryOptions{})
		},
		"needs an estimator": func() (train.Hook, error) {
			return estimator.InMemoryEvaluator(nil, portedInput(1), estimator.InMemoryOptions{})
		},
		"an input function": func() (train.Hook, error) {
			return estimator.InMemoryEvaluator(e, nil, estimator.InMemoryOptions{})
		},
		"Must specify steps > 0": func() (train.Hook, error) {
			return estimator.InMemoryEvaluator(e, portedInput(1), estimator.InMemoryOptions{Steps: -1})
		},
		"hooks must not be nil": func() (train.Hook, error) {
			return estimator.InMemoryEvaluator(e, portedInput(1), estimator.InMemoryOptions{Hooks: []train.Hook{nil}})
		},
	} {
		if _, err := f(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for want, sc := range map[string]*train.Scaffold{
		"does not support custom init_fn": {InitFn: func(context.Context, *train.Scaffold, *session.Session) error { return nil }},
		"does not support custom saver":   {Saver: &train.Saver{}},
	} {
		own, err := estimator.New(func(c *estimator.Call) (*estimator.Spec, error) {
			s, err := line(c)
			if c.Mode == estimator.Eval {
				s.Scaffold = sc
			}
			return s, err
		}, estimator.Options{Config: estimator.RunConfig{ModelDir: filepath.Join(dir, want), LogStepCountSteps: -1}})
		if err != nil {
			t.Fatal(err)
		}
		h, err := estimator.InMemoryEvaluator(own, points(3), estimator.InMemoryOptions{Steps: 1})
		if err != nil {
			t.Fatal(err)
		}
		err = own.Train(t.Context(), points(3), estimator.TrainOptions{Steps: 1, Hooks: []train.Hook{h}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestStopAtCheckpointStep: a worker stops once the chief has saved the step.
func TestStopAtCheckpointStep(t *testing.T) {
	dir := t.TempDir()
	e := portedEstimator(t, estimator.RunConfig{ModelDir: dir, LogStepCountSteps: -1})
	h, err := estimator.StopAtCheckpointStep(e, 3, 0)
	if _, ok := h.(*train.StopAtStepHook); !ok || err != nil {
		t.Errorf("a chief got %T, %v", h, err)
	}
	if err := e.Train(t.Context(), portedInput(data.Infinite), estimator.TrainOptions{Hooks: []train.Hook{h}}); err != nil {
		t.Fatal(err)
	}
	if step, err := e.GlobalStep(); step != 3 || err != nil {
		t.Errorf("stopped at %d, %v", step, err)
	}
	if _, err := estimator.StopAtCheckpointStep(nil, 3, 0); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
	if _, err := estimator.StopAtCheckpointStep(e, 0, 0); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
	c := &estimator.Cluster{Jobs: map[string][]string{"chief": {"a:1"}, "worker": {"b:1"}}, Type: "worker"}
	for _, last := range []int64{3, 4} { // the checkpoint has step 3
		w, err := estimator.StopAtCheckpointStep(portedEstimator(t, estimator.RunConfig{ModelDir: dir, Cluster: c}), last, time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		other := portedEstimator(t, estimator.RunConfig{ModelDir: t.TempDir(), LogStepCountSteps: -1, SaveCheckpointsSteps: 1000})
		if err := other.Train(t.Context(), portedInput(data.Infinite), estimator.TrainOptions{Steps: 8, Hooks: []train.Hook{w}}); err != nil {
			t.Fatal(err)
		}
		// It sees the step before or after the one that was run.
		if step, _ := other.GlobalStep(); last == 3 && (step < 2 || step > 3) || last == 4 && step != 8 {
			t.Errorf("a worker that waits for %d stopped at %d", last, step)
		}
	}
}

// TestStopHooksRefuse: hooks without what tells them when to stop fail when training
// begins.
func TestStopHooksRefuse(t *testing.T) {
	e := portedEstimator(t, estimator.RunConfig{ModelDir: t.TempDir(), LogStepCountSteps: -1})
	for name, h := range map[string]train.Hook{
		"no function":  estimator.StopIf(nil, estimator.StopOptions{}),
		"no estimator": estimator.StopIfHigher(nil, "accuracy", 1, estimator.StopOptions{}),
		"neither":      estimator.StopIfNoDecrease(nil, "loss", 1, estimator.StopOptions{EverySteps: 1}),
	} {
		err := e.Train(t.Context(), portedInput(1), estimator.TrainOptions{Hooks: []train.Hook{h}})
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "a hook that stops early needs") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
