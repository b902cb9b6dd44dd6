package train_test

import (
	"os"
	"path/filepath"
	"testing"

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
