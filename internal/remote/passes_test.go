package remote

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestPassNames: a name that no pass has is refused as in this process, not dropped on
// the way to the master.
func TestPassNames(t *testing.T) {
	cfg := session.Config{Target: "grpc://localhost:1", DisabledPasses: []string{"fuson"}}
	if b, err := open(tf.NewGraph(), cfg); tf.CodeOf(err) != tf.InvalidArgument {
		if err == nil {
			b.Close()
		}
		t.Errorf("a session without pass %q: got %v, want INVALID_ARGUMENT", cfg.DisabledPasses[0], err)
	}
}
