package clustered_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/estimator/clustered"
)

// TestServeNothing: a task needs a cluster to serve.
func TestServeNothing(t *testing.T) {
	if s, err := clustered.Serve(nil); s != nil || tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("got %v, %v", s, err)
	}
}
