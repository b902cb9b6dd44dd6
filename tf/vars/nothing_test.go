package vars_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/vars"
)

// TestNothing: a graph or a variable that is missing is a mistake, no panic.
func TestNothing(t *testing.T) {
	g := tf.NewGraph()
	v := vars.Get(g, "v", tf.Shape{2})
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"get":         {vars.Get(nil, "v", tf.Shape{2}).Value().Err(), "a variable needs a graph, got nil"},
		"partitioned": {vars.GetPartitioned(nil, "v", tf.Shape{2}).Value().Err(), "a variable needs a graph, got nil"},
		"initialize":  {vars.Initialize(g, "init", v, nil).Err(), "variables must not be nil, number 1 of 2 is"},
		"report":      {vars.ReportUninitialized(g, nil).Err(), "variables must not be nil, number 0 of 1 is"},
	} {
		if tf.CodeOf(c.err) != tf.InvalidArgument || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, c.err, c.want)
		}
	}
}
