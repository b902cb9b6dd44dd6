package session_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestDefaultSessionOfNil: a session that could not be made is no default, and says so
// where it is asked for.
func TestDefaultSessionOfNil(t *testing.T) {
	g := tf.NewGraph()
	x := tf.Apply(g, "Const", nil, tf.Attr("value", tf.Scalar(1.5)), tf.Attr("dtype", tf.Float64)).Output(0)
	var s *session.Session
	if s.Graph() != nil {
		t.Errorf("it has a graph")
	}
	tf.SetDefaultSession(s)()
	ctx := tf.WithDefaultSession(t.Context(), s)
	if _, err := x.Eval(ctx, nil); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("Eval: %v", err)
	}
	if err := x.Operation().Run(ctx, nil); tf.CodeOf(err) != tf.FailedPrecondition {
		t.Errorf("Run: %v", err)
	}
}

// TestNilOption: an option that is nil is a mistake, no panic.
func TestNilOption(t *testing.T) {
	if s, err := session.New(tf.NewGraph(), session.Threads(1), nil); s != nil || tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, %v", s, err)
	}
}

// TestSenselessOptions: numbers that nothing could be meant by are refused.
func TestSenselessOptions(t *testing.T) {
	for text, o := range map[string]session.Option{
		"a session's Threads must not be negative, got -4":                             session.Threads(-4),
		"a session's InterOp must not be negative, got -3":                             session.With(session.Config{InterOp: -3}),
		"a session's Timeout must not be negative, got -1":                             session.Timeout(-1),
		"a session's CostModelEvery must not be negative, got -1":                      session.With(session.Config{CostModelEvery: -1}),
		"that of type CPU must be 1 or more, got -1 of type \"CPU\"":                   session.Devices("CPU", -1),
		"that of type CPU must be 1 or more, got 0 of type \"CPU\"":                    session.Devices("CPU", 0),
		"must not be negative, and that of type CPU must be 1 or more, got -2 of type": session.Devices("FAKE", -2),
		"a device's type must be one that the program has: CPU":                        session.Devices("GPU", 1),
	} {
		s, err := session.New(tf.NewGraph(), o)
		if s != nil || tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %q", err, text)
		}
	}
}
