package session_test

import (
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
