package train_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
	"github.com/gorge-tf/gorge/tf/vars"
)

// model makes variables of each kind; k is what their initial values depend on.
func model(k float32) *tf.Graph {
	g := tf.NewGraph()
	g.Device("/job:localhost/task:0/device:CPU:1", func() {
		tf.NewVariable(ops.Const(g, []float32{k, 2 * k}), tf.VariableOptions{Name: "b"})
	})
	tf.NewVariable(ops.Scalar(g, int64(k)), tf.VariableOptions{Name: "old", Reference: true, NotTrainable: true})
	fill := func(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output { return ops.Fill(dims(g, s), ops.Scalar(g, k)) }
	vars.Scope(g, "net", vars.ScopeOptions{Partitioner: vars.FixedSize(3, 0)}, func() {
		vars.GetPartitioned(g, "w", tf.Shape{7, 2}, vars.Options{Initializer: fill})
	})
	return g
}

func dims(g *tf.Graph, s tf.Shape) tf.Output {
	d := make([]int32, len(s))
	for i := range s {
		d[i] = int32(s[i])
	}
	return ops.Const(g, d, len(d))
}

func begin(t testing.TB, g *tf.Graph, initialize bool) *session.Session {
	t.Helper()
	var init *tf.Operation
	if initialize {
		init = tf.InitializeAll(g)
	}
	s, err := session.New(g, session.Devices("CPU", 2))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if init != nil {
		if _, err := s.Run(t.Context(), nil, init); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// state returns the values of all variables, by name.
func state(t testing.TB, s *session.Session) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, v := range tf.Variables(s.Graph(), tf.GlobalVariables) {
		got, err := s.Run(context.Background(), nil, v.Value())
		if err != nil {
			t.Fatal(err)
		}
		out[v.Name()] = got[0].String()
	}
	return out
}

func newSaver(t testing.TB, g *tf.Graph, o train.SaverOptions) *train.Saver {
	t.Helper()
	s, err := train.NewSaver(g, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSaverRoundTrip saves and restores variables of all kinds in each way there
// is, over each other and into a session that was never initialized.
func TestSaverRoundTrip(t *testing.T) {
	for name, o := range map[string]train.SaverOptions{
		"plain": {}, "sharded": {Sharded: true}, "in turn": {RestoreSequentially: true}, "reshape": {Reshape: true}, "V1": {V1: true},
		"sharded in turn": {Sharded: true, RestoreSequentially: true}, "V1 sharded": {V1: true, Sharded: true},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "model")
			g := model(3)
			saver := newSaver(t, g, o)
			s := begin(t, g, true)
			want := state(t, s)
			for range 3 { // over itself
				if at, err := saver.Save(t.Context(), s, path); err != nil || at != path {
					t.Fatal(at, err)
				}
			}
			g2 := model(5)
			saver2 := newSaver(t, g2, o)
			s2 := begin(t, g2, false)
			if err := saver2.Restore(t.Context(), s2, path); err != nil {
				t.Fatal(err)
			}
			if got := state(t, s2); !equalMaps(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			left, err := filepath.Glob(path + "*temp*")
			if err != nil || len(left) > 0 {
				t.Error("left behind:", left, err)
			}
		})
	}
}

func equalMaps(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

// TestSaverElsewhere restores what was saved in three parts into two, and into a
// whole.
func TestSaverElsewhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	g := tf.NewGraph()
	rows := make([]float32, 14)
	for i := range rows {
		rows[i] = float32(i)
	}
	at := 0
	cut := func(g *tf.Graph, _ tf.DType, s tf.Shape) tf.Output {
		x := ops.Const(g, rows[at:at+s.NumElements()], s...)
		at += s.NumElements()
		return x
	}
	vars.Scope(g, "", vars.ScopeOptions{Partitioner: vars.FixedSize(3, 0)}, func() {
		vars.GetPartitioned(g, "w", tf.Shape{7, 2}, vars.Options{Initializer: cut})
	})
	saver := newSaver(t, g, train.SaverOptions{})
	if _, err := saver.Save(t.Context(), begin(t, g, true), path); err != nil {
		t.Fatal(err)
	}
	for parts := 1; parts <= 4; parts++ {
		g := tf.NewGraph()
		var p *vars.Partitioned
		vars.Scope(g, "", vars.ScopeOptions{Partitioner: vars.FixedSize(parts, 0)}, func() {
			p = vars.GetPartitioned(g, "w", tf.Shape{7, 2})
		})
		saver := newSaver(t, g, train.SaverOptions{})
		s := begin(t, g, false)
		if err := saver.Restore(t.Context(), s, path); err != nil {
			t.Fatal(err)
		}
		if got, err := session.Fetch[float32](t.Context(), s, nil, p.Value()); err != nil || !slices.Equal(got, rows) {
			t.Errorf("%d parts: %v, %v", parts, got, err)
		}
	}
	if v, err := train.LoadVariable(path, "w"); err != nil || !slices.Equal(tf.Data[float32](v), rows) {
		t.Error(v, err)
	}
	list, err := train.ListVariables(path)
	if err != nil || len(list) != 1 || list[0].Name != "w" || !list[0].Shape.Equal(tf.Shape{7, 2}) || len(list[0].Slices) != 3 {
		t.Error(list, err)
	}
}

// TestSaverKeeps is about which checkpoints stay and what the state file says.
func TestSaverKeeps(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "model.ckpt")
	g := model(1)
	saver := newSaver(t, g, train.SaverOptions{MaxToKeep: 2, SaveRelativePaths: true})
	s := begin(t, g, true)
	for _, step := range []int64{0, 10, 20, 10, 30} {
		if _, err := saver.SaveStep(t.Context(), s, path, step); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "checkpoint"))
	want := "model_checkpoint_path: \"model.ckpt-30\"\nall_model_checkpoint_paths: \"model.ckpt-10\"\nall_model_checkpoint_paths: \"model.ckpt-30\"\n"
	if err != nil || string(text) != want {
		t.Errorf("%s, %v, want\n%s", text, err, want)
	}
	for step, there := range map[string]bool{"0": false, "10": true, "20": false, "30": true} {
		if train.CheckpointExists(path+"-"+step) != there {
			t.Errorf("checkpoint of step %s: %v", step, !there)
		}
		if files, _ := filepath.Glob(path + "-" + step + "*"); (len(files) == 3) != there {
			t.Errorf("step %s: %v", step, files)
		}
	}
	again := newSaver(t, model(1), train.SaverOptions{})
	again.RecoverLastCheckpoints([]string{path + "-10", path + "-20", path + "-30"})
	if got := again.LastCheckpoints(); !slices.Equal(got, []string{path + "-10", path + "-30"}) {
		t.Error(got)
	}
	if latest, err := train.LatestCheckpoint(dir); err != nil || latest != path+"-30" {
		t.Error(latest, err)
	}
	if err := train.RemoveCheckpoint(path + "-30"); err != nil {
		t.Error(err)
	}
	if latest, err := train.LatestCheckpoint(dir); err != nil || latest != "" {
		t.Error("of a checkpoint that is gone:", latest, err)
	}
}

