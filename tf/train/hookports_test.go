package train_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/summary"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// The tests of this file have the cases of TensorFlow's basic_session_run_hooks_test:
// docs/ported-tests.md says which.

// timed runs f with a clock that moves when all wait.
func timed(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// raw returns a session on a graph whose hooks are called as a MonitoredSession calls
// them.
func raw(t *testing.T, g *tf.Graph, hooks ...train.Hook) (run func(fetches ...tf.Fetchable) (stop bool), end func()) {
	t.Helper()
	init := tf.InitializeAll(g)
	m, err := train.NewMonitoredSession(context.Background(), g, train.MonitoredOptions{Hooks: hooks, Creator: &train.ChiefSessionCreator{Graph: g, Scaffold: &train.Scaffold{InitOp: init}}})
	if err != nil {
		t.Fatal(err)
	}
	run = func(fetches ...tf.Fetchable) bool {
		t.Helper()
		if _, err := m.Run(context.Background(), nil, fetches...); err != nil {
			t.Fatal(err)
		}
		return m.ShouldStop()
	}
	return run, func() {
		t.Helper()
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSecondOrStepTimer(t *testing.T) {
	for _, bad := range []train.SecondOrStepTimer{{}, {Every: 1, EverySteps: 1}} {
		if err := bad.Check(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Error(err)
		}
	}
	timed(t, func(t *testing.T) {
		timer := train.SecondOrStepTimer{Every: time.Second}
		want := func(step int64, want bool) {
			t.Helper()
			if timer.ShouldTrigger(step) != want {
				t.Errorf("step %d: %v", step, !want)
			}
		}
		want(1, true)
		timer.Update(1)
		want(1, false)
		want(2, false)
		time.Sleep(time.Second)
		want(1, false)
		want(2, true)
		timer = train.SecondOrStepTimer{EverySteps: 3}
		want(1, true)
		timer.Update(1)
		want(1, false)
		want(2, false)
		want(3, false)
		want(4, true)
	})
	timer := train.SecondOrStepTimer{EverySteps: 1}
	if _, ok := timer.LastTriggered(); ok {
		t.Error("it was not triggered")
	}
	if _, _, ok := timer.Update(1); ok {
		t.Error("there was no time before")
	}
	if elapsed, steps, ok := timer.Update(5); !ok || steps != 4 || elapsed < 0 {
		t.Error(elapsed, steps, ok)
	}
	if step, ok := timer.LastTriggered(); !ok || step != 5 {
		t.Error(step, ok)
	}
	if timer.Reset(); !timer.ShouldTrigger(5) {
		t.Error("after a reset")
	}
}

// TestStopAtStep: each run adds some steps to a counter that stands at begin.
func TestStopAtStep(t *testing.T) {
	for _, c := range []struct {
		begin, add int64
		h          train.StopAtStepHook
		runs       int
	}{
		{0, 1, train.StopAtStepHook{LastStep: 10}, 10}, {5, 1, train.StopAtStepHook{NumSteps: 10}, 10},
	} {
		g := tf.NewGraph()
		step := tf.NewVariable(ops.Scalar(g, c.begin), tf.VariableOptions{Name: "global_step"})
		next := step.AssignAdd(ops.Scalar(g, c.add))
		run, end := raw(t, g, &c.h)
		n := 1
		for ; !run(next); n++ {
		}
		if end(); n != c.runs {
			t.Errorf("%+v: %d runs, want %d", c, n, c.runs)
		}
	}
	g := tf.NewGraph()
	step := tf.NewVariable(ops.Scalar(g, int64(5)), tf.VariableOptions{Name: "global_step"})
	none, jump := tf.Group(g, "none"), step.Assign(ops.Scalar(g, int64(15)))
	run, end := raw(t, g, &train.StopAtStepHook{NumSteps: 10})
	defer end()
	if run(none) {
		t.Error("stops before its time")
	}
	run(jump)
	if !run(none) {
		t.Error("does not stop after several steps in one")
	}
}

// TestLoggingTensors counts the lines of ten steps.
func TestLoggingTensors(t *testing.T) {
	every := func(n int64, atEnd bool) train.LoggingTensorHook {
		return train.LoggingTensorHook{EveryIter: n, AtEnd: atEnd}
	}
	for _, c := range []struct {
		h    train.LoggingTensorHook
		want []int // steps after which there is a line; 99: the end
	}{
		{train.LoggingTensorHook{AtEnd: true}, []int{99}}, {every(1, false), []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		{every(4, false), []int{0, 4, 8}}, {every(5, true), []int{0, 5, 99}}, {every(100, false), []int{0}},
		{train.LoggingTensorHook{Every: time.Second}, []int{0, 2, 4, 6, 8}}, {train.LoggingTensorHook{Every: time.Second, AtEnd: true}, []int{0, 2, 4, 6, 8, 99}},
	} {
		timed(t, func(t *testing.T) {
			g, step, next := counting()
			at, got := 0, []int(nil)
			h := c.h
			h.Tensors, h.Logger = []tf.Output{step.Value()}, slog.New(slog.DiscardHandler)
			h.Format = func([]*tf.Tensor) string { got = append(got, at); return "" }
			run, end := raw(t, g, &h)
			for at = range 10 {
				run(next)
				time.Sleep(time.Second / 2)
			}
			at = 99
			if end(); !slices.Equal(got, c.want) {
				t.Errorf("%+v: lines after %v, want %v", c.h, got, c.want)
			}
		})
	}
	var text bytes.Buffer
	g, step, next := counting()
	run, end := raw(t, g, &train.LoggingTensorHook{Tensors: []tf.Output{step.Value()}, Tags: []string{"now"}, EveryIter: 1, Logger: slog.New(slog.NewTextHandler(&text, nil))})
	run(next)
	if end(); !strings.Contains(text.String(), "now = ") {
		t.Error(text.String())
	}
}

// savedSteps returns the steps of the checkpoints that there are.
func savedSteps(t *testing.T, dir string) (steps []int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "model.ckpt-*.index"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		var n int
		if _, err := fmt.Sscanf(filepath.Base(f), "model.ckpt-%d.index", &n); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, n)
	}
	slices.Sort(steps)
	return steps
}

// TestCheckpointTimes says which steps are saved, half a second being between two runs.
func TestCheckpointTimes(t *testing.T) {
	for _, c := range []struct {
		h         train.CheckpointSaverHook
		add, runs int
		want      []int
	}{
		{train.CheckpointSaverHook{SaveEvery: 2 * time.Second}, 1, 1, []int{0, 1}},
		{train.CheckpointSaverHook{SaveEvery: 2 * time.Second}, 1, 6, []int{0, 5, 6}},
		{train.CheckpointSaverHook{SaveSteps: 2}, 1, 1, []int{0, 1}},
		{train.CheckpointSaverHook{SaveSteps: 2}, 1, 6, []int{0, 2, 4, 6}},
		{train.CheckpointSaverHook{SaveSteps: 10}, 5, 5, []int{0, 10, 20, 25}},
		{train.CheckpointSaverHook{SaveSteps: 10}, 6, 4, []int{0, 12, 24}},
		{train.CheckpointSaverHook{SaveSteps: 100}, 1, 3, []int{0, 3}},
	} {
		for _, reference := range []bool{false, true} {
			timed(t, func(t *testing.T) {
				g := tf.NewGraph()
				step := tf.NewVariable(ops.Scalar(g, int64(0)), tf.VariableOptions{Name: "global_step", Reference: reference})
				next := step.AssignAdd(ops.Scalar(g, int64(c.add)))
				h := c.h
				h.CheckpointDir = t.TempDir()
				h.Scaffold = &train.Scaffold{Saver: newSaver(t, g, train.SaverOptions{MaxToKeep: -1})}
				run, end := raw(t, g, &h)
				for range c.runs {
					run(next)
					time.Sleep(time.Second / 2)
				}
				if end(); !slices.Equal(savedSteps(t, h.CheckpointDir), c.want) {
					t.Errorf("%+v: saved %v, want %v", c, savedSteps(t, h.CheckpointDir), c.want)
				}
			})
		}
	}
}

// TestCheckpointHookGraph writes the graph and a session log, or no graph.
func TestCheckpointHookGraph(t *testing.T) {
	for _, none := range []bool{false, true} {
		g, _, next := counting()
		dir := t.TempDir()
		run, end := raw(t, g, &train.CheckpointSaverHook{CheckpointDir: dir, SaveSteps: 1, NoGraphDef: none, Scaffold: &train.Scaffold{Saver: newSaver(t, g, train.SaverOptions{})}})
		run(next)
		end()
		for _, name := range []string{"graph.pbtxt", "model.ckpt-1.meta"} {
			if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) == none {
				t.Error(name, err)
			}
		}
		got := slices.Concat(eventsIn(t, dir)...)
		if want := []string{"brain.Event:2", "graph", "meta graph", "CHECKPOINT 0", "CHECKPOINT 1"}; !slices.Equal(got, want) {
			t.Errorf("events %v, want %v", got, want)
		}
	}
	g, _, _ := counting()
	if _, err := train.NewMonitoredSession(t.Context(), g, train.MonitoredOptions{
		Hooks:   []train.Hook{&train.CheckpointSaverHook{CheckpointDir: t.TempDir(), SaveSteps: 1}},
		Creator: sessionOf(func(context.Context) (*session.Session, error) { return begin(t, g, true), nil }),
	}); !says(err, tf.InvalidArgument, "No items in collection savers") {
		t.Error(err)
	}
}

// sessionOf is a creator of sessions.
type sessionOf func(ctx context.Context) (*session.Session, error)

func (f sessionOf) CreateSession(ctx context.Context) (*session.Session, error) { return f(ctx) }

// TestTwoListeners are called in turn around each save, and one stops training.
func TestTwoListeners(t *testing.T) {
	timed(t, func(t *testing.T) {
		g, _, next := counting()
		var calls []string
		a, b := &listener{calls: &calls, stopAt: -1}, &listener{calls: &calls, stopAt: 3}
		run, end := raw(t, g, &train.CheckpointSaverHook{CheckpointDir: t.TempDir(), SaveEvery: 2 * time.Second, Listeners: []train.CheckpointSaverListener{a, b}})
		runs := 1
		for ; !run(next); runs++ {
			time.Sleep(time.Second)
		}
		end()
		want := []string{"begin", "begin", "before 0", "before 0", "after 0", "after 0", "before 3", "before 3", "after 3", "after 3", "end 3", "end 3"}
		if runs != 3 || !slices.Equal(calls, want) {
			t.Errorf("%d runs, %v, want %v", runs, calls, want)
		}
	})
}

// TestStepCounter: half a second a run.
func TestStepCounter(t *testing.T) {
	for _, c := range []struct {
		h    train.StepCounterHook
		add  int64
		runs int
		want []string // of 2 runs in a second
	}{
		{train.StepCounterHook{EverySteps: 10}, 1, 30, []string{"mine/sec=2", "mine/sec=2"}},
		{train.StepCounterHook{Every: 2 * time.Second}, 1, 10, []string{"mine/sec=2", "mine/sec=2"}},
		{train.StepCounterHook{EverySteps: 10, StepsPerRun: 5}, 5, 5, []string{"mine/sec=10", "mine/sec=10"}},
		{train.StepCounterHook{EverySteps: 5, StepsPerRun: 5}, 5, 5, []string{"mine/sec=10", "mine/sec=10", "mine/sec=10", "mine/sec=10"}},
		{train.StepCounterHook{EverySteps: 5, StepsPerRun: 10}, 10, 5, []string{"mine/sec=20", "mine/sec=20", "mine/sec=20", "mine/sec=20"}},
	} {
		timed(t, func(t *testing.T) {
			g := tf.NewGraph()
			step := tf.NewVariable(ops.Scalar(g, int64(0)), tf.VariableOptions{Name: "mine"})
			g.AddToCollection("global_step", step)
			next := step.AssignAdd(ops.Scalar(g, c.add))
			h := c.h
			h.OutputDir = t.TempDir()
			run, end := raw(t, g, &h)
			for range c.runs {
				run(next)
				time.Sleep(time.Second / 2)
			}
			end()
			if got := slices.Concat(eventsIn(t, h.OutputDir)...)[1:]; !slices.Equal(got, c.want) {
				t.Errorf("%+v: %v, want %v", c, got, c.want)
			}
		})
	}
	g, step, _ := counting()
	var text bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&text, nil)))
	defer slog.SetDefault(old)
	run, end := raw(t, g, &train.StepCounterHook{EverySteps: 100})
	for range 10 {
		run(step.Value())
	}
	if end(); strings.Count(text.String(), "has not been increased") != 5 {
		t.Error(text.String())
	}
	text.Reset()
	g = tf.NewGraph() // the steps of several replicas are one update
	step = train.GlobalStep(g)
	w := tf.NewVariable(ops.Scalar[float32](g, 1), tf.VariableOptions{Name: "w"})
	sync := &train.SyncReplicas{Optimizer: train.GradientDescent{LearningRate: 0.1}, ReplicasToAggregate: 2}
	if err := train.Minimize(sync, w.Value().Square(), train.Options{GlobalStep: step}).Err(); err != nil {
		t.Fatal(err)
	}
	run, end = raw(t, g, &train.StepCounterHook{EverySteps: 100})
	for range 3 {
		run(step.Value())
	}
	if end(); strings.Contains(text.String(), "has not been increased") {
		t.Error(text.String())
	}
}

