package train_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestSavedByAnotherName: a checkpoint that is written over again by another name of its
// directory counts once. It is not deleted as the older one of two.
func TestSavedByAnotherName(t *testing.T) {
	for name, other := range map[string]func(t *testing.T, dir string) string{
		"relative": func(t *testing.T, dir string) string {
			t.Chdir(dir)
			return "model"
		},
		"link": func(t *testing.T, dir string) string {
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(dir, link); err != nil {
				t.Skip(err)
			}
			return filepath.Join(link, "model")
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			g := tf.NewGraph()
			tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "v"})
			saver := newSaver(t, g, train.SaverOptions{MaxToKeep: 1})
			s := begin(t, g, true)
			for _, path := range []string{filepath.Join(dir, "model"), other(t, dir)} {
				if _, err := saver.SaveStep(t.Context(), s, path, 5); err != nil {
					t.Fatal(err)
				}
			}
			if latest, err := train.LatestCheckpoint(dir); err != nil || latest == "" {
				t.Errorf("the latest checkpoint is %q, %v", latest, err)
			}
			if all := saver.LastCheckpoints(); len(all) != 1 {
				t.Errorf("%q are kept", all)
			}
		})
	}
}
