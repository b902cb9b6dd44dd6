package estimator_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/train"
)

// logged returns what f logs.
func logged(t *testing.T, f func()) string {
	t.Helper()
	var text bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&text, nil)))
	defer slog.SetDefault(before)
	f()
	return text.String()
}

// removeFiles deletes the files of a checkpoint.
func removeFiles(t *testing.T, path string) {
	t.Helper()
	files, err := filepath.Glob(path + ".*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has files %v, %v", path, files, err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLatestFilesAreGone: evaluation and training take the same checkpoint when the newest files have been deleted, and
// the log names them. When all are gone evaluation takes initial values, and training fails, as in TensorFlow.
func TestLatestFilesAreGone(t *testing.T) {
	dir := t.TempDir()
	e, err := estimator.New(line, estimator.Options{Config: estimator.RunConfig{ModelDir: dir, SaveCheckpointsSteps: 10}})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Train(t.Context(), points(200), estimator.TrainOptions{Steps: 20}); err != nil {
		t.Fatal(err)
	}
	state, err := train.ReadCheckpointState(dir)
	if err != nil {
		t.Fatal(err)
	}
	removeFiles(t, state.Latest)
	var m estimator.Metrics
	text := logged(t, func() { m, err = e.Evaluate(t.Context(), points(10), estimator.EvalOptions{}) })
	if err != nil || m[estimator.GlobalStepKey] != 10 {
		t.Errorf("the evaluation is of step %v, want 10: %v", m[estimator.GlobalStepKey], err)
	}
	if !strings.Contains(text, "an earlier checkpoint is used") || !strings.Contains(text, state.Latest) {
		t.Errorf("the log has:\n%s", text)
	}
	for _, err := range e.Predict(t.Context(), points(3), estimator.PredictOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Train(t.Context(), points(200), estimator.TrainOptions{MaxSteps: 15}); err != nil {
		t.Fatal(err)
	}
	if n, err := e.GlobalStep(); n != 15 || err != nil {
		t.Errorf("trained to step %d, want 15: %v", n, err)
	}
	checkAllGone(t, e, dir)
}

func checkAllGone(t *testing.T, e *estimator.Estimator, dir string) {
	t.Helper()
	state, err := train.ReadCheckpointState(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range state.All {
		if train.CheckpointExists(path) {
			removeFiles(t, path)
		}
	}
	var m estimator.Metrics
	text := logged(t, func() { m, err = e.Evaluate(t.Context(), points(10), estimator.EvalOptions{}) })
	if err != nil || m[estimator.GlobalStepKey] != 0 || !strings.Contains(text, state.Latest) {
		t.Errorf("without files the evaluation is of step %v, want 0: %v; the log has:\n%s", m[estimator.GlobalStepKey], err, text)
	}
	if err := e.Train(t.Context(), points(5), estimator.TrainOptions{Steps: 1}); err == nil || !strings.Contains(err.Error(), state.Latest) {
		t.Errorf("training without files: %v", err)
	}
}
