package tf_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestNoGraph: what is asked of a nil graph is an error or nothing, no panic.
func TestNoGraph(t *testing.T) {
	g := tf.NewGraph()
	x, away := ops.Scalar(g, float32(1)), ops.Scalar(g, float32(1), tf.OnDevice("/device:CPU:1"))
	for name, err := range map[string]error{
		"InitializeAll":  tf.InitializeAll(nil).Err(),
		"NewFunction":    tf.NewFunction(nil, "f", nil, func([]tf.Output) []tf.Output { return nil }).Err(),
		"a call":         tf.NewFunction(nil, "f", nil, func([]tf.Output) []tf.Output { return nil }).Call([]tf.Output{x})[0].Err(),
		"CustomGradient": tf.CustomGradient([]tf.Output{x}, nil)[0].Err(),
		"Group":          tf.Group(nil, "all", x.Operation(), away.Operation(), nil).Err(),
		"a tape":         tapeOfNothing(x),
	} {
		if tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(tf.Variables(nil, tf.GlobalVariables)); n != 0 {
		t.Errorf("no graph has %d variables", n)
	}
	(*tf.Graph)(nil).AddToCollection("c", 1)
	tf.SetDefaultSession(nil)()
	if _, err := x.Eval(t.Context(), nil); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), "No default session is registered") {
		t.Error(err)
	}
}

// tapeOfNothing asks a tape of no graph for gradients: what was to be recorded is called.
func tapeOfNothing(x tf.Output) error {
	called := false
	tape := eager.Record(nil, func() { called = true })
	(*tf.Graph)(nil).StopRecording(func() { called = called && tape != nil })
	if _, err := tape.Jacobian(x, x); !called || tf.CodeOf(err) != tf.InvalidArgument {
		return err
	}
	_, err := tape.Gradients(x, x)
	return err
}
