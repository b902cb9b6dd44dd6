package train

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// TestLost: what a master says of a task that is gone, alone or in a group of errors, and what it says otherwise.
func TestLost(t *testing.T) {
	// As TensorFlow 2.21's master writes the errors of several tasks.
	group := func(second string) string {
		return "\n=====================\nCANCELLED: From /job:worker/replica:0/task:0:\nRecvFromRemoteAsync is cancelled.\n\t [[{{node global_step/Read/ReadVariableOp_S32}}]]\n" +
			second + " From /job:ps/replica:0/task:0:\nSession handle is not found: bfe41ee2e8587570.\n=====================\n"
	}
	for _, c := range []struct {
		code tf.Code
		text string
		want bool
	}{
		{tf.Aborted, "the step was aborted", true},
		{tf.Unavailable, "Socket closed", true},
		{tf.Canceled, "the step was cancelled", false},
		{tf.Canceled, group("ABORTED:"), true},
		{tf.Canceled, group("UNAVAILABLE:"), true},
		{tf.Canceled, group("CANCELLED:"), false},
		{tf.Canceled, "ABORTED: From /job:ps/replica:0/task:0:\nnot in a group", false},
		{tf.Canceled, "\n=====================\nABORTED: From /job:ps", false},
		{tf.InvalidArgument, group("ABORTED:"), false},
	} {
		if got := lost(tf.Errorf(c.code, "%s", c.text)); got != c.want {
			t.Errorf("%v %q: lost is %v, want %v", c.code, c.text, got, c.want)
		}
	}
}
