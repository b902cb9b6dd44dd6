package savedmodel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestUnsetVariables: who saves variables without values is told what to do.
func TestUnsetVariables(t *testing.T) {
	for _, reference := range []bool{false, true} {
		g := tf.NewGraph()
		v := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "w", Reference: reference})
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		parent := t.TempDir()
		out := map[string]tf.Output{"y": v.Value()}
		err = savedmodel.SimpleSave(t.Context(), s, filepath.Join(parent, "m"), nil, out)
		if tf.CodeOf(err) != tf.FailedPrecondition {
			t.Fatalf("reference %v: %v", reference, err)
		}
		for _, part := range []string{`variable "w": `, "must be initialized or restored before they are read: run tf.InitializeAll(g)"} {
			if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "Debug info") {
				t.Errorf("reference %v: got %v, want %q", reference, err, part)
			}
		}
		if left, _ := os.ReadDir(parent); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	}
}

// TestNoFileSystem: a model needs files.
func TestNoFileSystem(t *testing.T) {
	if m, err := savedmodel.LoadFS(t.Context(), nil, savedmodel.Options{}); m != nil || tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, %v", m, err)
	}
}
