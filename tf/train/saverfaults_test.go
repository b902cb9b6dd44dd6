package train_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

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
	for _, path := range []string{"", dir + "/"} {
		if _, err := saver.Save(t.Context(), s, path); !says(err, tf.InvalidArgument, "must end with that of its files") {
			t.Errorf("%q: %v", path, err)
		}
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
			if err := newSaver(t, g, train.SaverOptions{}).Restore(t.Context(), begin(t, g, false), path); !says(err, tf.InvalidArgument, "a mismatch between the current graph and the graph from the checkpoint", fmt.Sprintf("v is %v%v in the graph, float32[] in the checkpoint", wrong(g).DType(), wrong(g).Shape())) {
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
	if s, err := train.ReadCheckpointState(dir); s != nil || err != nil {
		t.Error(s, err)
	}
	write("nonsense {{{")
	if s, err := train.ReadCheckpointState(dir); s != nil || err != nil {
		t.Error(s, err)
	}
	write("")
	if _, err := train.ReadCheckpointState(dir); !says(err, tf.InvalidArgument, "Invalid checkpoint state loaded from") {
		t.Error(err)
	}
	write("model_checkpoint_path: \"m\\303\\244-1\"\nall_model_checkpoint_paths: \"/abs\"\nall_model_checkpoint_timestamps: 1.5\nlast_preserved_timestamp: 2.25\n")
	s, err := train.ReadCheckpointState(dir)
	if err != nil || s.Latest != filepath.Join(dir, "mä-1") || s.All[0] != "/abs" || s.Times[0].UnixMilli() != 1500 || s.LastPreserved.UnixMilli() != 2250 {
		t.Error(s, err)
	}
	s.All, s.Times = []string{s.Latest}, s.Times[:1]
	if err := s.Write(dir); err != nil {
		t.Fatal(err)
	}
	again, err := train.ReadCheckpointState(dir)
	if err != nil || again.Latest != s.Latest || again.Times[0] != s.Times[0] {
		t.Error(again, err)
	}
	s.Times = append(s.Times, time.Now())
	if err := s.Write(dir); !says(err, tf.InvalidArgument, "must match checkpoint paths") {
		t.Error(err)
	}
	s.Times, s.Latest, s.All = nil, filepath.Join(dir, "checkpoint"), nil
	if err := s.Write(dir); !says(err, tf.InvalidArgument, "conflicts with path used for checkpoint state") {
		t.Error(err)
	}
}

// writeText writes a file.
func writeText(name, text string) error { return os.WriteFile(name, []byte(text), 0o600) }

// TestSaverSweeps: what a saver that died left goes with the first save of the next
// one; directories of others stay.
func TestSaverSweeps(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-2 * time.Hour)
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
	// A file of TensorFlow's that has just been written may have a writer.
	for name, age := range map[string]time.Time{"m-5.index.tempstate123g": time.Now(), "m-5.index.tempstate124": old, "m-5.index.tempstate125": time.Now()} {
		if err := writeText(filepath.Join(dir, name), "x"); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(filepath.Join(dir, name), age, age); err != nil {
			t.Fatal(err)
		}
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
	if want := []string{"m-5.index.tempstate125", "m-5_temporary", "m-x_temp", "other-5_temp"}; !slices.Equal(left, want) {
		t.Errorf("left: %v, want %v", left, want)
	}
}

// TestSaverKeepsWhatIsWrittenAgain saves a checkpoint again that was about to be deleted
// when the state file could not be written: it is the latest one now.
func TestSaverKeepsWhatIsWrittenAgain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m")
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o755); err != nil {
		t.Fatal(err)
	}
	g := model(1)
	saver, s := newSaver(t, g, train.SaverOptions{MaxToKeep: 1}), begin(t, g, true)
	save := func(step int64, o train.SaveOptions) error {
		_, err := saver.SaveStep(t.Context(), s, path, step, o)
		return err
	}
	if err := save(1, train.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := save(2, train.SaveOptions{LatestFilename: "taken"}); err == nil {
		t.Fatal("a directory was written as a state file")
	}
	if err := save(1, train.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	if latest, err := train.LatestCheckpoint(dir); err != nil || latest != path+"-1" {
		t.Errorf("the latest checkpoint is %q, %v", latest, err)
	}
}
