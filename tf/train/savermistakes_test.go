package train_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestRestoreNamesWhatIsWrong: all variables that are missing or do not fit, and what is no name of
// a checkpoint.
func TestRestoreNamesWhatIsWrong(t *testing.T) {
	const objects = "testdata/objects.ckpt-1"
	names := warm(t)
	many := map[string]int{}
	for _, c := range "abcdefghijklm" {
		many[string(c)] = 1
	}
	for name, c := range map[string]struct {
		path string
		vars map[string]int // sizes of vectors
		code tf.Code
		want string
	}{
		"two are missing": {names, map[string]int{"x": 1, "old/a": 4, "y": 2}, tf.NotFound, "Variables that are not in the checkpoint: x, y"},
		"many":            {names, many, tf.NotFound, "Variables that are not in the checkpoint: a, b, c, d, e, f, g, h, i, j, and 3 more"},
		"shape":           {names, map[string]int{"old/a": 3}, tf.InvalidArgument, "Variables that do not fit: old/a is float32[3] in the graph, float32[4] in the checkpoint"},
		"object's shape":  {objects, map[string]int{"b": 2}, tf.InvalidArgument, "Variables that do not fit: b is float32[2] in the graph, float32[3] in the checkpoint"},
		"object's path":   {objects, map[string]int{"model/b": 4}, tf.InvalidArgument, "Variables that do not fit: model/b is float32[4] in the graph, float32[3] in the checkpoint"},
		"no object":       {objects, map[string]int{"b": 3, "z": 1}, tf.NotFound, "Existing variables not in the checkpoint: z\n\nVariables names when this checkpoint was written which don't exist now: save_counter, weights\n\n(1 variable name(s) did match)"},
		"index":           {names + ".index", map[string]int{"old/a": 4}, tf.InvalidArgument, "a checkpoint is named by what the names of its files begin with, " + names + ": got "},
		"data":            {objects + ".data-00000-of-00001", map[string]int{"b": 3}, tf.InvalidArgument, "a checkpoint is named by what the names of its files begin with, " + objects + ": got "},
		"directory":       {filepath.Dir(names), map[string]int{"old/a": 4}, tf.InvalidArgument, ", a directory: LatestCheckpoint returns the name"},
	} {
		for _, g := range []*tf.Graph{tf.NewGraph(), eager.New()} {
			for _, n := range slices.Sorted(maps.Keys(c.vars)) {
				tf.NewVariable(ops.Const(g, make([]float32, c.vars[n])), tf.VariableOptions{Name: n})
			}
			var r tf.StepRunner
			if !g.IsEager() {
				r = begin(t, g, false)
			}
			if err := newSaver(t, g, train.SaverOptions{}).Restore(t.Context(), r, c.path); !says(err, c.code, c.want) {
				t.Errorf("%s, eager %v: %v", name, g.IsEager(), err)
			}
		}
	}
	if _, err := train.LoadVariable(names+".index", "w"); !says(err, tf.InvalidArgument, "a checkpoint is named by what the names of its files begin with") {
		t.Error(err)
	}
}

// TestObjectsUnderOtherNames are found by their paths, as LoadVariable finds them.
func TestObjectsUnderOtherNames(t *testing.T) {
	for _, key := range []string{"weights", "model/w", "model/w/.ATTRIBUTES/VARIABLE_VALUE"} {
		for _, g := range []*tf.Graph{tf.NewGraph(), eager.New()} {
			v := tf.NewVariable(ops.Const(g, make([]float32, 6), 2, 3), tf.VariableOptions{Name: "mine"})
			var r tf.StepRunner
			if !g.IsEager() {
				r = begin(t, g, false)
			}
			if err := newSaver(t, g, train.SaverOptions{Named: map[string]*tf.Variable{key: v}}).Restore(t.Context(), r, "testdata/objects.ckpt-1"); err != nil {
				t.Error(key, g.IsEager(), err)
			}
		}
	}
}

// TestSaveNamesWhatIsNotInitialized, also where the directory is not there yet.
func TestSaveNamesWhatIsNotInitialized(t *testing.T) {
	for _, reference := range []bool{false, true} {
		g := tf.NewGraph()
		tf.NewVariable(ops.Const(g, []float32{1}), tf.VariableOptions{Name: "forgotten", Reference: reference})
		s := begin(t, g, false)
		saver := newSaver(t, g, train.SaverOptions{})
		_, err := saver.Save(t.Context(), s, filepath.Join(t.TempDir(), "new", "m"))
		if !says(err, tf.FailedPrecondition, "forgotten") || strings.Contains(err.Error(), "Parent directory") {
			t.Error(err)
		}
	}
}

// TestABadNameSparesTheGraph: it is the failed saver's matter only.
func TestABadNameSparesTheGraph(t *testing.T) {
	g := tf.NewGraph()
	tf.NewVariable(ops.Const(g, []float32{1}), tf.VariableOptions{Name: "v"})
	for _, name := range []string{"bad name!", "_x", "/x"} {
		if _, err := train.NewSaver(g, train.SaverOptions{Name: name}); !says(err, tf.InvalidArgument, "'"+name+"' is not a valid scope name") || g.Err() != nil {
			t.Error(err, g.Err())
		}
	}
}

// TestUpdatesNameTheirVariable also in eager graphs, whose operations are not named by it.
func TestUpdatesNameTheirVariable(t *testing.T) {
	g := eager.New()
	v := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "kernel"})
	for name, o := range map[string]train.Optimizer{"Adam": train.Adam{}, "Momentum": train.Momentum{LearningRate: 0.1}, "GradientDescent": train.GradientDescent{LearningRate: 0.1}} {
		_, err := o.ApplyGradients([]train.GradVar{{Grad: tf.Dense(ops.Const(g, []float32{1, 2, 3})), Var: v}})
		if !says(err, tf.InvalidArgument, "the update of variable kernel has failed: ") || !strings.HasPrefix(err.Error(), "savermistakes_test.go:") {
			t.Error(name, err)
		}
	}
}
