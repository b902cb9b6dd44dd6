package remote

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// TestLocated finds the node that a text of a master is about, in TensorFlow's forms.
func TestLocated(t *testing.T) {
	for text, want := range map[string][2]string{
		"connection refused\n\t [[{{node a/x_S17}}]]":                                                           {"a/x_S17", ""},
		"Cannot assign a device for operation mul: {{node mul}} was explicitly assigned to /job:no\n\t [[mul]]": {"mul", ""},
		"bad\n\t [[{{function_node f}}{{node y}}]]":                                                             {"y", "f"},
		"nothing of a node": {},
	} {
		e := located(&tf.Error{Code: tf.InvalidArgument, Msg: text})
		if e.Node != want[0] || e.Origin.Function != want[1] {
			t.Errorf("%q: node %q, function %q, want %q", text, e.Node, e.Origin.Function, want)
		}
	}
}
