package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestHooksRefuse has what hooks say of wrong fields.
func TestHooksRefuse(t *testing.T) {
	g, step, _ := counting()
	x := ops.Scalar(g, "s")
	for words, h := range map[string]train.Hook{
		"One of num_steps or last_step must be specified.":       &train.StopAtStepHook{},
		"Only one of num_steps or last_step can be specified.":   &train.StopAtStepHook{NumSteps: 1, LastStep: 1},
		"You cannot provide both saver and scaffold.":            &train.CheckpointSaverHook{Saver: &train.Saver{}, Scaffold: &train.Scaffold{}},
		"Either every_secs or every_steps should be provided.":   &train.CheckpointSaverHook{},
		"Can not provide both every_secs and every_steps.":       &train.SummarySaverHook{SaveSteps: 1, SaveEvery: 1, SummaryOps: []tf.Output{x}},
		"Exactly one of scaffold or summary_op must be provided": &train.SummarySaverHook{SaveSteps: 1},
		"exactly one of every_n_steps and every_n_secs":          &train.StepCounterHook{EverySteps: 1, Every: 1},
		"either at_end and/or exactly one of":                    &train.LoggingTensorHook{},
		"invalid every_n_iter=-1.":                               &train.LoggingTensorHook{EveryIter: -1},
		"a tag for each tensor":                                  &train.LoggingTensorHook{EveryIter: 1, Tags: []string{"a"}},
		"a loss of a floating-point type":                        &train.NanTensorHook{Loss: step.Value()},
	} {
		if _, err := train.NewMonitoredSession(t.Context(), g, train.MonitoredOptions{Hooks: []train.Hook{h}}); !says(err, tf.InvalidArgument, words) {
			t.Errorf("%T: %v, want %s", h, err, words)
		}
	}
	none := tf.NewGraph()
	for _, h := range []train.Hook{
		&train.StopAtStepHook{LastStep: 1}, &train.CheckpointSaverHook{SaveSteps: 1}, &train.StepCounterHook{}, &train.GlobalStepWaiterHook{},
		&train.SummarySaverHook{SaveSteps: 1, SummaryOps: []tf.Output{x}}, &train.ProfilerHook{SaveSteps: 1},
	} {
		if err := h.Begin(none); !says(err, tf.FailedPrecondition, "Global step should be created to use") {
			t.Errorf("%T: %v", h, err)
		}
	}
}

