package savedmodel_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/rnn"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestGatherTreeWithoutEndToken loads the operation as TensorFlow 1.4 wrote it, with
// three inputs, and has what that computed.
func TestGatherTreeWithoutEndToken(t *testing.T) {
	g := tf.NewGraph()
	cube := tf.Shape{-1, -1, -1}
	steps, parents := ops.Placeholder(g, tf.Int32, cube, tf.Name("steps")), ops.Placeholder(g, tf.Int32, cube, tf.Name("parents"))
	lengths := ops.Placeholder(g, tf.Int32, tf.Shape{-1, -1}, tf.Name("lengths"))
	beams := rnn.GatherTree(steps, parents, lengths, ops.Scalar(g, int32(-1)), tf.Name("beams"))
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := t.TempDir() + "/model"
	sig := savedmodel.Predict(map[string]tf.Output{"s": steps, "p": parents, "l": lengths}, map[string]tf.Output{"beams": beams})
	mg := savedmodel.MetaGraph{Session: s, Tags: []string{"serve"}, Signatures: map[string]savedmodel.SignatureSpec{"serving_default": sig}}
	if err := new(savedmodel.Builder).Add(mg).Save(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	old := renamed(t, dir, func(n *pb.NodeDef) {
		if n.GetName() == "beams" {
			n.Input = n.Input[:3]
		}
	})
	m, err := savedmodel.LoadMetaGraph(t.Context(), dir, old, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	out, err := m.Signature(savedmodel.DefaultSignature).Run(t.Context(), map[string]any{
		"s": [][][]int32{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}, {{9, 2}, {3, 5}}, {{4, 5}, {6, 7}}},
		"p": [][][]int32{{{0, 0}, {0, 0}}, {{1, 0}, {0, 1}}, {{1, 0}, {0, 1}}, {{1, 0}, {1, 1}}},
		"l": [][]int32{{4, 2}, {0, 3}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []int32{2, 1, -1, 4, 5, 6, -1, 8, 2, -1, -1, 5, 4, -1, -1, -1}
	if got := tf.Data[int32](out["beams"]); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
