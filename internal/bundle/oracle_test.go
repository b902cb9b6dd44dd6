package bundle

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestOracle has TensorFlow read what we write, write it again, and compares the
// files. There are enough names for several blocks.
func TestOracle(t *testing.T) {
	python := os.Getenv("GORGE_TF_PYTHON")
	if python == "" {
		t.Skip("GORGE_TF_PYTHON names no Python with TensorFlow 2.21")
	}
	dir := t.TempDir()
	all := goldenTensors(t)[:8]
	for i := range 9000 {
		all = append(all, saved{fmt.Sprintf("v%d/%s", i*i, strings.Repeat("n", i%50)), "", core.Scalar(int32(i))})
	}
	save(t, filepath.Join(dir, "ours"), all)
	saveSlices(t, filepath.Join(dir, "slices"), goldenSlices(t))
	if out, err := exec.Command(python, "testdata/rewrite.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{".index", ".data-00000-of-00001"} {
		ours, err := os.ReadFile(filepath.Join(dir, "ours"+name))
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := os.ReadFile(filepath.Join(dir, "theirs"+name))
		if err != nil || !bytes.Equal(ours, theirs) {
			t.Errorf("%s: %d bytes of ours differ from %d of TensorFlow's (%v)", name, len(ours), len(theirs), err)
		}
	}
}
