package train_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// TestSaverOnOtherTasks restores what three tasks have saved, each its shard, on one, two
// and four tasks, whose variables are cut into other parts.
func TestSaverOnOtherTasks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	saver, s, saved := spread(t, 3, true)
	if _, err := saver.Save(t.Context(), s, path); err != nil {
		t.Fatal(err)
	}
	if files, err := filepath.Glob(path + ".data-*-of-00003"); err != nil || len(files) != 3 {
		t.Errorf("shards: %v, %v", files, err)
	}
	want := valuesOf(t, s, saved)
	for _, tasks := range []int{1, 2, 4} {
		saver, s, restored := spread(t, tasks, false)
		if err := saver.Restore(t.Context(), s, path); err != nil {
			t.Fatal(err)
		}
		if got := valuesOf(t, s, restored); !slices.Equal(got, want) {
			t.Errorf("on %d tasks: %v, want %v", tasks, got, want)
		}
	}
}

// spread makes five variables and one of as many parts as there are tasks, on the tasks
// in turn. It returns a sharded saver, a session and all values.
func spread(t *testing.T, tasks int, initialize bool) (*train.Saver, *session.Session, tf.Output) {
	t.Helper()
	tm, g := newTeam(t, tasks), tf.NewGraph()
	next := 0
	var all []tf.Output
	g.DeviceFunc(func(n *core.Node) string {
		if n.OpName() != "VarHandleOp" {
			return ""
		}
		next++
		return fmt.Sprintf("/job:worker/task:%d", next%tasks)
	}, func() {
		for i := range 5 {
			v := tf.NewVariable(ops.Const(g, []float32{float32(i), float32(10 * i)}), tf.VariableOptions{Name: fmt.Sprint("v", i)})
			all = append(all, v.Value())
		}
		o := vars.ScopeOptions{Partitioner: vars.FixedSize(tasks, 0), Initializer: initializers.RandomUniform(-1, 1)}
		vars.Scope(g, "", o, func() {
			all = append(all, ops.Reshape(vars.GetPartitioned(g, "parts", tf.Shape{9, 2}).Value(), ops.Const(g, []int32{-1})))
		})
	})
	saver := newSaver(t, g, train.SaverOptions{Sharded: true})
	values := ops.Concat(0, all)
	s, err := session.New(g, session.Target(tm.target(0)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if initialize {
		if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
			t.Fatal(err)
		}
	}
	return saver, s, values
}

func valuesOf(t *testing.T, s *session.Session, x tf.Output) []float32 {
	t.Helper()
	got, err := session.Fetch[float32](t.Context(), s, nil, x)
	if err != nil {
		t.Fatal(err)
	}
	return got
}
