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

// withFewFiles calls f while the process may have no more than so many files open.
func withFewFiles(t *testing.T, n uint64, f func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	few := before
	few.Cur = min(n, before.Cur)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	}()
	f()
}

// TestMergeOpensFewFiles merges more bundles than files may be open, and again in the
// place of what that gave, of which nothing is left.
func TestMergeOpensFewFiles(t *testing.T) {
	const n = 120
	dir := t.TempDir()
	prefix := filepath.Join(dir, "m")
	for range 2 {
		parts := numbered(t, dir, n)
		withFewFiles(t, n/2, func() {
			if err := Merge(parts, prefix, false); err != nil {
				t.Fatal(err)
			}
		})
	}
	have, err := dataFiles(prefix)
	if err != nil || len(have) != 1 {
		t.Fatalf("data of %d saves is left, %v", len(have), err)
	}
	r, err := Open(prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if v, err := r.Lookup("7"); err != nil || core.Data[int64](v)[0] != 7 || len(have[r.shards]) != n {
		t.Errorf("read %v, %v, from %d files", v, err, len(have[r.shards]))
	}
}

// TestMarkedGeneration: data of which a writer has marked the first file stays, the whole
// of it, until that writer has ended. Data without its first file has no writer.
func TestMarkedGeneration(t *testing.T) {
	dir := t.TempDir()
	prefix := filepath.Join(dir, "m")
	if err := saveNumber(prefix, 1, false); err != nil {
		t.Fatal(err)
	}
	for shard := range 3 {
		if err := os.WriteFile(dataName(prefix, shard, 3), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(dataName(prefix, 4, 5), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	release := hold(dataName(prefix, 0, 3))
	retire(prefix)
	if have, err := dataFiles(prefix); err != nil || len(have[3]) != 3 || len(have[5]) != 0 {
		t.Errorf("beside a writer: %v, %v", have, err)
	}
	release()
	retire(prefix)
	if have, err := dataFiles(prefix); err != nil || len(have) != 1 {
		t.Errorf("after it: %v, %v", have, err)
	}
	if _, err := checkSave(prefix, 1); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dataName(prefix, 0, 5)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestBundleWithoutItsFirstFile: a bundle that was damaged so is left as it is.
func TestBundleWithoutItsFirstFile(t *testing.T) {
	dir := t.TempDir()
	prefix := filepath.Join(dir, "m")
	if err := Merge(numbered(t, dir, 2), prefix, false); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(dataName(prefix, 0, 2)); err != nil {
		t.Fatal(err)
	}
	retire(prefix)
	have, err := dataFiles(prefix)
	if err != nil || len(have[2]) != 1 || filepath.Base(have[2][0]) != filepath.Base(dataName(prefix, 1, 2)) {
		t.Errorf("%v, %v", have, err)
	}
}
