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
	want := []string{
		"6.5 20.25 40.5 60.25", "2.0", "1 function", "tensorflow/serving/classify", "b'cat' b'dog' b'cat' b'dog'", "0.25 0.75 0.25 0.75", "tensorflow/serving/regress", "0.5 0.5",
		"6.5 20.25 40.5 60.25", "3", "0.25 0.75", "True", "True", "True", "[[3.5 6.25]]",
	}
	for _, d := range []string{dir, again} {
		if diff := cmp.Diff(want, script(t, "readsaved.py", d)); diff != "" {
			t.Errorf("%s: %s", d, diff)
		}
	}
}

// TestTensorFlowReadsMetaGraphs: several MetaGraphs of a model share variables.
func TestTensorFlowReadsMetaGraphs(t *testing.T) {
	needTensorFlow(t)
	serve, w := weights()
	eval, _ := weights()
	s, err := session.New(serve.Graph)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, w.Assign(ops.Const(serve.Graph, []float32{1, 2, 3}))); err != nil {
		t.Fatal(err)
	}
	serve.Session, serve.Graph, eval.Tags = s, nil, []string{"eval"}
	dir := filepath.Join(t.TempDir(), "model")
	if err := new(savedmodel.Builder).Add(serve).Add(eval).Save(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1.0 2.0 3.0", "1.0 2.0 3.0"}, script(t, "readsaved.py", dir, "serve", "eval")); diff != "" {
		t.Error(diff)
	}
}

// weights returns a MetaGraph with a signature that reads a variable, and the variable.
func weights() (savedmodel.MetaGraph, *tf.Variable) {
	g := tf.NewGraph()
	w := tf.NewVariable(ops.Const(g, make([]float32, 3)), tf.VariableOptions{Name: "w"})
	return savedmodel.MetaGraph{Graph: g, Signatures: map[string]savedmodel.SignatureSpec{
		"weights": savedmodel.Predict(nil, map[string]tf.Output{"w": w.Value()}),
	}}, w
}

// saveWords saves variables of both kinds, a function, a table whose vocabulary is an
// asset, signatures of every method, with and without defaults.
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
	scale := tf.NewFunction(g, "scale", []tf.ArgSpec{{DType: tf.Float32}, {DType: tf.Float32}}, func(in []tf.Output) []tf.Output { return []tf.Output{ops.Mul(in[0], in[1])} })
	y := ops.Add(scale.Call([]tf.Output{ops.Gather(w.Value(), ids, 0), k})[0], b.Value())
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
	signatures := perExample(g)
	signatures["serving_default"], signatures["count"] = predict, savedmodel.Predict(nil, map[string]tf.Output{"count": counted})
	err = new(savedmodel.Builder).Add(savedmodel.MetaGraph{
		Session: s, Init: fill, Assets: []savedmodel.Asset{{Tensor: asset, File: file}}, Signatures: signatures,
	}).Save(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
}

// perExample returns signatures that classify examples and compute a number for each.
func perExample(g *tf.Graph) map[string]savedmodel.SignatureSpec {
	examples := ops.Placeholder(g, tf.String, tf.Shape{-1}, tf.Name("examples"))
	rows := ops.Concat(0, []tf.Output{ops.Shape(examples), ops.Const(g, []int32{2}, 1)})
	classes, scores := ops.BroadcastTo(ops.Const(g, []string{"cat", "dog"}, 2), rows), ops.BroadcastTo(ops.Const(g, []float32{0.25, 0.75}, 2), rows)
	return map[string]savedmodel.SignatureSpec{
		"classify": savedmodel.Classify(examples, classes, scores),
		"regress":  savedmodel.Regress(examples, ops.Mean(scores, []int{1})),
	}
}
