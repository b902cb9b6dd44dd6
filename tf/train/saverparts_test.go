package train_test

import (
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// TestPartsWithoutRows: a variable without elements is saved and restored in a scope that
// cuts variables, too.
func TestPartsWithoutRows(t *testing.T) {
	g := tf.NewGraph()
	vars.Scope(g, "s", vars.ScopeOptions{Partitioner: vars.FixedSize(3, 0)}, func() {
		vars.GetPartitioned(g, "w", tf.Shape{0, 3})
		vars.GetPartitioned(g, "v", tf.Shape{4, 0})
	})
	s := begin(t, g, true)
	saver := newSaver(t, g, train.SaverOptions{})
	path, err := saver.Save(t.Context(), s, filepath.Join(t.TempDir(), "m"))
	if err != nil {
		t.Fatal(err)
	}
	if err := saver.Restore(t.Context(), s, path); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{"s/w": "[0,3]", "s/v": "[4,0]"} {
		if v, err := train.LoadVariable(path, name); err != nil || v.Shape().String() != want {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
}
