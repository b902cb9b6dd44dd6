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
	if latest, err := train.LatestCheckpoint(dir, ""); err != nil || latest != path+"-30" {
		t.Error(latest, err)
	}
	if err := train.RemoveCheckpoint(path + "-30"); err != nil {
		t.Error(err)
	}
	if latest, err := train.LatestCheckpoint(dir, ""); err != nil || latest != "" {
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

// TestSaverRefuses is about what cannot be saved or restored.
func TestSaverRefuses(t *testing.T) {
	one := func(g *tf.Graph) *tf.Variable {
		return tf.NewVariable(ops.Scalar(g, float32(1)), tf.VariableOptions{Name: "v"})
	}
	if _, err := train.NewSaver(tf.NewGraph(), train.SaverOptions{}); !says(err, tf.InvalidArgument, "No variables to save") {
		t.Error(err)
	}
	g := tf.NewGraph()
	v := one(g)
	if _, err := train.NewSaver(g, train.SaverOptions{Vars: []*tf.Variable{v, v}}); !says(err, tf.InvalidArgument, "At least two variables have the same name: v") {
		t.Error(err)
	}
	if _, err := train.NewSaver(g, train.SaverOptions{Named: map[string]*tf.Variable{"a": v, "b": v}}); !says(err, tf.InvalidArgument, "The same saveable will be restored with two names: a and b") {
		t.Error(err)
	}
	if _, err := train.NewSaver(g, train.SaverOptions{Named: map[string]*tf.Variable{"a": nil}}); !says(err, tf.InvalidArgument, "got nil for \"a\"") {
		t.Error(err)
	}
	if _, err := train.NewSaver(tf.NewGraph(), train.SaverOptions{Vars: []*tf.Variable{v}}); !says(err, tf.InvalidArgument, "must belong to its graph") {
		t.Error(err)
	}
	saver := newSaver(t, g, train.SaverOptions{})
	s := begin(t, g, true)
	dir := t.TempDir()
	if _, err := saver.Save(t.Context(), s, filepath.Join(dir, "checkpoint")); !says(err, tf.InvalidArgument, "'latest_filename' collides with 'save_path'") {
		t.Error(err)
	}
	if _, err := saver.Save(t.Context(), s, filepath.Join(dir, "m"), train.SaveOptions{LatestFilename: "a/b"}); !says(err, tf.InvalidArgument, "must not contain path components") {
		t.Error(err)
	}
	if _, err := saver.Save(t.Context(), s, filepath.Join(dir, "none", "below", "m")); !says(err, tf.InvalidArgument, "doesn't exist, can't save.") {
		t.Error(err)
	}
	if err := saver.Restore(t.Context(), s, filepath.Join(dir, "none")); !says(err, tf.InvalidArgument, "The passed save_path is not a valid checkpoint: ") {
		t.Error(err)
	}
	path := filepath.Join(dir, "m")
	if _, err := saver.Save(t.Context(), s, path); err != nil {
		t.Fatal(err)
	}
	other := tf.NewGraph()
	tf.NewVariable(ops.Scalar(other, float32(1)), tf.VariableOptions{Name: "u"})
	if err := newSaver(t, other, train.SaverOptions{}).Restore(t.Context(), begin(t, other, false), path); !says(err, tf.NotFound, "a Variable name or other graph key that is missing from the checkpoint", "Key u not found in checkpoint") {
		t.Error(err)
	}
	for _, wrong := range []func(g *tf.Graph) tf.Output{
		func(g *tf.Graph) tf.Output { return ops.Scalar(g, int32(1)) },
		func(g *tf.Graph) tf.Output { return ops.Const(g, []float32{1, 2}) },
	} {
		for _, ref := range []bool{false, true} {
			g := tf.NewGraph()
			tf.NewVariable(wrong(g), tf.VariableOptions{Name: "v", Reference: ref})
			if err := newSaver(t, g, train.SaverOptions{}).Restore(t.Context(), begin(t, g, false), path); !says(err, tf.InvalidArgument, "a mismatch between the current graph and the graph from the checkpoint") {
				t.Error(ref, err)
			}
		}
	}
}

func says(err error, code tf.Code, words ...string) bool {
	if tf.CodeOf(err) != code {
		return false
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			return false
		}
	}
	return true
}

