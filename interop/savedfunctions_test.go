package interop

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// TestSavedFunctions calls functions of a model without signatures: nothing of it
// is in the graph before the functions are asked for.
func TestSavedFunctions(t *testing.T) {
	needTensorFlow(t)
	dir := t.TempDir()
	want := script(t, "savedfunctions.py", dir)
	m, err := savedmodel.Load(t.Context(), filepath.Join(dir, "model"), savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for range 2 { // the second time all is there
		got := callSaved(t, m, "encoder.embed", map[string]any{"words": []string{"b", "z"}})
		if s := elements(got["score"]); s != want[0] {
			t.Errorf("score %q, want %q", s, want[0])
		}
		if s := elements(got["sum"]); s != want[1] {
			t.Errorf("sum %q, want %q", s, want[1])
		}
	}
	for i := range 3 {
		got := callSaved(t, m, "__call__", map[string]any{"x": float32(2), "y": float32(5)})
		if got["output_0"].At(0) != float32(7) || got["output_1"].At(0) != float32(10) || got["output_2"].At(0) != float32(i+1) {
			t.Errorf("call %d: %v", i, got)
		}
	}
	traces := m.Function("twice").Err()
	if tf.CodeOf(traces) != tf.InvalidArgument || !strings.Contains(traces.Error(), "traced 2 times: choose one of __inference_twice_") {
		t.Fatalf("two traces: %v", traces)
	}
	names := strings.Fields(strings.ReplaceAll(traces.Error()[strings.Index(traces.Error(), "__inference"):], ",", ""))
	doubled := 0
	for _, name := range names {
		if out, err := m.Function(name).Run(t.Context(), map[string]any{"x": float32(4)}); err == nil && out["output_0"].At(0) == float32(8) {
			doubled++
		}
	}
	if doubled != 1 {
		t.Errorf("%d of %q take a float", doubled, names)
	}
	for _, name := range []string{"none", "encoder.none", "", "encoder"} {
		if _, err := m.Function(name).Run(t.Context(), nil); tf.CodeOf(err) != tf.NotFound {
			t.Errorf("function %q: %v", name, err)
		}
	}
}

func callSaved(t *testing.T, m *savedmodel.Model, name string, in map[string]any) map[string]*tf.Tensor {
	t.Helper()
	out, err := m.Function(name).Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// elements writes the elements of a tensor of floats as numpy does.
func elements(x *tf.Tensor) string {
	var out []string
	for i := range x.Len() {
		s := fmt.Sprint(x.At(i))
		if !strings.Contains(s, ".") {
			s += ".0"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}
