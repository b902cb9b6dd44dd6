package train_test

import (
	"context"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/train"
)

// TestAStepFunctionRunsStepsOfTheSession: f may call methods of the session, also when a step
// of them has replaced what is at work.
func TestAStepFunctionRunsStepsOfTheSession(t *testing.T) {
	g, _, next := counting()
	var calls []string
	left := 1
	lose := &spy{name: "l", calls: &calls, on: map[string]func(*train.RunContext) error{"after": func(*train.RunContext) error {
		if left--; left == 0 {
			return tf.Errorf(tf.Unavailable, "injected")
		}
		return nil
	}}}
	m := monitored(t, g, lose)
	tries := 0
	err := m.RunStepFn(t.Context(), func(ctx context.Context, c *train.StepContext) error {
		tries++
		if m.ShouldStop() {
			t.Error("training is not over")
		}
		if _, err := m.Run(context.Background(), nil, next); err != nil {
			return err
		}
		_, err := c.Run(ctx, nil, next)
		return err
	})
	if err != nil || tries != 2 {
		t.Error("the session within was lost once, so f is called twice:", tries, err)
	}
	err = m.RunStepFn(t.Context(), func(ctx context.Context, c *train.StepContext) error {
		if err := m.Close(); err != nil {
			return err
		}
		_, err := c.Run(ctx, nil, next)
		return err
	})
	if !says(err, tf.FailedPrecondition, "Session is already closed.") {
		t.Error(err)
	}
	if err := m.RunStepFn(t.Context(), nil); !says(err, tf.InvalidArgument, "a session needs a step function to call, got nil") {
		t.Error(err)
	}
}

// TestAStepOfAHookEndsWithItsContext: a hook that runs a step of its own session waits for
// itself, but no longer than its context.
func TestAStepOfAHookEndsWithItsContext(t *testing.T) {
	g, _, next := counting()
	var calls []string
	var m *train.MonitoredSession
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	m = monitored(t, g, &spy{name: "h", calls: &calls, on: map[string]func(*train.RunContext) error{"before": func(*train.RunContext) error {
		_, err := m.Run(ctx, nil, next)
		return err
	}}})
	if _, err := m.Run(t.Context(), nil, next); tf.CodeOf(err) != tf.DeadlineExceeded {
		t.Error(err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