// TestHooksHideNoMistake: what is wrong in the graph is said with its line, not what a hook
// finds of it.
func TestHooksHideNoMistake(t *testing.T) {
	wrong := func(g *tf.Graph) tf.Output {
		return ops.MatMul(ops.Const(g, []float32{1, 2}), ops.Const(g, []float32{1, 2}, 2, 1)).Mean()
	}
	for name, c := range map[string]struct {
		hook func(*tf.Graph) train.Hook
		want string
	}{
		"a loss that is none": {func(g *tf.Graph) train.Hook { return &train.NanTensorHook{Loss: wrong(g)} }, "Shape must be rank 2 but is rank 1"},
		"a log of it": {func(g *tf.Graph) train.Hook {
			return &train.LoggingTensorHook{Tensors: []tf.Output{wrong(g)}, EveryIter: 1}
		}, "Shape must be rank 2 but is rank 1"},
		"no replicas": {func(g *tf.Graph) train.Hook {
			o := &train.SyncReplicas{Optimizer: train.GradientDescent{LearningRate: 0.1}}
			v := tf.NewVariable(ops.Scalar[float32](g, 0), tf.VariableOptions{Name: "v"})
			train.Minimize(o, v.Value().Square(), train.Options{GlobalStep: train.GlobalStep(g)})
			return o.Hook(true)
		}, "the numbers of replicas must be positive, got 0 of 0"},
	} {
		g := tf.NewGraph()
		h := c.hook(g)
		_, err := train.NewMonitoredSession(t.Context(), g, train.MonitoredOptions{Hooks: []train.Hook{h}})
		if !says(err, tf.InvalidArgument, c.want) || !says(err, tf.InvalidArgument, "hooks_test.go:") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	h := &train.NanTensorHook{Loss: wrong(tf.NewGraph())}
	if err := h.Begin(nil); !says(err, tf.InvalidArgument, "Shape must be rank 2") {
		t.Error(err)
	}
}

// TestNan ends with an error, or like a last step.
func TestNan(t *testing.T) {
	for _, stop := range []bool{false, true} {
		g := tf.NewGraph()
		x := ops.Placeholder(g, tf.Float32, tf.Shape{})
		loss := x.Mul(2)
		m := monitored(t, g, &train.NanTensorHook{Loss: loss, Stop: stop})
		if _, err := m.Run(t.Context(), session.Feeds{x: tf.Scalar(float32(1))}, loss); err != nil || m.ShouldStop() {
			t.Fatal(err)
		}
		_, err := m.Run(t.Context(), session.Feeds{x: tf.Scalar(float32(math.NaN()))}, loss)
		if errors.Is(err, train.ErrNanLoss) == stop || m.ShouldStop() != stop {
			t.Error(stop, err)
		}
		if !stop && !strings.HasSuffix(err.Error(), "(tensor Mul:0)") { // no step is counted
			t.Error(err)
		}
		m.CloseWith(err)
	}
}

// TestOtherHooks runs those that wait, log, count and end.
func TestOtherHooks(t *testing.T) {
	dir := t.TempDir()
	g, step, next := counting()
	var lines []string
	log := &train.LoggingTensorHook{Tensors: []tf.Output{step.Value()}, EveryIter: 2, AtEnd: true, Format: func(v []*tf.Tensor) string {
		lines = append(lines, fmt.Sprint(v[0].At(0)))
		return "step"
	}}
	final := &train.FinalOpsHook{FinalOps: []tf.Fetchable{step.Value()}}
	prof := &train.ProfilerHook{SaveSteps: 2, OutputDir: dir}
	m := monitored(t, g, log, final, prof, &train.StepCounterHook{EverySteps: 2, OutputDir: dir}, &train.GlobalStepWaiterHook{})
	for range 5 {
		if _, err := m.Run(t.Context(), nil, next); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 4 || lines[3] != "5" || final.Values[0].At(0) != int64(5) {
		t.Error(lines, final.Values)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "timeline-*.json")); len(files) != 2 {
		t.Error(files)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "events.*")); len(files) != 1 {
		t.Error(files)
	}
}

// TestWaiter waits for another worker's steps, and not longer than its context.
func TestWaiter(t *testing.T) {
	g, _, next := counting()
	m := monitored(t, g, &train.GlobalStepWaiterHook{WaitUntilStep: 3, Poll: time.Millisecond})
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := m.Run(short, nil, next); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	for range 3 {
		if _, err := m.RawSession().Run(t.Context(), nil, next); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Run(t.Context(), nil, next); err != nil {
		t.Error(err)
	}
	m.Close()
}

// TestSaverListeners are called around each save, and can stop training.
func TestSaverListeners(t *testing.T) {
	g, _, next := counting()
	var calls []string
	l := &listener{calls: &calls, stopAt: 4}
	h := &train.CheckpointSaverHook{CheckpointDir: t.TempDir(), SaveSteps: 2, Listeners: []train.CheckpointSaverListener{l}}
	m := monitored(t, g, h)
	if err := m.Train(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	want := []string{"begin", "before 0", "after 0", "before 2", "after 2", "before 4", "after 4", "end 4"}
	if !slices.Equal(calls, want) {
		t.Errorf("%v, want %v", calls, want)
	}
}

type listener struct {
	calls  *[]string
	stopAt int64
}

func (l *listener) note(format string, a ...any) error {
	*l.calls = append(*l.calls, fmt.Sprintf(format, a...))
	return nil
}

func (l *listener) Begin(*tf.Graph) error { return l.note("begin") }

func (l *listener) BeforeSave(_ context.Context, _ *session.Session, step int64) error {
	return l.note("before %d", step)
}

func (l *listener) AfterSave(_ context.Context, _ *session.Session, step int64) (bool, error) {
	return step == l.stopAt, l.note("after %d", step)
}

func (l *listener) End(_ context.Context, _ *session.Session, step int64) error {
	return l.note("end %d", step)
}
