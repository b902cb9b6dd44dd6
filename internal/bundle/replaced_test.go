package bundle

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestReplacedWhileOpened writes a bundle again after its index has been read, before its
// data is opened: the reader has the new one.
func TestReplacedWhileOpened(t *testing.T) {
	for _, merged := range []bool{false, true} {
		prefix := filepath.Join(t.TempDir(), "m")
		if err := saveNumber(prefix, 1, merged); err != nil {
			t.Fatal(err)
		}
		saved := 1
		r, err := open(prefix, func(name string) (*input, error) {
			in, err := openFile(name)
			if strings.HasSuffix(name, ".index") && saved < 4 {
				saved++
				err = errors.Join(err, saveNumber(prefix, saved, merged))
			}
			return in, err
		})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := r.Lookup("0"); err != nil || core.Data[int64](v)[0] != 4 {
			t.Errorf("merged %v: read %v, %v, want fours", merged, v, err)
		}
		r.Close()
	}
}

// numbered saves so many bundles, of one number each, and returns their prefixes.
func numbered(t *testing.T, dir string, n int) (parts []string) {
	t.Helper()
	for i := range n {
		parts = append(parts, filepath.Join(dir, fmt.Sprint("part", i)))
		w, err := Create(parts[i])
		if err == nil {
			err = w.Add(fmt.Sprint(i), core.Scalar(int64(i)))
		}
		if err == nil {
			err = w.Finish()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return parts
}

// TestManyShards opens a bundle of more files than are opened ahead, and reads from one.
func TestManyShards(t *testing.T) {
	dir := t.TempDir()
	prefix := filepath.Join(dir, "m")
	if err := Merge(numbered(t, dir, mostOpened+1), prefix, false); err != nil {
		t.Fatal(err)
	}
	r, err := Open(prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if v, err := r.Lookup("200"); err != nil || core.Data[int64](v)[0] != 200 || len(r.files) != 1 {
		t.Errorf("read %v, %v, with %d files open", v, err, len(r.files))
	}
}

// TestReadersOfReplaced reads a bundle that is written again all the time: each reader
// finds all tensors of one save.
func TestReadersOfReplaced(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "m")
	if err := saveNumber(prefix, 1, false); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for last := 1; ; {
				select {
				case <-done:
					return
				default:
				}
				v, err := checkSave(prefix, last)
				if err != nil {
					t.Error(err)
					return
				}
				last = v
			}
		})
	}
	for i := 2; i < 60; i++ {
		if err := saveNumber(prefix, i, i%2 == 0); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
}
