package savedmodel_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/dense/npy"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// versionsDir has models that other versions of TensorFlow saved, and what these
// computed: testdata/versions/make1.py and make2.py.
const versionsDir = "testdata/versions"

// TestVersions runs models of TensorFlow 1.4, 1.15, 2.4 and 2.15 as these versions ran
// them: variables of both kinds, convolutions and batch normalization, loops of both
// kinds, recurrent networks, tables from assets, examples that are parsed, state.
func TestVersions(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(versionsDir, "*", "*", "*.in.npz"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d signatures with values, %v", len(files), err)
	}
	for _, in := range files {
		dir, file := filepath.Split(in)
		name, _ := filepath.Rel(versionsDir, strings.TrimSuffix(in, ".in.npz"))
		t.Run(name, func(t *testing.T) {
			m := load(t, filepath.Clean(dir))
			signature := strings.TrimSuffix(file, ".in.npz")
			got, err := m.Signature(signature).RunTensors(t.Context(), archive(t, in))
			if err != nil {
				t.Fatal(err)
			}
			want := archive(t, filepath.Join(dir, signature+".out.npz"))
			if len(got) != len(want) {
				t.Errorf("%d outputs, want %d", len(got), len(want))
			}
			for k, w := range want {
				equalOutput(t, k, got[k], w)
			}
		})
	}
}

// equalOutput compares an output with TensorFlow's. Numpy drops zeros at the end of
// strings and has no strings of length zero, so none of the outputs has such.
func equalOutput(t *testing.T, key string, got, want *tf.Tensor) {
	t.Helper()
	if got == nil {
		t.Errorf("output %q is missing", key)
		return
	}
	if want.DType() == tf.String {
		if g, w := tf.Data[string](got), tf.Data[string](want); !slices.Equal(g, w) {
			t.Errorf("output %q is %q, want %q", key, g, w)
		}
		return
	}
	if d := tftest.Diff(want, got, tftest.Within(1e-5, 1e-5)); d != "" {
		t.Errorf("output %q: %s", key, d)
	}
}

func archive(t *testing.T, name string) map[string]*tf.Tensor {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	values, err := npy.ReadArchive(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return values
}
