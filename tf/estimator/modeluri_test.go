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
