package bundle

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestPipesInTheWay: pipes that have the names of a bundle's files are replaced, as files
// are. To look at them does not wait for their writers.
func TestPipesInTheWay(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "m")
	for _, name := range []string{dataName(prefix, 0, 1), dataName(prefix, 1, 2), indexName(prefix), temporary(indexName(prefix))} {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := Create(prefix)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add("a", core.Scalar(int64(1))); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if a, err := r.Lookup("a"); err != nil || core.Data[int64](a)[0] != 1 {
		t.Errorf("restored %v, %v", a, err)
	}
	if info, err := os.Stat(dataName(prefix, 1, 2)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a pipe of the bundle's names is left: %v, %v", info, err)
	}
}

// TestPipeAsDirectory: a pipe is no directory of a bundle.
func TestPipeAsDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(dir, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(filepath.Join(dir, "m")); core.CodeOf(err) != core.FailedPrecondition {
		t.Error(err)
	}
	if _, err := dataFiles(filepath.Join(dir, "m")); core.CodeOf(err) != core.FailedPrecondition {
		t.Error(err)
	}
	Sweep(dir)
}
