package estimator_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/data"
	"github.com/gorge-tf/gorge/tf/estimator"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// at is a hook that calls functions.
type at struct {
	train.BaseHook
	begin, created, after, end func() error
}

func call(f func() error) error {
	if f == nil {
		return nil
	}
	return f()
}

func (h *at) Begin(*tf.Graph) error { return call(h.begin) }

func (h *at) AfterCreateSession(context.Context, *session.Session, *train.Coordinator) error {
	return call(h.created)
}

func (h *at) AfterRun(context.Context, *train.RunContext, train.RunValues) error {
	return call(h.after)
}

func (h *at) End(context.Context, *session.Session) error { return call(h.end) }

// panics calls f and returns what it panics with.
func panics(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// TestHooksThatPanic: the panic of a hook, or of a loop over predictions, goes to the
// program, and what was at work has ended: TestMain looks for goroutines.
func TestHooksThatPanic(t *testing.T) {
	bad := func() error { panic("a hook") }
	for _, h := range []*at{{begin: bad}, {created: bad}, {after: bad}, {end: bad}} {
		hooks, e := []train.Hook{h}, newLine(t, t.TempDir())
		got := panics(func() { _ = e.Train(t.Context(), points(5), estimator.TrainOptions{Hooks: hooks}) })
		if got != "a hook" {
			t.Errorf("training: got %v", got)
		}
		got = panics(func() { _, _ = e.Evaluate(t.Context(), points(5), estimator.EvalOptions{Hooks: hooks}) })
		if got != "a hook" {
			t.Errorf("evaluation: got %v", got)
		}
	}
	got := panics(func() {
		for range newLine(t, t.TempDir()).Predict(t.Context(), points(5), estimator.PredictOptions{}) {
			panic("the loop")
		}
	})
	if got != "the loop" {
		t.Errorf("predictions: got %v", got)
	}
}

// TestPredictionsLeft: a loop that has been left is not entered again with the error
// of a hook's End.
func TestPredictionsLeft(t *testing.T) {
	hooks := []train.Hook{&at{end: func() error { return errors.New("a hook") }}}
	n := 0
	for _, err := range newLine(t, t.TempDir()).Predict(t.Context(), points(5), estimator.PredictOptions{Hooks: hooks}) {
		if n++; err != nil {
			t.Error(err)
		}
		break
	}
	if n != 1 {
		t.Errorf("%d predictions", n)
	}
}

// TestNoKeys: a list of no keys asks for all predictions, as in TensorFlow.
func TestNoKeys(t *testing.T) {
	for p, err := range newLine(t, t.TempDir()).Predict(t.Context(), points(1), estimator.PredictOptions{Keys: []string{}}) {
		if err != nil || len(p) == 0 {
			t.Errorf("got %v, %v", p, err)
		}
	}
}

// endless is an input that does not end.
func endless(ctx context.Context) (*estimator.Input, error) {
	in, err := points(5)(ctx)
	if err == nil {
		in.Data = in.Data.Repeat(data.Infinite)
	}
	return in, err
}

// TestCancelledBetweenSteps: what is cut short between two steps says so. Training
// has saved its last step.
func TestCancelledBetweenSteps(t *testing.T) {
	e := newLine(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	n := int64(0)
	stop := &at{after: func() error {
		if n++; n == 7 {
			cancel()
		}
		return nil
	}}
	err := e.Train(ctx, endless, estimator.TrainOptions{Hooks: []train.Hook{stop}})
	if step, err := e.GlobalStep(); step != 7 || err != nil {
		t.Errorf("step %d, %v", step, err)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("training: got %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	for _, err = range e.Predict(ctx, endless, estimator.PredictOptions{}) {
		cancel()
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("predictions: got %v", err)
	}
}

// TestCancelledBeforeEvaluation: an evaluation that is cut short before its first
// batch says so, and not that the input has none.
func TestCancelledBeforeEvaluation(t *testing.T) {
	e := newLine(t, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	stop := &at{created: func() error { cancel(); return nil }}
	_, err := e.Evaluate(ctx, points(5), estimator.EvalOptions{Hooks: []train.Hook{stop}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestMostSteps: numbers of steps that no training reaches set no limit.
func TestMostSteps(t *testing.T) {
	e := newLine(t, t.TempDir())
	for i, o := range []estimator.TrainOptions{{MaxSteps: math.MaxInt64}, {Steps: math.MaxInt64}} {
		if err := e.Train(t.Context(), points(5), o); err != nil {
			t.Fatal(err)
		}
		if step, err := e.GlobalStep(); step != int64(5*(i+1)) || err != nil {
			t.Errorf("%+v: step %d, %v", o, step, err)
		}
	}
}

// TestDamagedCheckpoint: training goes on from the last checkpoint that is whole,
// also where the index is damaged and where a last step is asked for.
func TestDamagedCheckpoint(t *testing.T) {
	for _, suffix := range []string{".index", ".data-00000-of-00001"} {
		for _, o := range []estimator.TrainOptions{{}, {MaxSteps: 9}} {
			e := newLine(t, t.TempDir())
			for range 2 {
				if err := e.Train(t.Context(), points(5), estimator.TrainOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(e.ModelDir(), "model.ckpt-10"+suffix), []byte("no"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Evaluate(t.Context(), points(5), estimator.EvalOptions{}); err == nil {
				t.Error("a damaged checkpoint was evaluated")
			}
			if err := e.Train(t.Context(), points(3), o); err != nil {
				t.Errorf("%s, %+v: %v", suffix, o, err)
			}
			if step, err := e.GlobalStep(); step != 8 || err != nil {
				t.Errorf("%s, %+v: step %d, %v", suffix, o, step, err)
			}
		}
	}
}
