package savedmodel_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
)

// TestInputWithoutName: an input that names nothing is an error also where constants are
// looked for.
func TestInputWithoutName(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 2}, tf.Name("x"))
	bias := ops.Identity(ops.Const(g, []float32{1, 2}), tf.Name("bias"))
	y := ops.Relu(ops.BiasAdd(ops.MatMul(x, ops.Const(g, []float32{1, 2, 3, 4}, 2, 2)), bias))
	dir := savedGraph(t, g, x, y)
	mg := renamed(t, dir, func(n *pb.NodeDef) {
		if n.GetName() == "bias" {
			n.Input = []string{""}
		}
	})
	m, err := savedmodel.LoadMetaGraph(t.Context(), dir, mg, savedmodel.Options{})
	if err == nil {
		m.Close()
		t.Error("a model with an input that names nothing is loaded")
	}
}
