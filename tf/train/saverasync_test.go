package train_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// counters makes variables of both kinds on two devices. The operation adds 1 to
// each element of them.
func counters() (*tf.Graph, *tf.Operation) {
	g := tf.NewGraph()
	var all []*tf.Operation
	for i := range 4 {
		g.Device(fmt.Sprintf("/job:localhost/task:0/device:CPU:%d", i/2), func() {
			v := tf.NewVariable(ops.Const(g, make([]int64, 3000)), tf.VariableOptions{Name: fmt.Sprint("v", i), Reference: i%2 == 1})
			ones := make([]int64, 3000)
			for k := range ones {
				ones[k] = 1
			}
			all = append(all, v.AssignAdd(ops.Const(g, ones)))
		})
	}
	return g, tf.Group(g, "step", all...)
}

// countIn returns the one number that all elements of a checkpoint have.
func countIn(t *testing.T, path string) int64 {
	t.Helper()
	r, err := train.OpenCheckpoint(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	seen := map[int64]bool{}
	for _, v := range r.Variables() {
		x, err := r.Tensor(v.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range tf.Data[int64](x) {
			seen[n] = true
		}
	}
	if len(seen) != 1 {
		t.Fatalf("%s mixes the steps %v", path, seen)
	}
	for n := range seen {
		return n
	}
	return 0
}

// TestSaveAsync saves between steps that never pause: each checkpoint has the state of
// one step.
func TestSaveAsync(t *testing.T) {
	for name, o := range map[string]train.SaverOptions{"plain": {}, "sharded": {Sharded: true}, "V1": {V1: true}} {
		t.Run(name, func(t *testing.T) {
			g, next := counters()
			saver := newSaver(t, g, o)
			s := begin(t, g, true)
			asyncSteps(t, saver, s, next)
		})
	}
}

// TestSaveAsyncImported does it with a saver that came with a MetaGraph.
func TestSaveAsyncImported(t *testing.T) {
	for _, sharded := range []bool{false, true} {
		g, next := counters()
		file := filepath.Join(t.TempDir(), "graph.meta")
		if err := newSaver(t, g, train.SaverOptions{Sharded: sharded}).ExportMetaGraph(file); err != nil {
			t.Fatal(err)
		}
		g = tf.NewGraph()
		saver, err := train.ImportMetaGraph(g, file, tf.ImportOptions{})
		if err != nil {
			t.Fatal(err)
		}
		asyncSteps(t, saver, begin(t, g, true), g.Operation(next.Name))
	}
}

func asyncSteps(t *testing.T, saver *train.Saver, s *session.Session, next *tf.Operation) {
	t.Helper()
	ctx, dir := t.Context(), t.TempDir()
	var saves []*train.PendingSave
	for i := range 24 {
		if i%4 == 0 {
			p, err := saver.SaveStepAsync(ctx, s, filepath.Join(dir, "m"), int64(i))
			if err != nil {
				t.Fatal(err)
			}
			saves = append(saves, p)
		}
		if _, err := s.Run(ctx, nil, next); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range saves {
		path, err := p.Wait(ctx)
		if want := fmt.Sprintf("%s-%d", filepath.Join(dir, "m"), 4*i); err != nil || path != want {
			t.Fatalf("%s, %v, want %s", path, err, want)
		}
		if i == 0 {
			continue // of six checkpoints five are kept
		}
		if got := countIn(t, path); got != int64(4*i) {
			t.Errorf("%s has the values of step %d", path, got)
		}
	}
	if latest, err := train.LatestCheckpoint(dir); err != nil || latest != filepath.Join(dir, "m-20") {
		t.Error(latest, err)
	}
}

// A heldRunner holds back the second run, which writes, until it is let go.
type heldRunner struct {
	tf.StepRunner
	runs int
	held chan struct{}
}

func (r *heldRunner) RunStep(ctx context.Context, feeds map[tf.Output]tf.Value, fetches ...tf.Fetchable) ([]*tf.Tensor, error) {
	if r.runs++; r.runs == 2 {
		select {
		case <-r.held:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return r.StepRunner.RunStep(ctx, feeds, fetches...)
}

// TestSavesDoNotOverlap: while one is being written the state file is the old one,
// and another save waits, as long as its context allows.
func TestSavesDoNotOverlap(t *testing.T) {
	g, next := counters()
	saver := newSaver(t, g, train.SaverOptions{})
	s := begin(t, g, true)
	dir := t.TempDir()
	path := filepath.Join(dir, "m")
	if _, err := saver.SaveStep(t.Context(), s, path, 0); err != nil {
		t.Fatal(err)
	}
	slow := &heldRunner{StepRunner: s, held: make(chan struct{})}
	p, err := saver.SaveStepAsync(t.Context(), slow, path, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), nil, next); err != nil {
		t.Fatal(err)
	}
	if latest, err := train.LatestCheckpoint(dir); err != nil || latest != path+"-0" {
		t.Error(latest, err)
	}
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := saver.SaveStepAsync(short, s, path, 2); tf.CodeOf(err) != tf.Canceled || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := saver.SaveStep(short, s, path, 2); tf.CodeOf(err) != tf.Canceled || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := p.Wait(short); tf.CodeOf(err) != tf.Canceled || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(slow.held)
	if _, err := saver.SaveStep(t.Context(), s, path, 2); err != nil { // after the other
		t.Error(err)
	}
	select {
	case <-p.Done():
	default:
		t.Error("the second save has overtaken the first")
	}
	for step, want := range map[int]int64{1: 0, 2: 1} {
		if got := countIn(t, fmt.Sprint(path, "-", step)); got != want {
			t.Errorf("checkpoint %d has the values of step %d, want %d", step, got, want)
		}
	}
}

// TestSaveAsyncFails: Wait says why, and saves go on to work.
func TestSaveAsyncFails(t *testing.T) {
	g, _ := counters()
	saver := newSaver(t, g, train.SaverOptions{})
	s := begin(t, g, true)
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.WriteFile(dir, []byte("a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "m")
	p, err := saver.SaveAsync(t.Context(), s, path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(t.Context()); !says(err, tf.InvalidArgument, "Parent directory of", "doesn't exist, can't save.") {
		t.Error(err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	slow := &heldRunner{StepRunner: s, held: make(chan struct{})}
	if p, err = saver.SaveAsync(t.Context(), slow, path); err != nil {
		t.Fatal(err)
	}
	p.Cancel()
	if _, err := p.Wait(t.Context()); err == nil || train.CheckpointExists(path) {
		t.Error("a save that was given up is no checkpoint:", err)
	}
	// The next one drops what that has left in the staging area.
	if p, err = saver.SaveAsync(t.Context(), s, path); err != nil {
		t.Fatal(err)
	}
	if at, err := p.Wait(t.Context()); err != nil || at != path || !train.CheckpointExists(path) {
		t.Error(at, err)
	}
	if _, err := saver.SaveAsync(t.Context(), nil, path); !says(err, tf.InvalidArgument, "saved from a session") {
		t.Error(err)
	}
	if _, err := saver.SaveAsync(t.Context(), s, filepath.Join(dir, "checkpoint")); !says(err, tf.InvalidArgument, "collides") {
		t.Error(err)
	}
	if _, err := saver.SaveAsync(t.Context(), s, path, train.SaveOptions{LatestFilename: "a/b"}); !says(err, tf.InvalidArgument, "path components") {
		t.Error(err)
	}
}

// TestSaveAsyncEager saves an eager graph, which goes on computing meanwhile.
func TestSaveAsyncEager(t *testing.T) {
	for _, old := range []bool{false, true} {
		g := eager.New()
		v := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "v"})
		saver := newSaver(t, g, train.SaverOptions{Named: map[string]*tf.Variable{"v": v}, V1: old})
		path := filepath.Join(t.TempDir(), "m")
		p, err := saver.SaveAsync(t.Context(), nil, path)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Assign(ops.Const(g, []float32{3, 4})).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := train.LoadVariable(path, "v")
		if err != nil || !slices.Equal(tf.Data[float32](got), []float32{1, 2}) {
			t.Error(got, err)
		}
	}
}

// TestAsyncHook: listeners are called in order around saves that are written beside
// training, and the last step is saved.
func TestAsyncHook(t *testing.T) {
	g, _, next := counting()
	dir := t.TempDir()
	var calls []string
	l := &listener{calls: &calls, stopAt: -1}
	m, err := train.MonitoredTrainingSession(t.Context(), g, train.TrainingOptions{
		CheckpointDir: dir, SaveCheckpointSteps: 3, AsyncCheckpoints: true, Listeners: []train.CheckpointSaverListener{l},
		Hooks: []train.Hook{&train.StopAtStepHook{LastStep: 40}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Train(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(calls, ",")
	if !strings.HasPrefix(text, "begin,before 0,after 0,") || !strings.HasSuffix(text, ",before 40,after 40,end 40") {
		t.Error(calls)
	}
	for i := 1; i+1 < len(calls); i += 2 {
		if before, ok := strings.CutPrefix(calls[i], "before "); ok && calls[i+1] != "after "+before {
			t.Errorf("%s comes before %s", calls[i], calls[i+1])
		}
	}
	latest, err := train.LatestCheckpoint(dir)
	if err != nil || latest != filepath.Join(dir, "model.ckpt-40") {
		t.Fatal(latest, err)
	}
	if v, err := train.LoadVariable(latest, "global_step"); err != nil || v.At(0) != int64(40) {
		t.Error(v, err)
	}
}

// TestAsyncHookFails: the failure of a save ends training, at a step or at the end.
func TestAsyncHookFails(t *testing.T) {
	g, _, next := counting()
	dir := t.TempDir()
	m, err := train.MonitoredTrainingSession(t.Context(), g, train.TrainingOptions{
		CheckpointDir: dir, SaveCheckpointSteps: 2, AsyncCheckpoints: true, NoGraphDef: true, SaveSummariesSteps: -1, LogStepCountSteps: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	// A directory where the index belongs.
	for step := range 50 {
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprintf("model.ckpt-%d.index", step+1), "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 {
		if _, err = m.Run(t.Context(), nil, next); err != nil {
			break
		}
	}
	if err = m.CloseWith(err); err == nil || !strings.Contains(err.Error(), ".index") {
		t.Error(err)
	}
	if latest, err := train.LatestCheckpoint(dir); err != nil || latest != filepath.Join(dir, "model.ckpt-0") {
		t.Error(latest, err)
	}
}

// TestAsyncHookLosesSession: a save of a session that is lost does not keep training
// from going on in another one.
func TestAsyncHookLosesSession(t *testing.T) {
	g, step, next := counting()
	left, runs := 3, 0
	var calls []string
	h := &spy{name: "h", calls: &calls, on: map[string]func(*train.RunContext) error{"after": func(*train.RunContext) error {
		if runs++; runs%4 == 0 && left > 0 {
			left--
			return tf.Errorf(tf.Unavailable, "injected")
		}
		return nil
	}}}
	dir := t.TempDir()
	m, err := train.MonitoredTrainingSession(t.Context(), g, train.TrainingOptions{
		CheckpointDir: dir, SaveCheckpointSteps: 1, AsyncCheckpoints: true, Hooks: []train.Hook{h, &train.StopAtStepHook{LastStep: 20}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Train(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if v, err := train.LoadVariable(dir, step.Name()); left > 0 || err != nil || v.At(0) != int64(20) {
		t.Error(left, v, err)
	}
}
