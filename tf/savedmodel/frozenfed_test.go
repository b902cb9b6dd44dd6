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

// TestFreezeFedResult: the input of a signature that is the result of a call is read in a
// frozen graph, too, in which the call has been taken apart.
func TestFreezeFedResult(t *testing.T) {
	g := tf.NewGraph()
	p := ops.Placeholder(g, tf.Float32, tf.Shape{2}, tf.Name("p"))
	f := tf.NewFunction(g, "f", tf.SpecOf(p), func(a []tf.Output) []tf.Output { return []tf.Output{ops.Exp(a[0])} })
	x := f.Call([]tf.Output{p})[0]
	y := ops.Neg(x, tf.Name("out"))
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "m")
	err = new(savedmodel.Builder).Add(savedmodel.MetaGraph{Session: s, Signatures: map[string]savedmodel.SignatureSpec{
		"serving_default": savedmodel.Predict(map[string]tf.Output{"x": x}, map[string]tf.Output{"y": y}),
	}}).Save(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	m := load(t, dir)
	def, err := m.Freeze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	frozen, err := savedmodel.LoadFrozen(t.Context(), def, map[string]string{"x": x.Name()}, map[string]string{"y": "out:0"}, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer frozen.Close()
	for _, m := range []*savedmodel.Model{m, frozen} {
		if got := run(t, m, map[string]any{"x": []float32{1, 2}}); !slices.Equal(got, []float32{-1, -2}) {
			t.Errorf("got %v, want [-1 -2]", got)
		}
	}
}