// TestCheckpointsIterator sees checkpoints as they come and ends when none does.
func TestCheckpointsIterator(t *testing.T) {
	dir := t.TempDir()
	g := model(1)
	saver, s := newSaver(t, g, train.SaverOptions{}), begin(t, g, true)
	save := func(step int64) {
		if _, err := saver.SaveStep(t.Context(), s, filepath.Join(dir, "m"), step); err != nil {
			t.Fatal(err)
		}
	}
	save(1)
	var seen []string
	for path := range train.CheckpointsIterator(t.Context(), dir, train.CheckpointsOptions{Timeout: 50 * time.Millisecond, Poll: time.Millisecond}) {
		if seen = append(seen, filepath.Base(path)); len(seen) < 3 {
			save(int64(len(seen) + 1))
		}
	}
	if !slices.Equal(seen, []string{"m-1", "m-2", "m-3"}) {
		t.Error(seen)
	}
}

// TestCheckpointState reads files that are damaged or written by others.
func TestCheckpointState(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "checkpoint"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := train.ReadCheckpointState(dir, ""); s != nil || err != nil {
		t.Error(s, err)
	}
	write("nonsense {{{")
	if s, err := train.ReadCheckpointState(dir, ""); s != nil || err != nil {
		t.Error(s, err)
	}
	write("")
	if _, err := train.ReadCheckpointState(dir, ""); !says(err, tf.InvalidArgument, "Invalid checkpoint state loaded from") {
		t.Error(err)
	}
	write("model_checkpoint_path: \"m\\303\\244-1\"\nall_model_checkpoint_paths: \"/abs\"\nall_model_checkpoint_timestamps: 1.5\nlast_preserved_timestamp: 2.25\n")
	s, err := train.ReadCheckpointState(dir, "")
	if err != nil || s.Latest != filepath.Join(dir, "mä-1") || s.All[0] != "/abs" || s.Times[0].UnixMilli() != 1500 || s.LastPreserved.UnixMilli() != 2250 {
		t.Error(s, err)
	}
	s.All, s.Times = []string{s.Latest}, s.Times[:1]
	if err := s.Write(dir, ""); err != nil {
		t.Fatal(err)
	}
	again, err := train.ReadCheckpointState(dir, "")
	if err != nil || again.Latest != s.Latest || again.Times[0] != s.Times[0] {
		t.Error(again, err)
	}
	s.Times = append(s.Times, time.Now())
	if err := s.Write(dir, ""); !says(err, tf.InvalidArgument, "must match checkpoint paths") {
		t.Error(err)
	}
	s.Times, s.Latest, s.All = nil, filepath.Join(dir, "checkpoint"), nil
	if err := s.Write(dir, ""); !says(err, tf.InvalidArgument, "conflicts with path used for checkpoint state") {
		t.Error(err)
	}
}

// writeText writes a file.
func writeText(name, text string) error { return os.WriteFile(name, []byte(text), 0o600) }

// TestSaverSweeps: what a saver that died left goes with the first save of the next
// one; directories of others stay.
func TestSaverSweeps(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"m-5_temp", "m_temp", "m-x_temp", "other-5_temp", "m-5_temporary"} {
		sub := filepath.Join(dir, name)
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := writeText(filepath.Join(sub, "part-00000-of-00002.index"), "x"); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(sub, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := writeText(filepath.Join(dir, "m-5.index.tempstate123"), "x"); err != nil {
		t.Fatal(err)
	}
	g := model(1)
	if _, err := newSaver(t, g, train.SaverOptions{Sharded: true}).SaveStep(t.Context(), begin(t, g, true), filepath.Join(dir, "m"), 6); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), "temp") {
			left = append(left, e.Name())
		}
	}
	if want := []string{"m-5_temporary", "m-x_temp", "other-5_temp"}; !slices.Equal(left, want) {
		t.Errorf("left: %v, want %v", left, want)
	}
}
