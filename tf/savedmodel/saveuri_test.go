package savedmodel_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestSaveByURI: a model is saved where a URI says, from which it is loaded.
func TestSaveByURI(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "model")
	t.Chdir(t.TempDir())
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("x"))
	y := ops.Mul(x, ops.Scalar(g, float32(2)))
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := savedmodel.SimpleSave(t.Context(), s, "file://"+dir, map[string]tf.Output{"x": x}, map[string]tf.Output{"y": y}); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("the working directory has %v, %v", left, err)
	}
	load(t, dir)
}
