package savedmodel_test

import (
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestSimpleSaveClearsDevices: TensorFlow refuses a model whose nodes are to run in the
// tasks of a cluster that it does not have.
func TestSimpleSaveClearsDevices(t *testing.T) {
	g := tf.NewGraph()
	var x, y tf.Output
	var v *tf.Variable
	g.Device("/job:localhost/task:0/cpu:0", func() {
		x = ops.Placeholder(g, tf.Float32, tf.Shape{-1})
		v = tf.NewVariable(ops.Scalar[float32](g, 2), tf.VariableOptions{Name: "v"})
		y = x.Mul(v.Value())
	})
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "m")
	if err := savedmodel.SimpleSave(t.Context(), s, dir, map[string]tf.Output{"x": x}, map[string]tf.Output{"y": y}); err != nil {
		t.Fatal(err)
	}
	renamed(t, dir, func(n *pb.NodeDef) {
		if n.GetDevice() != "" {
			t.Errorf("%s is to run on %s", n.GetName(), n.GetDevice())
		}
	})
}
