package train_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestLastSaveAfterFailedOne: what training ends with is saved although the save before it,
// which went on beside training, has failed. The failure is reported.
func TestLastSaveAfterFailedOne(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "model.ckpt-0.index"), 0o755); err != nil { // the file cannot have its name
		t.Fatal(err)
	}
	g, _, next := counting()
	h := &train.CheckpointSaverHook{CheckpointDir: dir, SaveSteps: 100, Saver: newSaver(t, g, train.SaverOptions{}), Async: true, NoGraphDef: true}
	if err := h.Begin(g); err != nil {
		t.Fatal(err)
	}
	s := begin(t, g, true)
	if err := h.AfterCreateSession(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), nil, next); err != nil {
		t.Fatal(err)
	}
	if err := h.End(t.Context(), s); tf.CodeOf(err) == tf.OK {
		t.Error("the save that failed is not reported")
	}
	if !train.CheckpointExists(filepath.Join(dir, "model.ckpt-1")) {
		t.Error("the last step is not saved")
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
