package interop

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ofKeras are names that need tf-keras beside TensorFlow.
var ofKeras = []string{"layers.", "nn.rnn_cell."}

// TestNamesOfPython compares docs/from-python.txt with the names that the installed
// TensorFlow has: every name is in the table, and the table has no others.
func TestNamesOfPython(t *testing.T) {
	needTensorFlow(t)
	listed := map[string]bool{}
	cmd := exec.Command(python, filepath.Join("..", "tools", "frompython", "list.py"))
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	for _, name := range strings.Fields(string(out)) {
		listed[name] = true
	}
	if len(listed) < 1900 {
		t.Fatalf("TensorFlow has %d names only", len(listed))
	}
	text, err := os.ReadFile(filepath.Join("..", "docs", "from-python.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		names, _, isRow := strings.Cut(line, "|")
		if !isRow || strings.HasPrefix(line, "#") {
			continue
		}
		for _, name := range strings.Fields(names) {
			if !listed[name] && !keras(name) {
				t.Errorf("TensorFlow has no tf.%s", name)
			}
			delete(listed, name)
		}
	}
	for name := range listed {
		t.Errorf("tf.%s is not in docs/from-python.txt", name)
	}
}

func keras(name string) bool {
	for _, prefix := range ofKeras {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
