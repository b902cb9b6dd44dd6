package train_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestStateThatCannotBeRead: where the state file is there and cannot be read, nothing may be
// taken for a directory without checkpoints: training would begin anew.
func TestStateThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	if s, err := train.ReadCheckpointState(filepath.Join(dir, "nowhere")); s != nil || err != nil {
		t.Errorf("no directory: %v, %v", s, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "checkpoint"), 0o700); err != nil {
		t.Fatal(err)
	}
	if s, err := train.ReadCheckpointState(dir); s != nil || err == nil {
		t.Errorf("a directory in its place: %v, %v", s, err)
	}
	if path, err := train.LatestCheckpoint(dir); path != "" || err == nil {
		t.Errorf("a directory in its place: %q, %v", path, err)
	}
}

// TestStateThatCouldNotBeRead: a path that is not UTF-8 is refused, not written to a file that
// the next process takes for none. Paths relative to the directory do not have its name.
func TestStateThatCouldNotBeRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "caf\xe9")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return // this file system has no such names
	}
	g := model(1)
	s := begin(t, g, true)
	for _, relative := range []bool{false, true} {
		saver := newSaver(t, g, train.SaverOptions{Name: fmt.Sprint("save", relative), SaveRelativePaths: relative})
		path, err := saver.Save(t.Context(), s, filepath.Join(dir, "m"))
		latest, e := train.LatestCheckpoint(dir)
		switch {
		case e != nil:
			t.Error(e)
		case !relative && (!says(err, tf.InvalidArgument, "must be UTF-8", `caf\xe9/m"`) || latest != ""):
			t.Errorf("got %q, %v; the latest is %q", path, err, latest)
		case relative && (err != nil || latest != path):
			t.Errorf("relative paths: got %q, %v; the latest is %q", path, err, latest)
		}
	}
}
