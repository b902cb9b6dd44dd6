package npy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/dense/npy"
)

// TestFiles are written and read, and errors name them.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	name, archive, bad := filepath.Join(dir, "a.npy"), filepath.Join(dir, "a.npz"), filepath.Join(dir, "bad")
	if err := os.WriteFile(bad, []byte("\x93NUMPY\x09"), 0o666); err != nil {
		t.Fatal(err)
	}
	one := tf.Scalar(float32(1))
	if err := npy.WriteFile(name, one); err != nil {
		t.Fatal(err)
	}
	if got, err := npy.ReadFile(name); err != nil || got.At(0) != float32(1) {
		t.Error(got, err)
	}
	if err := npy.WriteArchiveFile(archive, map[string]*tf.Tensor{"x": one}, true); err != nil {
		t.Fatal(err)
	}
	if got, err := npy.ReadArchiveFile(archive); err != nil || got["x"].At(0) != float32(1) {
		t.Error(got, err)
	}
	read := func(name string) error { _, err := npy.ReadFile(name); return err }
	readAll := func(name string) error { _, err := npy.ReadArchiveFile(name); return err }
	for i, c := range []struct {
		err  error
		name string
		code tf.Code
	}{
		{read(filepath.Join(dir, "none")), "none", tf.NotFound}, {readAll(filepath.Join(dir, "none")), "none", tf.NotFound},
		{read(bad), bad, tf.InvalidArgument}, {readAll(bad), bad, tf.InvalidArgument}, {read(dir), dir, tf.FailedPrecondition},
		{npy.WriteFile(name, nil), name, tf.InvalidArgument}, {npy.WriteFile(filepath.Join(dir, "no", "x"), one), "no", tf.NotFound},
	} {
		if tf.CodeOf(c.err) != c.code || !strings.Contains(c.err.Error(), c.name) {
			t.Errorf("%d: %v, want %v with %s", i, c.err, c.code, c.name)
		}
	}
}
