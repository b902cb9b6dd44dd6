package interop

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// Graph operations of XLA with random parameters, as jax2tf saved them before it had
// modules, compute what TensorFlow computes by XLA.
func TestGraphOperationsOfXLA(t *testing.T) {
	needTensorFlow(t)
	dir := filepath.Join(t.TempDir(), "model")
	lines := script(t, "xlagraphs.py", dir, "4", "1")
	compareSignatures(t, dir, strings.Fields(lines[len(lines)-1]))
}

// compareSignatures runs signatures NAME with the results of NAME_in, and compares with those
// of NAME_want.
func compareSignatures(t *testing.T, dir string, names []string) {
	m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			run := func(signature string, in map[string]any) map[string]*tf.Tensor {
				out, err := m.Signature(signature).Run(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			in := map[string]any{}
			for key, x := range run(name+"_in", nil) {
				in[key] = x
			}
			got, want := run(name, in), run(name+"_want", nil)
			for i := range len(want) {
				key := fmt.Sprintf("y_%d", i)
				if d := tftest.Diff(want[key], got[key], tftest.Within(1e-5, 1e-5)); d != "" {
					t.Errorf("%s: %s", key, d)
				}
			}
		})
	}
}
