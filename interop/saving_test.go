package interop

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/lookup"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestTensorFlowReadsSavedModels saves a model with all that a SavedModel may have
// and lets TensorFlow run it.
func TestTensorFlowReadsSavedModels(t *testing.T) {
	needTensorFlow(t)
	dir := filepath.Join(t.TempDir(), "model")
	saveWords(t, dir)
	m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	again := filepath.Join(t.TempDir(), "again")
	if err := m.Resave(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	want := []string{"6.5 20.25 40.5 60.25", "2.0", "6.5 20.25 40.5 60.25", "3", "True", "True", "[[3.5 6.25]]"}
	for _, d := range []string{dir, again} {
		if diff := cmp.Diff(want, script(t, "readsaved.py", d)); diff != "" {
			t.Errorf("%s: %s", d, diff)
		}
	}
}

// saveWords saves variables of both kinds, a table whose vocabulary is an asset,
// and signatures with and without defaults.
func saveWords(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "words.txt")
	if err := os.WriteFile(file, []byte("zero\none\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	asset := ops.ConstTensor(g, tf.Scalar(file), tf.Name("asset"))
	table := lookup.HashTableV2(g, tf.String, tf.Int64, tf.Name("table"))
	fill := lookup.InitializeTableFromTextFileV2(table, asset, -2, -1)
	x := ops.Placeholder(g, tf.String, tf.Shape{-1}, tf.Name("x"))
	k := ops.Placeholder(g, tf.Float32, tf.Shape{}, tf.Name("k"))
	w := tf.NewVariable(ops.Const(g, []float32{1, 2, 3, 10, 20, 30}, 3, 2), tf.VariableOptions{Name: "w"})
	b := tf.NewVariable(ops.Const(g, []float32{0.5, 0.25}), tf.VariableOptions{Name: "b", Reference: true})
	ids := lookup.LookupTableFindV2(table, x, ops.ConstTensor(g, tf.Scalar(int64(0))))
	y := ops.Add(ops.Mul(ops.Gather(w.Value(), ids, 0), k), b.Value())
	count := tf.NewVariable(ops.Scalar[int32](g, 0), tf.VariableOptions{Name: "count"})
	var counted tf.Output
	g.ControlDependencies([]*tf.Operation{count.AssignAdd(ops.Scalar[int32](g, 1))}, func() { counted = count.Read() })
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g), fill); err != nil {
		t.Fatal(err)
	}
	predict := savedmodel.Predict(map[string]tf.Output{"x": x, "k": k}, map[string]tf.Output{"y": y})
	predict.Defaults = map[string]*tf.Tensor{"k": tf.Scalar[float32](2)}
	err = new(savedmodel.Builder).Add(savedmodel.MetaGraph{
		Session: s, Init: fill, Assets: []savedmodel.Asset{{Tensor: asset, File: file}},
		Signatures: map[string]savedmodel.SignatureSpec{"serving_default": predict, "count": savedmodel.Predict(nil, map[string]tf.Output{"count": counted})},
	}).Save(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
}
