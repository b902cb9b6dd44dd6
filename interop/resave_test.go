package interop

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// TestResavedObjects: a model of TensorFlow 2 that Gorge has changed and saved again
// is one that tf.saved_model.load reads: its functions, variables and tables are
// there, and the variables have the values that they had here.
func TestResavedObjects(t *testing.T) {
	needTensorFlow(t)
	dir := t.TempDir()
	want := script(t, "savedfunctions.py", dir)
	m, err := savedmodel.Load(t.Context(), filepath.Join(dir, "model"), savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for range 3 { // the fourth call will be TensorFlow's
		callSaved(t, m, "__call__", map[string]any{"x": float32(2), "y": float32(5)})
	}
	again, twice := filepath.Join(dir, "again"), filepath.Join(dir, "twice")
	if err := m.Resave(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	resave(t, again, twice)
	lines := []string{want[0] + " " + want[1], "7.0 10.0 4.0", "8.0", "14.0 26.0"}
	for _, d := range []string{again, twice} {
		if diff := cmp.Diff(lines, script(t, "loadobjects.py", d, "functions")); diff != "" {
			t.Errorf("%s: %s", d, diff)
		}
	}
}

// TestResavedKeras is the same for a model of Keras 3, whose variables only the graph
// of objects finds.
func TestResavedKeras(t *testing.T) {
	needTensorFlow(t)
	again := filepath.Join(t.TempDir(), "again")
	resave(t, "../tf/savedmodel/testdata/objects", again)
	want := script(t, "loadobjects.py", "../tf/savedmodel/testdata/objects", "signature")
	if diff := cmp.Diff(want, script(t, "loadobjects.py", again, "signature")); diff != "" {
		t.Error(diff)
	}
	if want[0] != "40.5 26.25" {
		t.Errorf("TensorFlow says %q", want)
	}
}

// resave loads a model and saves it again, without having run it.
func resave(t *testing.T, from, to string) {
	t.Helper()
	m, err := savedmodel.Load(t.Context(), from, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Resave(t.Context(), to); err != nil {
		t.Fatal(err)
	}
}
