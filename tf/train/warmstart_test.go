package train_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// warm saves a checkpoint of w, a and b of scope old, and returns its name.
func warm(t *testing.T) string {
	t.Helper()
	g := tf.NewGraph()
	g.Scope("old", func() {
		tf.NewVariable(ops.Const(g, []float32{1, 2, 3, 4}), tf.VariableOptions{Name: "a"})
		tf.NewVariable(ops.Scalar(g, int32(7)), tf.VariableOptions{Name: "b"})
	})
	tf.NewVariable(ops.Scalar(g, float32(9)), tf.VariableOptions{Name: "w"})
	path := filepath.Join(t.TempDir(), "m")
	if _, err := newSaver(t, g, train.SaverOptions{}).Save(t.Context(), begin(t, g, true), path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestInitFromCheckpoint(t *testing.T) {
	path := warm(t)
	g := tf.NewGraph()
	vars.Scope(g, "new", vars.ScopeOptions{Partitioner: vars.FixedSize(2, 0)}, func() { vars.GetPartitioned(g, "a", tf.Shape{4}) })
	g.Scope("new", func() { // new_1
		tf.NewVariable(ops.Scalar(g, int32(0)), tf.VariableOptions{Name: "b", Reference: true})
	})
	tf.NewVariable(ops.Scalar(g, float32(0)), tf.VariableOptions{Name: "u"})
	if err := train.InitFromCheckpoint(g, path, map[string]string{"old/": "new/", "old/b": "new_1/b", "w": "u"}); err != nil {
		t.Fatal(err)
	}
	got := state(t, begin(t, g, true))
	want := map[string]string{"new/a/part_0": "float32[2]{1, 2}", "new/a/part_1": "float32[2]{3, 4}", "new_1/b": "int32[]{7}", "u": "float32[]{9}"}
	if !equalMaps(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for words, assign := range map[string]map[string]string{
		"Tensor old/c is not found in":                              {"old/c": "u"},
		"the graph must have the variable":                          {"w": "none"},
		"Type of variable u (float32) doesn't match":                {"old/b": "u"},
		"Shape of variable u ([]) doesn't match with shape":         {"old/a": "u"},
		"Attempting to warm-start variable new/a/part_0: Tensor":    {"old/": ""},
		"a scope is assigned to a scope, a variable to a variable:": {"old/": "u"},
	} {
		if err := train.InitFromCheckpoint(g, path, assign); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %s", err, words)
		}
	}
}

func TestWarmStart(t *testing.T) {
	path := warm(t)
	g := tf.NewGraph()
	tf.NewVariable(ops.Scalar(g, float32(0)), tf.VariableOptions{Name: "w"})
	tf.NewVariable(ops.Const(g, make([]float32, 4)), tf.VariableOptions{Name: "v"})
	tf.NewVariable(ops.Scalar(g, float32(5)), tf.VariableOptions{Name: "other"})
	if err := train.WarmStart(g, path, train.WarmStartOptions{Vars: "[wv]", Names: map[string]string{"v": "old/a"}}); err != nil {
		t.Fatal(err)
	}
	got := state(t, begin(t, g, true))
	want := map[string]string{"w": "float32[]{9}", "v": "float32[4]{1, 2, 3, 4}", "other": "float32[]{5}"}
	if !equalMaps(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	g = tf.NewGraph()
	tf.NewVariable(ops.Const(g, make([]float32, 4)), tf.VariableOptions{Name: "v"})
	if err := train.WarmStart(g, path); !says(err, tf.NotFound, "Tensor v is not found in") {
		t.Error(err)
	}
	if err := train.WarmStart(g, path, train.WarmStartOptions{Vars: "none"}); !says(err, tf.InvalidArgument, `the names of none begin as "none" says`) {
		t.Error(err)
	}
	if err := train.WarmStart(g, path, train.WarmStartOptions{Vars: "("}); !says(err, tf.InvalidArgument, "regular expression") {
		t.Error(err)
	}
}

// TestInitialValuesBeforeInitializers: an operation that runs the initializer a variable has had
// would go on to do so.
func TestInitialValuesBeforeInitializers(t *testing.T) {
	path := warm(t)
	for name, start := range map[string]func(*tf.Graph) error{
		"InitFromCheckpoint": func(g *tf.Graph) error { return train.InitFromCheckpoint(g, path, map[string]string{"w": "w"}) },
		"WarmStart":          func(g *tf.Graph) error { return train.WarmStart(g, path) },
	} {
		g := tf.NewGraph()
		tf.NewVariable(ops.Scalar(g, float32(0)), tf.VariableOptions{Name: "w"})
		for range 2 { // what another start has set is no operation that initializes
			if err := start(g); err != nil {
				t.Fatal(name, err)
			}
		}
		tf.InitializeAll(g)
		err := start(g)
		const text = "initial values from a checkpoint must be set before operations that initialize variables are added, as by InitializeAll: init, added at warmstart_test.go:"
		if !says(err, tf.FailedPrecondition, text) || !strings.Contains(err.Error(), "has had") || !strings.HasPrefix(err.Error(), "warmstart_test.go:") {
			t.Error(name, err)
		}
	}
}
