package train_test

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

const dataFile = ".data-00000-of-00001"

// damages are ways in which the files of a checkpoint are damaged.
var damages = map[string]func(path string) error{
	"data cut off":     func(path string) error { return os.Truncate(path+dataFile, 100_000) },
	"data empty":       func(path string) error { return os.Truncate(path+dataFile, 0) },
	"data missing":     func(path string) error { return os.Remove(path + dataFile) },
	"bit of data":      func(path string) error { return flip(path+dataFile, 70_000) },
	"index cut off":    func(path string) error { return os.Truncate(path+".index", 60) },
	"index empty":      func(path string) error { return os.Truncate(path+".index", 0) },
	"index missing":    func(path string) error { return os.Remove(path + ".index") },
	"bit of index":     func(path string) error { return flip(path+".index", 20) },
	"index is foolery": func(path string) error { return os.WriteFile(path+".index", bytes.Repeat([]byte("no"), 200), 0o600) },
}

// logged returns what is logged while f runs.
func logged(f func()) string {
	var text bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&text, nil)))
	defer slog.SetDefault(old)
	f()
	return text.String()
}

// resumed trains until a step in a directory and returns the first step of that.
func resumed(t *testing.T, dir string, until int64) (from int64) {
	t.Helper()
	g, next := growing()
	m, err := train.MonitoredTrainingSession(t.Context(), g, train.TrainingOptions{
		CheckpointDir: dir, SaveCheckpointSteps: 1, SaveSummariesSteps: -1, LogStepCountSteps: -1, Hooks: []train.Hook{&train.StopAtStepHook{LastStep: until}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if from, err = train.StepOf(t.Context(), m.RawSession(), train.GetGlobalStep(g)); err != nil {
		t.Fatal(err)
	}
	if err := m.Train(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	return from
}

// TestSessionSkipsDamage: training goes on from the last checkpoint that is whole, says
// so, and leaves whole checkpoints.
func TestSessionSkipsDamage(t *testing.T) {
	for name, spoil := range damages {
		for _, many := range []int{1, 2} {
			dir := t.TempDir()
			resumed(t, dir, 4)
			state, err := train.ReadCheckpointState(dir)
			if err != nil || len(state.All) != 5 {
				t.Fatal(state, err)
			}
			for k := range many {
				if err := spoil(state.All[4-k]); err != nil {
					t.Fatal(err)
				}
			}
			var from int64
			text := logged(func() { from = resumed(t, dir, 7) })
			if want := int64(4 - many); from != want || strings.Count(text, "a checkpoint is damaged and is skipped") != many || !strings.Contains(text, "an earlier checkpoint was restored") {
				t.Errorf("%s, %d of them: training went on from step %d, want %d, and said:\n%s", name, many, from, want, text)
			}
			latest, err := train.LatestCheckpoint(dir)
			if err != nil || train.VerifyCheckpoint(latest) != nil || countIn(t, latest) != 7 {
				t.Errorf("%s: the latest checkpoint is %s, %v", name, latest, err)
			}
			if state, err = train.ReadCheckpointState(dir); err != nil || len(state.All) != 5 {
				t.Errorf("%s: %v, %v", name, state, err)
			}
			for _, path := range state.All {
				if err := train.VerifyCheckpoint(path); err != nil {
					t.Errorf("%s: %s stayed in the place of a good one: %v", name, path, err)
				}
			}
		}
	}
}

// preparing returns the error of making a session of g from a directory or a checkpoint.
func preparing(t *testing.T, g *tf.Graph, o train.PrepareOptions) error {
	t.Helper()
	o.Saver, o.InitOp = newSaver(t, g, train.SaverOptions{}), tf.InitializeAll(g)
	s, err := (&train.SessionManager{Graph: g}).PrepareSession(t.Context(), o)
	if err == nil {
		err = s.Close()
	}
	return err
}

// TestSessionKeepsErrors: nothing but damage is passed over.
func TestSessionKeepsErrors(t *testing.T) {
	other := func(v tf.Output) *tf.Graph {
		tf.NewVariable(v, tf.VariableOptions{Name: "v0"})
		return v.Graph()
	}
	wrongShape := func() *tf.Graph { return other(ops.Const(tf.NewGraph(), []int64{1, 2})) }
	wrongType := func() *tf.Graph { return other(ops.Const(tf.NewGraph(), make([]float32, 20_000))) }
	missing := func() *tf.Graph {
		g, _ := growing()
		tf.NewVariable(ops.Scalar(g, int64(1)), tf.VariableOptions{Name: "more"})
		return g
	}
	dir := t.TempDir()
	paths := saved(t, dir, 3)
	check := func(what string, err error, code tf.Code, words string) {
		t.Helper()
		if !says(err, code, words) {
			t.Errorf("%s: %v", what, err)
		}
	}
	check("another shape", preparing(t, wrongShape(), train.PrepareOptions{CheckpointDir: dir}), tf.InvalidArgument, "a mismatch between the current graph")
	check("another type", preparing(t, wrongType(), train.PrepareOptions{CheckpointDir: dir}), tf.InvalidArgument, "a mismatch between the current graph")
	check("one more", preparing(t, missing(), train.PrepareOptions{CheckpointDir: dir}), tf.NotFound, "Key more not found")
	if err := flip(paths[2]+dataFile, 70_000); err != nil {
		t.Fatal(err)
	}
	text := logged(func() {
		check("damage, then another shape", preparing(t, wrongShape(), train.PrepareOptions{CheckpointDir: dir}), tf.InvalidArgument, "a mismatch between the current graph")
	})
	g, _ := growing()
	check("the path of a damaged one", preparing(t, g, train.PrepareOptions{CheckpointPath: paths[2]}), tf.DataLoss, "Checksum does not match")
	for _, path := range paths[:2] {
		if err := os.Truncate(path+dataFile, 5); err != nil {
			t.Fatal(err)
		}
	}
	g, _ = growing()
	text += logged(func() {
		check("all are damaged", preparing(t, g, train.PrepareOptions{CheckpointDir: dir}), tf.DataLoss, "Checksum does not match")
	})
	if n := strings.Count(text, "is skipped"); n < 3 {
		t.Errorf("%d skipped:\n%s", n, text)
	}
}

// TestSessionKeepsOtherFailures: files that the system does not let us open are not damaged.
func TestSessionKeepsOtherFailures(t *testing.T) {
	dir := t.TempDir()
	data := saved(t, dir, 2)[1] + dataFile
	if err := os.Remove(data); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(data, data); err != nil {
		t.Skip("a file system without links:", err)
	}
	g, _ := growing()
	if err := preparing(t, g, train.PrepareOptions{CheckpointDir: dir}); tf.CodeOf(err) != tf.Unknown { // a loop of links
		t.Error(err)
	}
}
