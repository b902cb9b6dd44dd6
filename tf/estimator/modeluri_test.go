package estimator_test

import (
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf/estimator"
)

// TestModelDirURI: what is below a model directory that a URI names is there, too.
func TestModelDirURI(t *testing.T) {
	dir := t.TempDir()
	e, err := estimator.New(line, estimator.Options{Config: estimator.RunConfig{ModelDir: "file://" + dir}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := e.EvalDir("test"), filepath.Join(dir, "eval_test"); got != want {
		t.Errorf("evaluations are in %s, want %s", got, want)
	}
}

// TestDirectoriesByURI: evaluations and the checkpoints of a warm start are found where
// URIs of directories say.
func TestDirectoriesByURI(t *testing.T) {
	first := trainedLine(t)
	if _, err := first.Evaluate(t.Context(), points(1), estimator.EvalOptions{}); err != nil {
		t.Fatal(err)
	}
	if all, err := estimator.ReadEvalMetrics("file://" + first.EvalDir("")); err != nil || len(all) == 0 {
		t.Errorf("evaluations are %v (%v)", all, err)
	}
	second, err := estimator.New(line, estimator.Options{
		Config: estimator.RunConfig{ModelDir: t.TempDir()}, WarmStart: &estimator.WarmStart{From: "file://" + first.ModelDir()},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.ExportSavedModel(t.Context(), t.TempDir(), serveX, estimator.ExportOptions{}); err != nil {
		t.Error(err)
	}
}