// TestSaverKeepsHours: of those that are over the limit, one for each so many
// hours stays.
func TestSaverKeepsHours(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	g := model(1)
	saver := newSaver(t, g, train.SaverOptions{MaxToKeep: 1, KeepEveryHours: 1e-9})
	s := begin(t, g, true)
	time.Sleep(time.Millisecond)
	for step := range int64(3) {
		if _, err := saver.SaveStep(t.Context(), s, path, step); err != nil {
			t.Fatal(err)
		}
	}
	for step := range 3 {
		if !train.CheckpointExists(path + "-" + string(rune('0'+step))) {
			t.Error("deleted:", step)
		}
	}
}

// TestSaverMetaGraph imports what Save wrote beside a checkpoint and goes on.
func TestSaverMetaGraph(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	g := model(4)
	saver := newSaver(t, g, train.SaverOptions{Sharded: true})
	g.AddToCollection(train.Savers, saver)
	s := begin(t, g, true)
	want := state(t, s)
	if _, err := saver.Save(t.Context(), s, path); err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"", "sub/"} {
		g := tf.NewGraph()
		saver, err := train.ImportMetaGraph(g, path+".meta", tf.ImportOptions{Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		s := begin(t, g, false)
		if err := saver.Restore(t.Context(), s, path); err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for name, v := range state(t, s) {
			got[strings.TrimPrefix(name, prefix)] = v
		}
		if !equalMaps(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		if c := g.Collection(train.Savers); len(c) != 1 {
			t.Error(c)
		}
	}
}

// TestSaverEager saves and restores variables of an eager graph.
func TestSaverEager(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	g := eager.New()
	v := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "v"})
	w := tf.NewVariable(ops.Scalar(g, "word"), tf.VariableOptions{Name: "w"})
	saver := newSaver(t, g, train.SaverOptions{Named: map[string]*tf.Variable{"v": v, "w": w}})
	if _, err := saver.Save(t.Context(), nil, path); err != nil {
		t.Fatal(err)
	}
	v.Assign(ops.Const(g, []float32{5, 6}))
	w.Assign(ops.Scalar(g, "other"))
	if err := saver.Restore(t.Context(), nil, path); err != nil {
		t.Fatal(err)
	}
	a, err := v.Value().Value()
	if err != nil || !slices.Equal(tf.Data[float32](a), []float32{1, 2}) {
		t.Error(a, err)
	}
	if b, err := w.Value().Value(); err != nil || tf.Data[string](b)[0] != "word" {
		t.Error(b, err)
	}
}

// TestSaverEagerByDefault saves all variables of an eager graph, those of an
// optimizer too, without naming them, and restores them in another one.
func TestSaverEagerByDefault(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	if _, err := train.NewSaver(eager.New(), train.SaverOptions{}); !says(err, tf.InvalidArgument, "No variables to save") {
		t.Error(err)
	}
	build := func() (*tf.Variable, *train.Saver) {
		g := eager.New()
		v := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "v"})
		var loss tf.Output
		tape := eager.Record(g, func() { loss = v.Value().Square().Sum() })
		grads, err := train.TapeGradients(tape, loss, v)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (train.Adam{LearningRate: 0.5}).ApplyGradients(grads); err != nil {
			t.Fatal(err)
		}
		return v, newSaver(t, g, train.SaverOptions{})
	}
	v, saver := build()
	v.Assign(ops.Const(v.Graph(), []float32{7, 8}))
	if _, err := saver.Save(t.Context(), nil, path); err != nil {
		t.Fatal(err)
	}
	names := []string{}
	saved, err := train.ListVariables(path)
	for _, s := range saved {
		names = append(names, s.Name)
	}
	if err != nil || !slices.Equal(names, []string{"beta1_power", "beta2_power", "v", "v/Adam", "v/Adam_1"}) {
		t.Error(names, err)
	}
	w, other := build()
	if err := other.Restore(t.Context(), nil, path); err != nil {
		t.Fatal(err)
	}
	if x, err := w.Value().Value(); err != nil || !slices.Equal(tf.Data[float32](x), []float32{7, 8}) {
		t.Error(x, err)
	}
}
