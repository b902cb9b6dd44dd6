package savedmodel_test

import (
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/boosted"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// Boosted trees would be missing in a copy: neither way makes one.
func TestBoostedTreesAreNotCopied(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Int32, tf.Shape{-1})
	trees := boosted.BoostedTreesEnsembleResourceHandleOp(g, boosted.HandleOpts{SharedName: "trees"})
	create := boosted.BoostedTreesCreateEnsemble(trees, ops.Scalar(g, int64(0)), ops.Scalar(g, ""))
	y := boosted.BoostedTreesPredict(trees, []tf.Output{x}, 1)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "model")
	mg := savedmodel.MetaGraph{
		Session: s, Tags: []string{"serve"}, Init: create,
		Signatures: map[string]savedmodel.SignatureSpec{savedmodel.DefaultSignature: savedmodel.Predict(map[string]tf.Output{"x": x}, map[string]tf.Output{"y": y})},
	}
	if err := new(savedmodel.Builder).Add(mg).Save(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	m := load(t, dir)
	if _, err := m.Signature(savedmodel.DefaultSignature).Run(t.Context(), map[string]any{"x": []int32{1, 2}}); err != nil {
		t.Error(err)
	}
	if err := m.Resave(t.Context(), filepath.Join(t.TempDir(), "copy")); tf.CodeOf(err) != tf.Unimplemented {
		t.Errorf("saved again: %v", err)
	}
	if _, err := m.Freeze(t.Context(), savedmodel.DefaultSignature); tf.CodeOf(err) != tf.Unimplemented {
		t.Errorf("frozen: %v", err)
	}
}
