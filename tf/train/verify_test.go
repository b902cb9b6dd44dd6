package train_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/train"
)

// saved saves a few steps and returns the names of the checkpoints.
func saved(t *testing.T, dir string, steps int) (paths []string) {
	t.Helper()
	g, next := growing()
	saver, s := newSaver(t, g, train.SaverOptions{}), begin(t, g, true)
	for i := range steps {
		path, err := saver.SaveStep(t.Context(), s, filepath.Join(dir, "m"), int64(i))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
		if _, err := s.Run(t.Context(), nil, next); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// TestLastGoodCheckpoint damages checkpoints, the latest ones first: each is refused
// for a reason, by Verify and by Restore, and the one before is found.
func TestLastGoodCheckpoint(t *testing.T) {
	dir := t.TempDir()
	paths := saved(t, dir, 5)
	const data = ".data-00000-of-00001"
	damage := []func(path string) error{
		func(path string) error { return os.Truncate(path+data, 1000) },
		func(path string) error { return flip(path+data, 70_000) },
		func(path string) error { return os.Remove(path + ".index") },
		func(path string) error { return flip(path+".index", 40) },
	}
	for i, code := range []tf.Code{tf.OutOfRange, tf.DataLoss, tf.NotFound, tf.DataLoss} {
		at := len(paths) - 1 - i
		if err := damage[i](paths[at]); err != nil {
			t.Fatal(err)
		}
		if err := train.VerifyCheckpoint(paths[at]); tf.CodeOf(err) != code {
			t.Errorf("damage %d: %v, want %v", i, err, code)
		}
		g, _ := growing()
		if err := newSaver(t, g, train.SaverOptions{}).Restore(t.Context(), begin(t, g, false), paths[at]); err == nil {
			t.Errorf("damage %d was restored", i)
		}
		if good, err := train.LastGoodCheckpoint(dir); err != nil || good != paths[at-1] {
			t.Errorf("damage %d: the last good checkpoint is %q, %v; want %s", i, good, err, paths[at-1])
		}
	}
	if err := os.WriteFile(paths[0]+data, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if good, err := train.LastGoodCheckpoint(dir); !says(err, tf.NotFound, "must have a checkpoint that is whole") {
		t.Error(good, err)
	}
	if good, err := train.LastGoodCheckpoint(t.TempDir()); !says(err, tf.NotFound, "Couldn't find 'checkpoint' file") {
		t.Error(good, err)
	}
}

// flip changes a bit of a file.
func flip(name string, at int) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	b[at] ^= 4
	return os.WriteFile(name, b, 0o600)
}

// TestClockGoesBack: files that are younger than the clock says change nothing.
func TestClockGoesBack(t *testing.T) {
	dir := t.TempDir()
	paths := saved(t, dir, 3)
	later := time.Now().Add(48 * time.Hour)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.Chtimes(f, later, later); err != nil {
			t.Fatal(err)
		}
	}
	g, _ := growing()
	saver, s := newSaver(t, g, train.SaverOptions{MaxToKeep: 2}), begin(t, g, false)
	saver.RecoverLastCheckpoints(paths)
	if err := saver.Restore(t.Context(), s, paths[2]); err != nil {
		t.Fatal(err)
	}
	for step := int64(10); step < 13; step++ {
		path, err := saver.SaveStep(t.Context(), s, filepath.Join(dir, "m"), step)
		if err != nil {
			t.Fatal(err)
		}
		if latest, err := train.LatestCheckpoint(dir); err != nil || latest != path {
			t.Error(latest, err)
		}
	}
	if got := countIn(t, filepath.Join(dir, "m-12")); got != 2 {
		t.Error(got)
	}
}

// TestTwoSaversInOneDirectory: whoever comes last has the latest checkpoint, which is
// whole at any time.
func TestTwoSaversInOneDirectory(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for k := range 2 {
		g, next := growing()
		saver, s := newSaver(t, g, train.SaverOptions{Sharded: k == 1}), begin(t, g, true)
		wg.Go(func() {
			for step := range int64(12) {
				path := filepath.Join(dir, "m")
				if step%2 == 0 { // both save under one name, too
					path = filepath.Join(dir, fmt.Sprint("of", k))
				}
				if _, err := saver.SaveStep(t.Context(), s, path, step); err != nil {
					t.Error(err)
				}
				if _, err := s.Run(t.Context(), nil, next); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	latest, err := train.LatestCheckpoint(dir)
	if err != nil || latest != filepath.Join(dir, "m-11") {
		t.Fatal(latest, err)
	}
	if got := countIn(t, latest); got != 11 {
		t.Error(got)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*temp*")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}
