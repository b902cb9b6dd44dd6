package savedmodel_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/lookup"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// words is a model with all that a SavedModel may have: variables of both kinds, a
// table whose vocabulary is an asset, signatures with and without defaults.
func words(t *testing.T) savedmodel.MetaGraph {
	t.Helper()
	file := filepath.Join(t.TempDir(), "words.txt")
	if err := os.WriteFile(file, []byte("zero\none\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := tf.NewGraph()
	asset := ops.ConstTensor(g, tf.Scalar(file), tf.Name("asset"))
	const wholeLine, lineNumber = -2, -1
	table := lookup.HashTableV2(g, tf.String, tf.Int64, tf.Name("table"))
	fill := lookup.InitializeTableFromTextFileV2(table, asset, wholeLine, lineNumber)
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
	t.Cleanup(func() { s.Close() })
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g), fill); err != nil {
		t.Fatal(err)
	}
	look := savedmodel.Predict(map[string]tf.Output{"x": x, "k": k}, map[string]tf.Output{"y": y, "ids": ids})
	look.Defaults = map[string]*tf.Tensor{"k": tf.Scalar[float32](2)}
	return savedmodel.MetaGraph{
		Session: s, Init: fill, Assets: []savedmodel.Asset{{Tensor: asset, File: file}},
		Signatures: map[string]savedmodel.SignatureSpec{"serving_default": look, "count": savedmodel.Predict(nil, map[string]tf.Output{"count": counted})},
	}
}

// saved writes the model and returns its directory.
func saved(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "model")
	if err := new(savedmodel.Builder).Add(words(t)).Save(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func load(t *testing.T, dir string) *savedmodel.Model {
	t.Helper()
	m, err := savedmodel.Load(t.Context(), dir, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}
