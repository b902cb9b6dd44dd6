package interop

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// kerasNetwork is the model of testdata/kerascheckpoint.py, whose variables are called as name says.
func kerasNetwork(g *tf.Graph, name func(keras string) string) (y tf.Output) {
	weight := func(keras string, dims ...int) tf.Output {
		return tf.NewVariable(zeros(g, dims...), tf.VariableOptions{Name: name(keras)}).Value()
	}
	rows := make([]float32, 12)
	for i := range rows {
		rows[i] = float32(i) / 12
	}
	y = ops.Relu(ops.Const(g, rows, 4, 3).MatMul(weight("hidden/kernel", 3, 4)).Add(weight("hidden/bias", 4)))
	scale := weight("bn/moving_variance", 4).Add(ops.Scalar(g, float32(1e-3))).Rsqrt().Mul(weight("bn/gamma", 4))
	y = y.Sub(weight("bn/moving_mean", 4)).Mul(scale).Add(weight("bn/beta", 4))
	return y.MatMul(weight("out/kernel", 4, 2)).Add(weight("out/bias", 2))
}

func zeros(g *tf.Graph, dims ...int) tf.Output {
	size := 1
	for _, d := range dims {
		size *= d
	}
	return ops.Const(g, make([]float32, size), dims...)
}

// TestKerasCheckpoints feeds a model with what Keras has trained: by the names that
// variables had there, by their paths, and one by one.
func TestKerasCheckpoints(t *testing.T) {
	needTensorFlow(t)
	dir := t.TempDir()
	lines := script(t, "kerascheckpoint.py", dir)
	var want []float64
	for _, f := range strings.Fields(lines[0]) {
		want = append(want, number(t, f))
	}
	path := filepath.Join(dir, "model")
	byName := func(keras string) string { return "sequential/" + keras }
	for name, o := range map[string]train.SaverOptions{"plain": {}, "sharded": {Sharded: true}, "in turn": {RestoreSequentially: true}} {
		g := tf.NewGraph(tf.Strict())
		y := kerasNetwork(g, byName)
		saver, err := train.NewSaver(g, o)
		if err != nil {
			t.Fatal(err)
		}
		s := newSavedSession(t, g)
		for _, from := range []string{path, filepath.Join(dir, "managed", "ckpt-1")} { // whose keys differ
			if err := saver.Restore(t.Context(), s, from); err != nil {
				t.Fatal(name, err)
			}
			nearKeras(t, name, s, y, want)
		}
	}
	kerasByPath(t, path, want)
	kerasReader(t, dir)
	kerasMissing(t, path, lines[1])
}

func nearKeras(t *testing.T, what string, s *session.Session, y tf.Output, want []float64) {
	t.Helper()
	got, err := s.Run(t.Context(), nil, y)
	if err != nil {
		t.Fatal(what, err)
	}
	for i, v := range tf.Data[float32](got[0]) {
		if math.Abs(float64(v)-want[i]) > 1e-6 {
			t.Errorf("%s: element %d is %v, in Keras %v", what, i, v, want[i])
		}
	}
}

// kerasByPath makes values of the checkpoint initial ones: some by paths, the rest by
// a scope of names.
func kerasByPath(t *testing.T, path string, want []float64) {
	t.Helper()
	g := tf.NewGraph(tf.Strict())
	y := kerasNetwork(g, func(keras string) string { return "net/" + strings.ReplaceAll(keras, "hidden", "first") })
	const hidden = "model/_functional/_operations/1/"
	for _, m := range []map[string]string{
		{hidden + "_kernel": "net/first/kernel", hidden + "bias": "net/first/bias"},
		{"sequential/bn/": "net/bn/", "sequential/out/": "net/out/"},
	} {
		if err := train.InitFromCheckpoint(g, path, m); err != nil {
			t.Fatal(err)
		}
	}
	init := tf.InitializeAll(g)
	s := newSavedSession(t, g)
	if _, err := s.Run(t.Context(), nil, init); err != nil {
		t.Fatal(err)
	}
	nearKeras(t, "by path", s, y, want)
}

// kerasReader reads single values, and restores an eager graph.
func kerasReader(t *testing.T, dir string) {
	t.Helper()
	managed := filepath.Join(dir, "managed")
	for _, name := range []string{"my_step", "with..dot.Sslash", "with..dot.Sslash/.ATTRIBUTES/VARIABLE_VALUE"} {
		if v, err := train.LoadVariable(managed, name); err != nil || v.At(0) != int64(7) {
			t.Error(name, v, err)
		}
	}
	g := eager.New()
	v := tf.NewVariable(ops.Scalar(g, int64(0)), tf.VariableOptions{Name: "step"})
	saver, err := train.NewSaver(g, train.SaverOptions{Named: map[string]*tf.Variable{"my_step": v}})
	if err != nil {
		t.Fatal(err)
	}
	if err := saver.Restore(t.Context(), nil, filepath.Join(managed, "ckpt-1")); err != nil {
		t.Fatal(err)
	}
	if x, err := v.Value().Value(); err != nil || x.At(0) != int64(7) {
		t.Error(x, err)
	}
	all, err := train.ListVariables(managed)
	if err != nil {
		t.Fatal(err)
	}
	full := map[string]bool{}
	for _, v := range all {
		full[v.FullName] = true
	}
	if !full["sequential/bn/moving_mean"] || !full["adam/sequential_out_bias_velocity"] {
		t.Error("full names:", full)
	}
}

// kerasMissing compares what is said of a variable that there is not.
func kerasMissing(t *testing.T, path, said string) {
	t.Helper()
	g := tf.NewGraph()
	tf.NewVariable(zeros(g, 4), tf.VariableOptions{Name: "sequential/hidden/bias"})
	tf.NewVariable(zeros(g, 4), tf.VariableOptions{Name: "none"})
	saver, err := train.NewSaver(g, train.SaverOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = saver.Restore(t.Context(), newSavedSession(t, g), path)
	if tf.CodeOf(err) != tf.NotFound {
		t.Fatal(err)
	}
	for _, part := range []string{"Existing variables not in the checkpoint: none", "(1 variable name(s) did match)", "it's possible that variable names have changed"} {
		if !strings.Contains(err.Error(), part) || !strings.Contains(strings.ReplaceAll(said, `\'`, "'"), part) {
			t.Errorf("%q should be in\n%v\nand\n%s", part, err, said)
		}
	}
}
