package savedmodel_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestClassify: a signature that classifies has the outputs that it is given.
func TestClassify(t *testing.T) {
	g := tf.NewGraph()
	examples := ops.Placeholder(g, tf.String, tf.Shape{-1}, tf.Name("examples"))
	scores := ops.Const(g, []float32{0.25, 0.75}, 1, 2)
	classes := ops.Const(g, []string{"cat", "dog"}, 1, 2)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "model")
	err = new(savedmodel.Builder).Add(savedmodel.MetaGraph{Session: s, Signatures: map[string]savedmodel.SignatureSpec{
		"both":    savedmodel.Classify(examples, classes, scores),
		"scores":  savedmodel.Classify(examples, tf.Output{}, scores),
		"classes": savedmodel.Classify(examples, classes, tf.Output{}),
	}}).Save(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for name, want := range map[string][]string{"both": {"classes", "scores"}, "scores": {"scores"}, "classes": {"classes"}} {
		sig := m.Signature(name)
		if sig.Method() != savedmodel.ClassifyMethod {
			t.Errorf("%s: method %q", name, sig.Method())
		}
		out, err := sig.Run(t.Context(), map[string]any{"inputs": []string{""}})
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for k := range out {
			keys = append(keys, k)
		}
		if slices.Sort(keys); !slices.Equal(keys, want) {
			t.Errorf("%s: outputs %q, want %q", name, keys, want)
		}
	}
}
