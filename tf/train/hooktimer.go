package train

import (
	"time"

	"github.com/gorge-tf/gorge/tf"
)

// A SecondOrStepTimer says when a hook is to do something: after so many steps,
// or after some time. Exactly one of its fields is set.
type SecondOrStepTimer struct {
	Every      time.Duration
	EverySteps int64

	triggered bool
	step      int64
	at        time.Time
}

// Check refuses a timer with both fields or none, and negative ones.
func (t *SecondOrStepTimer) Check() error {
	switch {
	case t.EverySteps < 0:
		return tf.Errorf(tf.InvalidArgument, "a number of steps must not be negative, got every_steps=%d", t.EverySteps)
	case t.Every < 0:
		return tf.Errorf(tf.InvalidArgument, "a time must not be negative, got every_secs=%v", t.Every)
	case t.Every <= 0 && t.EverySteps <= 0:
		return tf.Errorf(tf.InvalidArgument, "Either every_secs or every_steps should be provided.")
	case t.Every > 0 && t.EverySteps > 0:
		return tf.Errorf(tf.InvalidArgument, "Can not provide both every_secs and every_steps.")
	}
	return nil
}

// Reset forgets when the timer was last triggered.
func (t *SecondOrStepTimer) Reset() { *t = SecondOrStepTimer{Every: t.Every, EverySteps: t.EverySteps} }

// ShouldTrigger reports whether it is time in a step.
func (t *SecondOrStepTimer) ShouldTrigger(step int64) bool {
	switch {
	case !t.triggered:
		return true
	case t.step == step:
		return false
	case t.Every > 0 && time.Since(t.at) >= t.Every:
		return true
	}
	return t.EverySteps > 0 && step-t.step >= t.EverySteps
}

// Update notes that the timer was triggered in a step. It returns the time and the
// steps since it was before, ok if it was.
func (t *SecondOrStepTimer) Update(step int64) (elapsed time.Duration, steps int64, ok bool) {
	now := time.Now()
	elapsed, steps, ok = now.Sub(t.at), step-t.step, t.triggered
	t.triggered, t.step, t.at = true, step, now
	return elapsed, steps, ok
}

// LastTriggered returns the step in which the timer was last triggered, ok if it
// was.
func (t *SecondOrStepTimer) LastTriggered() (step int64, ok bool) { return t.step, t.triggered }
