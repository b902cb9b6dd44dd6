package session_test

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// bare is a backend that can do as little as one may.
type bare struct{ session.Backend }

func (bare) Close() error { return nil }

func init() {
	session.RegisterFactory("bare", func(*tf.Graph, session.Config) (session.Backend, error) { return bare{}, nil })
}

// TestResetRefuses: what cannot be reset is an error that says so.
func TestResetRefuses(t *testing.T) {
	for _, c := range []struct {
		ctx    context.Context
		target string
		code   tf.Code
	}{
		{nil, "echo://anywhere", tf.InvalidArgument},
		{t.Context(), "", tf.InvalidArgument},
		{t.Context(), "nowhere", tf.InvalidArgument},
		{t.Context(), "none://anywhere", tf.NotFound},
		{t.Context(), "bare://anywhere", tf.Unimplemented},
	} {
		if err := session.Reset(c.ctx, c.target, nil); tf.CodeOf(err) != c.code {
			t.Errorf("target %q: %v, want %v", c.target, err, c.code)
		}
	}
}