// TestSummaryTimes writes summaries in the first step and as often as asked, a second
// being between two runs.
func TestSummaryTimes(t *testing.T) {
	for _, c := range []struct {
		h    train.SummarySaverHook
		ops  int
		want string
	}{
		{train.SummarySaverHook{SaveSteps: 4}, 1, "START 1, a=0, a=4, a=8"},
		{train.SummarySaverHook{SaveSteps: 4}, 2, "START 1, a=0, b=0, a=4, b=8, a=8, b=16"},
		{train.SummarySaverHook{SaveEvery: time.Second}, 1, "START 1, a=0, a=1, a=2, a=3, a=4, a=5, a=6, a=7, a=8"},
		{train.SummarySaverHook{SaveEvery: 3 * time.Second}, 1, "START 1, a=0, a=3, a=6"},
	} {
		for _, reference := range []bool{false, true} {
			timed(t, func(t *testing.T) {
				g := tf.NewGraph()
				step := tf.NewVariable(ops.Scalar(g, int64(0)), tf.VariableOptions{Name: "global_step", Reference: reference})
				x := step.Read().Cast(tf.Float32)
				all := []tf.Output{summary.Scalar("a", x), summary.Scalar("b", x.Mul(2))}
				next := step.AssignAdd(ops.Scalar(g, int64(1)), tf.After(all[0].Operation(), all[1].Operation()))
				h := c.h
				h.OutputDir, h.SummaryOps = t.TempDir(), all[:c.ops]
				run, end := raw(t, g, &h)
				for range 9 {
					run(next)
					time.Sleep(time.Second)
				}
				end()
				got := strings.Join(slices.Concat(eventsIn(t, h.OutputDir)...)[1:], ", ")
				if got != c.want {
					t.Errorf("%+v: %s, want %s", c.h, got, c.want)
				}
			})
		}
	}
}

