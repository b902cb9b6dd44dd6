package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestEmptyLoopEnds: a loop that computes nothing, for ever, ends with the step's
// context and with its session.
func TestEmptyLoopEnds(t *testing.T) {
	for name, passes := range map[string][]string{"optimized": nil, "as written": {"all"}} {
		g := tf.NewGraph()
		x := ops.Scalar(g, float32(1))
		always := func([]tf.Output) tf.Output { return ops.Scalar(g, true) }
		y := tf.While([]tf.Output{x}, always, func(v []tf.Output) []tf.Output { return v })
		s := open(t, g, session.With(session.Config{DisabledPasses: passes}))
		ended := make(chan error, 2)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		go func() { _, err := s.Run(ctx, nil, y[0]); ended <- err }()
		if err := within(t, ended); tf.CodeOf(err) != tf.DeadlineExceeded {
			t.Errorf("%s: at the deadline: %v", name, err)
		}
		cancel()
		go func() { _, err := s.Run(t.Context(), nil, y[0]); ended <- err }()
		time.Sleep(10 * time.Millisecond) // whether it has begun does not matter
		closed := make(chan error, 1)
		go func() { closed <- s.Close() }()
		if err := within(t, ended); tf.CodeOf(err) != tf.Canceled {
			t.Errorf("%s: the session was closed: %v", name, err)
		}
		within(t, closed)
	}
}

// within waits for an error as long as only what hangs takes.
func within(t *testing.T, c <-chan error) error {
	t.Helper()
	select {
	case err := <-c:
		return err
	case <-time.After(time.Minute):
		t.Fatal("it hangs")
		return nil
	}
}
