package session_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestNilOption: an option that is nil is a mistake, no panic.
func TestNilOption(t *testing.T) {
	if s, err := session.New(tf.NewGraph(), session.Threads(1), nil); s != nil || tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, %v", s, err)
	}
}