// TestFinalOps: of scalars, vectors and several, and past the end of input.
func TestFinalOps(t *testing.T) {
	g, _, next := counting()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	h := &train.FinalOpsHook{FinalOps: []tf.Fetchable{x.Mul(2), ops.Const(g, []int32{37, 38})}, Feeds: session.Feeds{x: tf.Scalar(float32(3))}}
	run, end := raw(t, g, h)
	run(next)
	if end(); h.Values[0].At(0) != float32(6) || !slices.Equal(tf.Data[int32](h.Values[1]), []int32{37, 38}) {
		t.Error(h.Values)
	}
	g, _, _ = counting()
	q := train.InputProducer(ops.Const(g, []int32{1}), train.ProducerOptions{Epochs: 1})
	row := q.Dequeue()[0]
	m := monitored(t, g, &train.FinalOpsHook{FinalOps: []tf.Fetchable{row}})
	if _, err := m.Run(t.Context(), nil, row); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); tf.CodeOf(err) != tf.OutOfRange {
		t.Error(err)
	}
}

// TestProfilerTimes: not the first step.
func TestProfilerTimes(t *testing.T) {
	for _, c := range []struct {
		h    train.ProfilerHook
		runs int
		want int
	}{
		{train.ProfilerHook{SaveSteps: 2}, 1, 0}, {train.ProfilerHook{SaveSteps: 2}, 5, 2}, {train.ProfilerHook{SaveSteps: 2}, 7, 3},
		{train.ProfilerHook{SaveEvery: 2 * time.Second}, 1, 0}, {train.ProfilerHook{SaveEvery: 2 * time.Second}, 6, 2},
	} {
		timed(t, func(t *testing.T) {
			g, _, next := counting()
			h := c.h
			h.OutputDir = t.TempDir()
			run, end := raw(t, g, &h)
			for range c.runs {
				run(next)
				time.Sleep(time.Second)
			}
			end()
			if files, _ := filepath.Glob(filepath.Join(h.OutputDir, "timeline-*.json")); len(files) != c.want {
				t.Errorf("%+v: %v", c, files)
			}
		})
	}
	for _, bad := range []train.ProfilerHook{{}, {SaveSteps: 1, SaveEvery: 1}} {
		g, _, _ := counting()
		if err := bad.Begin(g); tf.CodeOf(err) != tf.InvalidArgument {
			t.Error(err)
		}
	}
}
